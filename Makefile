# Flash attention in sixteen stages. Bare `make` prints what there is to do.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
SHELL := /bin/bash

# ---- Variables: on the command line, as in `make stage07 run N=1024 CAUSAL=1` --------------------
# Sizes left empty take the harness's defaults, which depend on the device.
D ?= 128
DTYPE ?= fp16
CAUSAL ?= 0
DEVICE ?= auto
GPU ?= 0
OPTIONS := B H HKV N NKV D CAUSAL DTYPE INIT SEED DEVICE GPU FORMAT REPS SEQS GRID

CC ?= gcc
CFLAGS ?= -O2 -g
HOST_FLAGS := -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Werror -pthread -MMD -MP
NVCC_FLAGS := -std=c++17 -O3 -lineinfo --compress-mode=none -Xcompiler -fPIC -shared -cudart none \
              -MMD -Icommon

# ---- Stages: every folder stages/NN_name is one; `stage07` in the goals selects it ---------------
STAGES := $(notdir $(wildcard stages/[0-9][0-9]_*))
NUMBERS := $(foreach s,$(STAGES),$(firstword $(subst _, ,$s)))
stage_of = $(if $1,$(filter $(patsubst stage%,%,$1)_%,$(STAGES)))

STAGE_GOALS := $(filter stage%,$(MAKECMDGOALS))
SELECTED := $(or $(foreach g,$(STAGE_GOALS),$(call stage_of,$g)),$(STAGES))
$(foreach g,$(STAGE_GOALS),$(if $(call stage_of,$g),,\
    $(error there is no $g: the stages are $(addprefix stage,$(NUMBERS)))))

is_one_of = $(and $(filter 1,$(words $($1))),$(filter $($1),$2))
one_of = $(if $($1),$(if $(is_one_of),,$(error $1 must be one of: $2; not '$($1)')))
$(if $(filter trace,$(MAKECMDGOALS)),,$(call one_of,D,64 128))
$(call one_of,DTYPE,fp16 bf16)
$(call one_of,CAUSAL,0 1)
$(call one_of,DEVICE,auto gpu sim)

VARIANTS := $(foreach d,d64 d128,$(foreach t,fp16 bf16,$(foreach m,full causal,$d_$t_$m)))
VARIANT := d$(D)_$(DTYPE)_$(if $(filter 1,$(CAUSAL)),causal,full)
FORWARD = $(foreach v,$(OPTIONS),$(if $(filter-out file undefined,$(origin $v)),'$v=$($v)'))

# The architecture: the GPU's own, else the oldest that the stages serve. A stage whose header says
# `needs sm_90a` is built for that and nothing else.
ifndef ARCH
ARCH := sm_$(shell cc=$$(nvidia-smi -i $(GPU) --query-gpu=compute_cap --format=csv,noheader \
    2>/dev/null | tr -d .); [[ $$cc =~ ^[0-9]+$$ && $$cc -ge 80 ]] && echo $$cc || echo 80)
endif
SM_90A := $(patsubst stages/%/kernel.cu,%,\
    $(shell grep -l 'needs sm_90a' $(STAGES:%=stages/%/kernel.cu)))
arch_of = $(if $(filter $1,$(SM_90A)),sm_90a,$(ARCH))
dir_of = build/$(call arch_of,$1)/$1
SELECTED_DIRS := $(foreach s,$(SELECTED),$(call dir_of,$s))

# ---- Tool-chain: found or fetched by tools/toolchain.sh, remembered in build/ --------------------
NO_TOOLS := help clean diff
ifneq ($(filter-out $(NO_TOOLS),$(or $(MAKECMDGOALS),help)),)
include build/toolchain.mk
ifneq ($(filter command environment,$(firstword $(origin ARCH))),)
ifdef NVCC
$(call one_of,ARCH,$(filter-out sm_75,$(shell $(NVCC) --list-gpu-code)))
endif
endif
endif
build/toolchain.mk: tools/toolchain.sh
	@tools/toolchain.sh $@

# A file that changes only if the text changes: what depends on it is rebuilt then, and only then.
define remember
$1: force
	@mkdir -p $$(@D); echo '$2' | cmp -s - $$@ || echo '$2' > $$@
endef
$(eval $(call remember,build/flags/nvcc,$(NVCC_FLAGS)))
$(eval $(call remember,build/flags/host,$(CC) $(CFLAGS) $(HOST_FLAGS)))
.PHONY: force
force:

