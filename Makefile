# make            the compiler and the runtime, in build/
# make check      all tests that need no PyTorch (test.sh calls it)
# make B=DIR      builds elsewhere;  make SAN=1 B=build-san  with address and undefined sanitizers
B ?= build
CC ?= cc
# What an initializer leaves out is zero, and meant: clang warns of it where gcc doesn't.
WARN = -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Wshadow -Wstrict-prototypes -Wmissing-prototypes
OPT ?= -O2 -g
CPPFLAGS += -D_GNU_SOURCE -I. -I$(B)/gen
CFLAGS += -std=c11 $(WARN) $(OPT) -MMD -MP
ifdef SAN
CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS += -fsanitize=address,undefined
endif
# Kernels keep to the rules under Numbers of docs/numbers.md: no contraction, fixed trees.
RTFLAGS = -O3 -march=$(MARCH) -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp
MARCH ?= native

STAGES = base ir frontend analyzer lower solver generator driver
src = $(filter-out solver/engines/%,$(wildcard $(1)/*.c $(1)/*/*.c))
obj = $(patsubst %.c,$(B)/%.o,$(call src,$(1)))

# The libraries, in link order: each needs only those after it.
LIBS = generator solver lower analyzer frontend ir base
ARCHIVES = $(foreach s,$(LIBS),$(if $(call src,$(s)),$(B)/lib$(s).a))
# What the compiler has of the runtime: files, formulas of workspaces.
RT_FILE = $(patsubst %.c,$(B)/%.o,$(wildcard runtime/rt_*.c))
LDLIBS_COMPILER = -lprotobuf-c -lcjson -lz -lpthread -lm
LDLIBS_RT = -ldnnl -fopenmp -lpthread -lm

# The solver's engines: programs of their own, as their libraries print, hang and are licensed apart.
ENGINES = $(B)/shardcc-cbc $(B)/shardcc-glpk

all: $(B)/shardcc $(ENGINES) $(B)/rt/libshardrt.a $(B)/rt/libshardrt_mpi.a $(B)/rt/probe

# What a trainer is built from, beside shardcc: the library, and the sources for --emit source.
$(B)/rt/libshardrt.a: $(B)/libshardrt.a $(wildcard runtime/*.[ch] runtime/cpu/*.[ch])
	@mkdir -p $(B)/rt/cpu
	rm -f $(B)/rt/*.[ch] $(B)/rt/cpu/*.[ch]
	cp $(filter-out runtime/probe%,$(wildcard runtime/*.[ch])) $(B)/rt/ && cp runtime/cpu/*.[ch] $(B)/rt/cpu/
	cp $(B)/libshardrt.a $@

$(B)/shardcc: $(call obj,driver) $(ARCHIVES) $(RT_FILE)
	$(CC) $(LDFLAGS) -o $@ $(call obj,driver) $(ARCHIVES) $(RT_FILE) $(LDLIBS_COMPILER)

LDLIBS_cbc = -lCbcSolver -lCbc -lCgl -lOsiClp -lClp -lOsi -lCoinUtils -lstdc++ -lm
LDLIBS_glpk = -lglpk -lm
$(ENGINES): $(B)/shardcc-%: $(B)/solver/engines/%.o $(B)/solver/engines/engine.o $(B)/libsolver.a $(B)/libbase.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS_$*)

define archive
$(B)/lib$(1).a: $(call obj,$(1))
	rm -f $$@ && ar rcs $$@ $$^
lib-$(1): $(B)/lib$(1).a
.PHONY: lib-$(1)
endef
$(foreach s,$(filter-out driver,$(STAGES)),$(eval $(call archive,$(s))))

$(B)/libshardrt.a: $(filter-out $(B)/runtime/probe% $(B)/runtime/mpi/%,$(call obj,runtime))
	rm -f $@ && ar rcs $@ $^
# What a program of several ranks is linked with too, before the library: it needs MPI.
$(B)/rt/libshardrt_mpi.a: $(B)/runtime/mpi/mpi.o
	@mkdir -p $(@D)/mpi
	cp runtime/mpi/*.c $(@D)/mpi/
	rm -f $@ && ar rcs $@ $^
# What shardcc detect runs, on each of mpirun's ranks.
PROBE = $(addprefix $(B)/runtime/,probe.o probe_ranks.o probe_load.o)
$(PROBE) $(B)/runtime/mpi/mpi.o: CPPFLAGS += $(shell pkg-config --cflags ompi-c)
$(B)/rt/probe: $(PROBE) $(B)/libshardrt.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS_RT) $(shell pkg-config --libs ompi-c)
$(B)/runtime/%.o: runtime/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(RTFLAGS) -c -o $@ $<

$(B)/gen/onnx.pb-c.c: frontend/onnx.proto
	@mkdir -p $(@D)
	protoc-c --c_out=$(B)/gen --proto_path=frontend frontend/onnx.proto
$(call obj,frontend): | $(B)/gen/onnx.pb-c.c
$(B)/gen/onnx.pb-c.o: $(B)/gen/onnx.pb-c.c
	$(CC) $(CPPFLAGS) -std=gnu11 $(OPT) -w -c -o $@ $<
$(B)/libfrontend.a: $(B)/gen/onnx.pb-c.o

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# The inner loops of bounds: at -O2 they aren't made of vectors.
$(B)/solver/minplus.o: OPT += -O3

# ---- tests: tests/STAGE/NAME_test.c is one program, linked with everything below the driver ----
TESTS = $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/*/*_test.c))
# A test of one stage alone, while others are being changed: make NEEDS="ir base" …
NEEDS ?= $(LIBS)
TEST_LIBS = $(foreach s,$(NEEDS),$(if $(call src,$(s)),$(B)/lib$(s).a))
$(B)/tests/runtime/%_test.o: CFLAGS += -march=$(MARCH) -ffp-contract=off -fopenmp-simd
$(B)/tests/runtime/%_test: $(B)/tests/runtime/%_test.o $(TEST_LIBS) $(B)/libshardrt.a
	$(CC) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -lcmocka $(LDLIBS_COMPILER) $(LDLIBS_RT)
