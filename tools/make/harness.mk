# Harness: build/attention on the CUDA runtime, build/attention-sim on the simulator.
objects = $(patsubst %.c,build/host/%.o,$(wildcard $(addsuffix /*.c,$1)))
HARNESS := $(call objects,common/base common/truth common/device common/cli)
PTXSIM := $(call objects,$(addprefix tools/ptxsim/,ptx decode machine machine/memory ops report \
    cuda))
# What computes for long is compiled for speed. Of the simulator's hundreds of operations each is
# one loop over lanes, which only has to become vectors; compilers are most of a first run. Tests
# take as long without any of that, and are compiled in two thirds of the time.
FAST := common/base/element.c $(addprefix common/truth/,check.c inputs.c oracle.c products.c) \
        tools/ptxsim/machine/% tools/ptxsim/ops/mma.c tools/ptxsim/report/record.c \
        tools/ptxsim/report/footprint.c $(addprefix tools/sass/replay/,path.c replay.c)
FOR_SPEED := -O3 -fno-math-errno
LANES := tools/ptxsim/ops/ops_%
build/host/%.o: %.c build/flags/host build/toolchain.mk
	@$(folder); $(call say,cc    $<); \
	$(CC) $(CFLAGS) $(if $(filter $(FAST),$<),$(FOR_SPEED)) \
	    $(if $(filter $(LANES),$<),-ftree-vectorize) $(if $(findstring /test/,$<),-O0) \
	    $(HOST_FLAGS) -Icommon -Itools/ptxsim -Itools/sass -isystem $(CUDA_INCLUDE) \
	    -c $< -o $(fresh) -MT $@ -MF $(fresh).d && mv $(fresh).d $(@:.o=.d) && $(place) && \
	    $(said)
build/attention: $(HARNESS)
	@$(call say,link  $@)
	@$(CC) -pthread -rdynamic $^ -L$(CUDA_LIB) -Wl,-rpath,$(CUDA_LIB) -lcudart -ldl -lm \
	    -o $(fresh) && $(place)
	@$(said)
build/attention-sim: $(filter-out %/no_simulator.o,$(HARNESS)) $(PTXSIM)
	@$(call say,link  $@)
	@$(CC) -pthread -rdynamic $^ -ldl -lm -o $(fresh) && $(place)
	@$(said)
.PRECIOUS: build/host/%.o build/attention build/attention-sim
# The trial of the simulator's compiler comes first. What is run afterwards is compiled beside it,
# by the compiler that the trial most likely takes.
build/simulator.mk: | $(if $(SIM_NVCC)$(wildcard build/attention-sim),,$(if \
    $(filter run counters annotate,$(MAKECMDGOALS)),$(firstword $(KERNELS))) build/attention-sim)
# Which headers each of OBJECTS was made of.
depend = $(eval -include $(wildcard $(1:.o=.d)))
$(call depend,$(HARNESS) $(PTXSIM))
PROGRAMS := build/attention $(if $(wildcard tools/ptxsim/cuda/harness.c),build/attention-sim)

# The inputs and the truth as a library, for reference/peers.py.
TRUTH_SOURCES := $(foreach s,cli/library cli/regimes cli/options truth/init truth/model_inputs \
    truth/inputs truth/rows truth/oracle truth/products truth/check truth/problem base/element \
    base/generator base/parallel base/error,common/$s.c)
export TRUTH := build/libtruth.so
$(TRUTH): $(TRUTH_SOURCES) $(wildcard common/*.h common/*/*.h) build/flags/host build/toolchain.mk
	@$(folder); $(call say,link  $@)
	@$(CC) $(CFLAGS) $(FOR_SPEED) $(filter-out -M%,$(HOST_FLAGS)) -Icommon \
	    -isystem $(CUDA_INCLUDE) -fPIC -shared $(TRUTH_SOURCES) -lm -o $(fresh) && $(place)
	@$(said)