# ---- Kernels: build/<arch>/<stage>/<variant>.so, PTX and machine code inside ---------------------
define kernel_rule
build/$1/$2/%.so: stages/$2/kernel.cu build/flags/nvcc build/toolchain.mk
	@mkdir -p $$(@D); echo "nvcc  $2 $$* ($1)"
	@$$(NVCC) $$(NVCC_FLAGS) -MF $$(@:.so=.d) -MT $$@ \
	    -gencode arch=compute_$(1:sm_%=%),code=[$1,compute_$(1:sm_%=%)] $$(call macros,$$*) $$< -o $$@
build/$1/$2/%.ptx: stages/$2/kernel.cu build/flags/nvcc build/toolchain.mk
	@mkdir -p $$(@D)
	@$$(NVCC) -std=c++17 -O3 -lineinfo -Icommon -ptx -arch=compute_$(1:sm_%=%) \
	    $$(call macros,$$*) $$< -o $$@
endef
macros = -DHEAD_DIM=$(if $(findstring d64_,$1),64,128) \
         -DELEMENT_BF16=$(if $(findstring bf16,$1),1,0) -DCAUSAL=$(if $(findstring causal,$1),1,0)
$(foreach s,$(STAGES),$(eval $(call kernel_rule,$(call arch_of,$s),$s)))
KERNELS := $(SELECTED_DIRS:%=%/$(VARIANT).so)
ALL_KERNELS := $(foreach v,$(VARIANTS),$(SELECTED_DIRS:%=%/$v.so))
-include $(wildcard build/*/*/*.d)