# A program that such a test generates and loads calls the test's own copy of the runtime.
WHOLE_RT = -Wl,--whole-archive $(B)/libshardrt.a -Wl,--no-whole-archive
$(B)/tests/generator/%_test: $(B)/tests/generator/%_test.o $(TEST_LIBS) $(B)/libshardrt.a
	$(CC) $(LDFLAGS) -rdynamic -o $@ $< $(TEST_LIBS) $(WHOLE_RT) -lcmocka $(LDLIBS_COMPILER) $(LDLIBS_RT)
# Random nets: a program that hunts, and a test of a few; what both are of but their main.
NETS = $(patsubst %.c,$(B)/%.o,$(filter-out %/main.c %_test.c,$(wildcard tests/nets/*.c)))
$(B)/tests/nets/nets: $(B)/tests/nets/main.o $(NETS) $(TEST_LIBS) $(B)/libshardrt.a
	$(CC) $(LDFLAGS) -rdynamic -o $@ $< $(NETS) $(TEST_LIBS) $(WHOLE_RT) $(LDLIBS_COMPILER) $(LDLIBS_RT)
$(B)/tests/nets/%_test: $(B)/tests/nets/%_test.o $(NETS) $(TEST_LIBS) $(B)/libshardrt.a
	$(CC) $(LDFLAGS) -rdynamic -o $@ $< $(NETS) $(TEST_LIBS) $(WHOLE_RT) -lcmocka $(LDLIBS_COMPILER) $(LDLIBS_RT)
$(B)/tests/%_test: $(B)/tests/%_test.o $(TEST_LIBS) $(RT_FILE)
	$(CC) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -lcmocka $(LDLIBS_COMPILER)

# Programs that mpirun starts on several ranks, for tests/e2e/ranks_test.py and bench/links.py.
RANKS = $(patsubst %.c,$(B)/%,$(wildcard tests/ranks/*.c bench/*.c))
$(RANKS): $(B)/%: %.c $(B)/rt/libshardrt_mpi.a $(B)/libshardrt.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -march=$(MARCH) -ffp-contract=off -o $@ $< $(B)/rt/libshardrt_mpi.a $(B)/libshardrt.a $(LDLIBS_RT) $(shell pkg-config --libs ompi-c)

# A shardcc whose lowering makes a mistake, for tests/e2e/check_test.py.
BROKEN = $(B)/tests/broken/shardcc
$(BROKEN): $(B)/tests/broken/shardcc.o $(call obj,driver) $(ARCHIVES) $(RT_FILE)
	$(CC) $(LDFLAGS) -Wl,--wrap=program_check -o $@ $^ $(LDLIBS_COMPILER)

$(B)/tests/solver/solve_test $(B)/tests/solver/middle_test $(B)/tests/solver/plan_test: | $(ENGINES)

tests: $(TESTS) $(RANKS) $(B)/tests/nets/nets $(BROKEN)
check: all tests
	tests/run $(B)
# Fuzz targets need clang; run one as: build-fuzz/ir_text_fuzz -dict=tests/fuzz/ir_text.dict DIR tests/fuzz/ir_text
FUZZ = -O1 -g -fno-sanitize-recover=all -fsanitize=address,undefined
FUZZ_LIBS = $(foreach l,ir base,build-fuzz/lib$(l).a)
fuzz-ir:
	$(MAKE) CC=clang B=build-fuzz OPT="$(FUZZ),fuzzer-no-link" lib-ir lib-base
	clang $(CPPFLAGS) $(CFLAGS) $(FUZZ),fuzzer -o build-fuzz/ir_text_fuzz tests/fuzz/ir_text_fuzz.c $(FUZZ_LIBS) runtime/rt_workspace.c -lm
# Seeds: tests/frontend/import_test DIR and tests/fuzz/onnx_seeds.py DIR write some; models/tiny are others.
fuzz-onnx:
	$(MAKE) CC=clang B=build-fuzz OPT="$(FUZZ),fuzzer-no-link" lib-frontend lib-ir lib-base
	clang $(CPPFLAGS) -Ibuild-fuzz/gen $(CFLAGS) $(FUZZ),fuzzer -o build-fuzz/onnx_fuzz tests/fuzz/onnx_fuzz.c build-fuzz/libfrontend.a $(FUZZ_LIBS) $(wildcard runtime/rt_*.c) -lprotobuf-c -lm
fuzz-file:
	@mkdir -p build-fuzz
	for t in safetensors npy; do clang $(CPPFLAGS) -std=c11 $(WARN) $(FUZZ),fuzzer -o build-fuzz/$${t}_fuzz tests/fuzz/$${t}_fuzz.c runtime/rt_file.c runtime/rt_map.c runtime/rt_out.c runtime/rt_safe.c runtime/rt_npz.c || exit 1; done
# Instances and answers of the solver, alike: build-fuzz/instance_fuzz -dict=tests/fuzz/instance.dict DIR tests/fuzz/instance
fuzz-solver:
	$(MAKE) CC=clang B=build-fuzz OPT="$(FUZZ),fuzzer-no-link" lib-solver lib-base
	for t in instance answer; do clang $(CPPFLAGS) $(CFLAGS) $(FUZZ),fuzzer -o build-fuzz/$${t}_fuzz tests/fuzz/$${t}_fuzz.c build-fuzz/libsolver.a build-fuzz/libbase.a -lz -lm || exit 1; done
# Specs, meshes and clusters; files of plans: build-fuzz/spec_fuzz -dict=tests/fuzz/spec.dict DIR tests/fuzz/spec
fuzz-spec:
	$(MAKE) CC=clang B=build-fuzz OPT="$(FUZZ),fuzzer-no-link" lib-analyzer lib-ir lib-base
	for t in spec plan; do clang $(CPPFLAGS) $(CFLAGS) $(FUZZ),fuzzer -o build-fuzz/$${t}_fuzz tests/fuzz/$${t}_fuzz.c build-fuzz/libanalyzer.a $(FUZZ_LIBS) $(wildcard runtime/rt_*.c) -lcjson -lz -lm || exit 1; done
# Line coverage of the readers over folders of inputs: make fuzz-coverage IR="DIR …" ONNX="DIR …"
COVER = -O1 -g -fprofile-instr-generate -fcoverage-mapping
fuzz-coverage:
	$(MAKE) CC=clang B=build-fuzz/cover OPT="$(COVER)" lib-frontend lib-ir lib-base
	cd build-fuzz/cover && for t in ir_text onnx; do clang $(CPPFLAGS) -I../.. -Igen -std=c11 $(COVER) -fsanitize=fuzzer -o $$t ../../tests/fuzz/$${t}_fuzz.c libfrontend.a libir.a libbase.a ../../runtime/rt_*.c -lprotobuf-c -lm || exit 1; done
	LLVM_PROFILE_FILE=build-fuzz/cover/ir_text.raw build-fuzz/cover/ir_text -runs=0 $(IR)
	LLVM_PROFILE_FILE=build-fuzz/cover/onnx.raw build-fuzz/cover/onnx -runs=0 $(ONNX)
	cd build-fuzz/cover && for t in ir_text onnx; do llvm-profdata merge -o $$t.prof $$t.raw || exit 1; done
	llvm-cov report build-fuzz/cover/ir_text -instr-profile=build-fuzz/cover/ir_text.prof ir/parse*.c ir/lexer.c ir/text_print.c ir/verify.c
	llvm-cov report build-fuzz/cover/onnx -instr-profile=build-fuzz/cover/onnx.prof frontend/*.c
clean:
	rm -rf $(B) build-fuzz
.PHONY: all tests check clean fuzz-ir fuzz-onnx fuzz-file fuzz-solver fuzz-spec fuzz-coverage
.SECONDARY:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
