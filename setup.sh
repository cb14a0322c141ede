#!/bin/bash
# Installs what a bare Debian 12 lacks to build shardcc and its trainers; arguments are further packages.
#   ./setup.sh [--cuda] [PACKAGE ...]
# --cuda: where no toolkit of CUDA is found, also its compiler and libraries, as NVIDIA's Python packages, into .cuda/.
# Silent where nothing is missing. Packages are installed by root, or with sudo.
set -eu
cd "$(dirname "$0")"
needs_cuda=""
if [ "${1-}" = --cuda ]; then
    shift
    command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || [ -x .cuda/bin/nvcc ] || needs_cuda=yes
    set -- g++ ${needs_cuda:+python3-pip} "$@"
fi
packages="gcc make cmake pkg-config protobuf-c-compiler libprotobuf-c-dev libcjson-dev zlib1g-dev coinor-libcbc-dev libglpk-dev libdnnl-dev libssl-dev libopenmpi-dev openmpi-bin libc6-dev $*"
missing=""
for p in $packages; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
if [ -n "$missing" ]; then
    echo "installing:$missing" >&2
    as_root=""
    [ "$(id -u)" = 0 ] || as_root=sudo
    export DEBIAN_FRONTEND=noninteractive
    $as_root apt-get update -qq >/dev/null
    # shellcheck disable=SC2086
    $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
[ -n "$needs_cuda" ] || exit 0

# Versions that belong together: CUDA 13.0, and the NCCL made with it.
echo "installing: CUDA 13.0 into .cuda/" >&2
part=.cuda.part
rm -rf "$part"
python3 -m pip download -q --no-deps -d "$part" nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 \
    nvidia-nvvm==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cublas==13.1.0.3 \
    nvidia-nccl-cu13==2.28.9
for wheel in "$part"/*.whl; do
    python3 -m zipfile -e "$wheel" "$part/all"
done
chmod -R +x "$part/all/nvidia/cu13/bin" "$part/all/nvidia/cu13/nvvm/bin"
mv "$part/all/nvidia/nccl/include/nccl.h" "$part/all/nvidia/cu13/include/"
mv "$part/all/nvidia/nccl/lib/libnccl.so.2" "$part/all/nvidia/cu13/lib/"
rm -rf .cuda
mv "$part/all/nvidia/cu13" .cuda
rm -rf "$part"
