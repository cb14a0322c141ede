#!/bin/bash
# Installs what a bare Debian 12 lacks to build shardcc and its trainers; arguments are further packages.
# Silent where nothing is missing. Packages are installed by root, or with sudo.
set -eu
packages="gcc make cmake pkg-config protobuf-c-compiler libprotobuf-c-dev libcjson-dev zlib1g-dev coinor-libcbc-dev libglpk-dev libdnnl-dev libopenmpi-dev openmpi-bin libc6-dev $*"
missing=""
for p in $packages; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
echo "installing:$missing" >&2
as_root=""
[ "$(id -u)" = 0 ] || as_root=sudo
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq >/dev/null
# shellcheck disable=SC2086
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