# ---- Harness: build/attention on the CUDA runtime, build/attention-sim on the simulator ----------
HARNESS := $(patsubst common/%.c,build/host/common/%.o,$(wildcard common/*.c))
PTXSIM := $(patsubst tools/%.c,build/host/tools/%.o,$(wildcard tools/ptxsim/*.c))
build/host/%.o: %.c build/flags/host build/toolchain.mk
	@mkdir -p $(@D); echo "cc    $<"
	@$(CC) $(CFLAGS) $(if $(findstring ptxsim,$<),-O3) $(HOST_FLAGS) -Icommon -Icommon/test \
	    -Itools/ptxsim -isystem $(CUDA_INCLUDE) -c $< -o $@
build/attention: $(HARNESS)
	@echo "link  $@"
	@$(CC) -pthread -rdynamic $^ -L$(CUDA_LIB) -Wl,-rpath,$(CUDA_LIB) -lcudart -ldl -lm -o $@
build/attention-sim: $(filter-out %/counters_none.o,$(HARNESS)) $(PTXSIM)
	@echo "link  $@"
	@$(CC) -pthread -rdynamic $^ -ldl -lm -o $@
-include $(wildcard build/host/*/*.d build/host/*/*/*.d build/host/*/*/*/*.d)
PROGRAMS := build/attention $(if $(wildcard tools/ptxsim/harness.c),build/attention-sim)

# ---- Tests: C programs and scripts that speak TAP, beside what they test -------------------------
LIBHARNESS := $(filter-out %/main.o %/counters_none.o,$(HARNESS))
FAKE := build/host/common/test/fake_runtime.o
C_TESTS := $(patsubst %.c,build/test/%,$(wildcard common/test/test_*.c tools/*/test/test_*.c))
SCRIPT_TESTS := $(wildcard common/test/*.t reference/test/*.t tools/test/*.t tools/*/test/*.t)
build/host/common/libharness.a: $(LIBHARNESS) build/host/common/counters_none.o
	@rm -f $@; ar rcs $@ $^
build/host/tools/libptxsim.a: $(PTXSIM)
	@rm -f $@; ar rcs $@ $^
build/test/common/test/%: build/host/common/test/%.o $(FAKE) build/host/common/libharness.a
	@mkdir -p $(@D)
	@$(CC) -pthread -rdynamic $^ -ldl -lm -o $@
build/test/tools/%: build/host/tools/%.o build/host/tools/libptxsim.a build/host/common/libharness.a
	@mkdir -p $(@D)
	@$(CC) -pthread $^ -ldl -lm -o $@

# ---- Commands ------------------------------------------------------------------------------------
.PHONY: help clean run grid bench test diff ptx counters annotate validate sanitize profile trace \
        $(NUMBERS:%=stage%)

define HELP
Flash attention in sixteen stages

  make run                    check and time every stage here, as one table
  make stage07 run            the same for one stage (or several: make stage06 stage07 run)
  make test                   all tests
  make bench                  TFLOP/s of the stages over sequence lengths (needs a GPU)
  make stage07                build one stage
  make diff FROM=06 TO=07     what changed between two stages
  make stage07 ptx            print the PTX of a stage
  make stage07 grid           the shape grid: all variants, ragged lengths, GQA
  make stage07 counters       what the kernel asks of the hardware, counted by the simulator
  make stage07 annotate       the same beside each source line (FORMAT=html: as a page)
  make stage07 sanitize       look for races and bad accesses
  make stage07 profile        Nsight Compute on one launch (needs a GPU)
  make validate               the simulator's counters beside a GPU's
  make trace N=4 D=2          the online softmax by hand
  make clean                  remove build/

Variables: B H HKV N NKV (sizes; HKV: KV heads, NKV: keys)   D=64|128   CAUSAL=0|1
           DTYPE=fp16|bf16   INIT=normal|uniform|large|onehot|ramp   SEED   REPS
           DEVICE=auto|gpu|sim   GPU=index   FORMAT=text|json   ARCH=sm_80|sm_90|...
Stages:    $(STAGES)
endef
help:
	$(info $(HELP))
	@:

clean:
	rm -rf build

# `make stage07` alone builds; beside another goal it only selects.
$(NUMBERS:%=stage%): $(if $(filter-out stage%,$(MAKECMDGOALS)),,$(KERNELS) $(PROGRAMS))
	@:

run: $(KERNELS) $(PROGRAMS)
	@build/attention run $(FORWARD) $(SELECTED_DIRS)

grid: $(ALL_KERNELS) $(PROGRAMS)
	@build/attention grid $(FORWARD) $(SELECTED_DIRS)

bench: $(KERNELS) $(PROGRAMS)
	@build/attention bench $(FORWARD) $(SELECTED_DIRS)

export ORACLE_DUMP := build/test/common/test/oracle_dump
test: export STAGE_DIRS := $(SELECTED_DIRS)
test: export CUDA_INCLUDE := $(CUDA_INCLUDE)
test: export CC := $(CC)
test: $(C_TESTS) $(ORACLE_DUMP) $(PROGRAMS) $(ALL_KERNELS)
	@command -v prove >/dev/null || { echo "prove was not found: install perl." >&2; exit 2; }
	@python=$$(tools/python.sh build/python) && PATH=$$(dirname $$python):$$PATH \
	    prove --timer --jobs 2 --exec '' $(C_TESTS) $(SCRIPT_TESTS)

diff:
	$(if $(call stage_of,$(FROM)),,$(error FROM must be one of: $(NUMBERS); not '$(FROM)'))
	$(if $(call stage_of,$(TO)),,$(error TO must be one of: $(NUMBERS); not '$(TO)'))
	@git --no-pager diff --no-index --patience stages/$(call stage_of,$(FROM))/kernel.cu \
	    stages/$(call stage_of,$(TO))/kernel.cu || [ $$? -eq 1 ]

ptx: $(SELECTED_DIRS:%=%/$(VARIANT).ptx)
	@cat $^

counters: $(KERNELS) $(PROGRAMS)
	@build/attention run $(FORWARD) DEVICE=sim COUNTERS=full $(SELECTED_DIRS)

annotate: $(KERNELS) $(PROGRAMS)
	@build/attention run $(filter-out 'FORMAT=html',$(FORWARD)) DEVICE=sim \
	    COUNTERS=$(if $(filter html,$(FORMAT)),html,source) $(SELECTED_DIRS)

validate: $(KERNELS) $(PROGRAMS)
	@tools/validate.sh build/attention $(FORWARD) $(SELECTED_DIRS)

profile: $(KERNELS) $(PROGRAMS)
	@tools/profile.sh build/attention $(FORWARD) $(SELECTED_DIRS)

sanitize: $(KERNELS) $(PROGRAMS)
	@tools/sanitize.sh build/attention $(FORWARD) $(SELECTED_DIRS)

trace:
	@"$$(tools/python.sh build/python)" reference/trace.py \
	    $(foreach v,N D BC CAUSAL SEED,$(if $(filter command,$(firstword $(origin $v))),'$v=$($v)'))
