# Tests: C programs and scripts that speak TAP, beside what they test.
LIBHARNESS := $(filter-out %/main.o %/no_simulator.o,$(HARNESS))
FAKE := build/host/common/test/fake_runtime.o
C_TESTS := $(patsubst %.c,build/test/%,\
    $(wildcard common/*/test/test_*.c tools/*/test/test_*.c tools/*/*/test/test_*.c))
SCRIPT_TESTS := $(wildcard common/*/test/*.t reference/test/*.t tools/test/*.t tools/*/test/*.t)
# Those that take longest begin, so that none of them runs on alone at the end.
LONG_TESTS := common/cli/test/stages.t $(addprefix tools/,test/sanitized.t page/test/site.t \
    page/test/explore.t sass/test/signatures.t exercise/test/exercise.t test/static.t \
    test/workshop.t)
build/host/common/libharness.a: $(LIBHARNESS) build/host/common/device/no_simulator.o
	@ar rcs $(fresh) $^ && $(place)
# With what the simulator takes from common/base: a program needs nothing else.
build/host/tools/libptxsim.a: $(PTXSIM) build/host/common/base/json_text.o
	@ar rcs $(fresh) $^ && $(place)
LIBRARIES := $(FAKE) build/host/common/libharness.a build/host/tools/libptxsim.a
build/test/common/%: build/host/common/%.o $(FAKE) build/host/common/libharness.a
	@$(folder); $(CC) -pthread -rdynamic $^ -ldl -lm -o $(fresh) && $(place)
build/test/tools/%: build/host/tools/%.o build/host/tools/libptxsim.a build/host/common/libharness.a
	@$(folder); $(CC) -pthread -rdynamic $^ -ldl -lm -o $(fresh) && $(place)

# Where NumPy, cmark-gfm and a disassembler have to be fetched, that is done once and while the
# compilers work. Without the latter two their tests are skipped.
.PHONY: numpy markdown disassembler
numpy:
	@tools/toolchain/python.sh build/python >/dev/null
markdown:
	@$(MAKE) -s --no-print-directory build/markdown.path || :
disassembler:
	@$(MAKE) -s --no-print-directory build/disassembler.mk || :

# The program that makes mutants, for `make mutate` and its tests.
MUTATE := $(call objects,tools/mutate)
$(if $(filter-out stage% $(filter-out test mutate planted validate,$(KNOWN)),$(MAKECMDGOALS)),\
    $(call depend,$(MUTATE) build/host/common/test/*.o $(addsuffix /*.o,\
    $(addprefix build/host/,common/*/test tools/*/test tools/*/*/test))))
build/mutate: $(MUTATE) build/host/common/base/error.o
	@$(call say,link  $@)
	@$(CC) $^ -o $(fresh) && $(place)
	@$(said)
test: build/mutate
