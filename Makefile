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
OPTIONS := B H HKV N NKV D CAUSAL DTYPE INIT STRENGTH SEED SCALE LSE DEVICE GPU FORMAT REPS SEQS \
           GRID RUNS LIMIT SECONDS

# make itself would pass over a misspelt variable in silence, such as n=300.
GIVEN := $(filter-out -%,$(foreach v,$(MAKEOVERRIDES),$(if $(findstring =,$v),\
    $(patsubst %:,%,$(firstword $(subst =, ,$v))))))
$(foreach v,$(if $(GIVEN),$(shell for v in $(GIVEN); do \
    [[ $$v != *[a-z]* ]] && grep -qw "$$v" Makefile || echo "$$v"; done)),\
    $(error there is no variable $v: bare make lists them))

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
NO_TOOLS := help clean diff plot trace
ifneq ($(filter-out $(NO_TOOLS),$(or $(MAKECMDGOALS),help)),)
include build/toolchain.mk
ifneq ($(filter command environment,$(firstword $(origin ARCH))),)
ifdef NVCC
$(call one_of,ARCH,$(filter-out sm_75,$(shell $(NVCC) --list-gpu-code)) sm_90a)
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

# Commands for one stage.
one_stage = $(if $(filter 1,$(words $(STAGE_GOALS))),,$(error $1 needs one stage: make stage07 $1))
$(foreach g,$(filter tune start grade,$(MAKECMDGOALS)),$(call one_stage,$g))
ifneq ($(filter html,$(FORMAT)),)
$(foreach g,$(filter annotate,$(MAKECMDGOALS)),$(call one_stage,$g FORMAT=html))
endif

# KERNEL=work/07_swizzle/kernel.cu in place of the selected stage's own file, for every command.
ifneq ($(filter grade,$(MAKECMDGOALS)),)
KERNEL ?= work/$(SELECTED)/kernel.cu
endif
ifdef KERNEL
$(if $(filter 1,$(words $(STAGE_GOALS))),,$(error KERNEL needs one stage, as in make stage07 run))
REFUSED := $(shell tools/exercise.sh check $(SELECTED) '$(KERNEL)' 2>&1)
$(if $(REFUSED),$(error $(REFUSED)))
$(if $(filter grade,$(MAKECMDGOALS))$(wildcard $(KERNEL)),,\
    $(error KERNEL=$(KERNEL): there is no such file; make $(STAGE_GOALS) start makes one))
REFERENCE := $(SELECTED_DIRS)
SELECTED_DIRS := build/$(call arch_of,$(SELECTED))/work/$(SELECTED)
endif

# ---- Kernels: build/<arch>/<stage>/<variant>.so, PTX and machine code inside ---------------------
# Arguments: the architecture, the folder, and the source where it is not the stage's.
define kernel_rule
build/$1/$2/%.so: $(or $3,stages/$2/kernel.cu) build/flags/nvcc build/toolchain.mk
	@mkdir -p $$(@D); echo "nvcc  $2 $$* ($1)" >&2
	@$$(NVCC) $$(NVCC_FLAGS) -MF $$(@:.so=.d) -MT $$@ \
	    -gencode arch=compute_$(1:sm_%=%),code=[$1,compute_$(1:sm_%=%)] \
	    $$(call macros,$$*,$1) $$< -o $$@ 2> >(tee $$(@:.so=.log) >&2)
	@! grep -q '(C75' $$(@:.so=.log) || \
	    { echo "$$<: ptxas has serialised wgmma, see the message above." >&2; exit 1; }
build/$1/$2/%.ptx: $(or $3,stages/$2/kernel.cu) build/flags/nvcc build/toolchain.mk
	@mkdir -p $$(@D)
	@$$(NVCC) -std=c++17 -O3 -lineinfo -Icommon -ptx -arch=compute_$(1:sm_%=%) \
	    $$(call macros,$$*,$1) $$< -o $$@
endef
macros = -DHEAD_DIM=$(if $(findstring d64_,$1),64,128) \
         -DELEMENT_BF16=$(if $(findstring bf16,$1),1,0) -DCAUSAL=$(if $(findstring causal,$1),1,0) \
         -DTARGET_SM=$(patsubst %a,%,$(2:sm_%=%))
$(foreach s,$(STAGES),$(eval $(call kernel_rule,$(call arch_of,$s),$s)))
ifdef KERNEL
$(eval $(call remember,build/flags/$(SELECTED),$(KERNEL)))
$(eval $(call kernel_rule,$(call arch_of,$(SELECTED)),work/$(SELECTED),\
    $(KERNEL) common/attention.h build/flags/$(SELECTED)))
endif
KERNELS := $(SELECTED_DIRS:%=%/$(VARIANT).so)
ALL_KERNELS := $(foreach v,$(VARIANTS),$(SELECTED_DIRS:%=%/$v.so))
-include $(wildcard build/*/*/*.d)

# ---- Harness: build/attention on the CUDA runtime, build/attention-sim on the simulator ----------
HARNESS := $(patsubst common/%.c,build/host/common/%.o,$(wildcard common/*.c))
PTXSIM := $(patsubst tools/%.c,build/host/tools/%.o,\
    $(wildcard tools/ptxsim/*.c tools/ptxsim/report/*.c))
build/host/%.o: %.c build/flags/host build/toolchain.mk
	@mkdir -p $(@D); echo "cc    $<" >&2
	@$(CC) $(CFLAGS) $(if $(findstring ptxsim,$<),-O3) $(HOST_FLAGS) -Icommon -Icommon/test \
	    -Itools/ptxsim -Itools/ptxsim/machine -isystem $(CUDA_INCLUDE) -c $< -o $@
build/attention: $(HARNESS)
	@echo "link  $@" >&2
	@$(CC) -pthread -rdynamic $^ -L$(CUDA_LIB) -Wl,-rpath,$(CUDA_LIB) -lcudart -ldl -lm -o $@
build/attention-sim: $(filter-out %/counters_none.o,$(HARNESS)) $(PTXSIM)
	@echo "link  $@" >&2
	@$(CC) -pthread -rdynamic $^ -ldl -lm -o $@
-include $(wildcard build/host/*/*.d build/host/*/*/*.d build/host/*/*/*/*.d)
PROGRAMS := build/attention $(if $(wildcard tools/ptxsim/harness.c),build/attention-sim)

# The inputs and the truth as a library, for reference/peers.py.
TRUTH_SOURCES := $(foreach s,library options model_inputs inputs rows oracle check problem element \
    parallel error,common/$s.c)
export TRUTH := build/libtruth.so
$(TRUTH): $(TRUTH_SOURCES) $(wildcard common/*.h) build/flags/host build/toolchain.mk
	@mkdir -p $(@D); echo "link  $@" >&2
	@$(CC) $(CFLAGS) $(filter-out -M%,$(HOST_FLAGS)) -Icommon -isystem $(CUDA_INCLUDE) -fPIC \
	    -shared $(TRUTH_SOURCES) -lm -o $@

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
.PHONY: help clean run grid fuzz repeat bench roofline gpu ncu plot tune start grade test diff \
        ptx counters annotate explore validate sanitize profile trace $(NUMBERS:%=stage%)

define HELP
Flash attention in sixteen stages

  make run                    check and time every stage, as one table
  make stage07 run            the same for one stage (or several: make stage06 stage07 run)
  make test                   all tests
  make bench                  TFLOP/s of the stages over sequence lengths (needs a GPU; PEERS=1
                              adds PyTorch's attention and FlashAttention-3); table and plots
                              in notes/results/; INIT=all: time and error on ten kinds of inputs
  make roofline               bytes and TFLOP/s of the stages under the GPU's roofs (needs a GPU
                              with Nsight Compute); table and plot in notes/results/
  make plot RESULTS=x.jsonl   redraw the table and the plots of a bench or a roofline
  make stage07 tune           time the tile shapes that a stage allows (BR=, BC=, WARPS=64,128)
  make stage07 start          begin the exercise: work/07_swizzle/kernel.cu, from stage 06
  make stage07 grade          check it: what holds and what does not; every other command
                              accepts it as KERNEL=work/07_swizzle/kernel.cu
  make stage07                build one stage
  make diff FROM=06 TO=07     what changed between two stages
  make stage07 ptx            print the PTX of a stage
  make stage07 sass           the machine code beside its source lines, loops marked (LINE=123,
                              INSTR=ldmatrix: what a line or PTX instruction became; PTX=1; CLEAN=1)
  make stage07 count          its instructions by opcode, before, in and after the main loop
  make stage07 check-sass     is the idea in the machine code? (stages/*/expect.sass)
  make sass-diff FROM=06 TO=07  what changed in the machine code
  make compare FROM=06 TO=07  both sources beside each other, with counters and machine code (each
                              may be a file, such as TO=work/07_swizzle/kernel.cu)
  make site                   all of it as static pages: the ladder, chapters, a page of every stage
                              and of every two neighbours, results (build/site/index.html)
  make ladder                 lines, changed lines and instructions of each stage; what it adds
  make sass-ladder            opcodes x stages (make sass-baseline: into notes/results/)
  make stage07 grid           the shape grid: all variants, ragged lengths, GQA, hard inputs
  make stage07 fuzz           random problems for SECONDS=60; a failure is made as small as possible
  make stage07 repeat         the same bits each time? RUNS=100 of every variant (2 if simulated)
  make stage07 counters       what the kernel asks of the hardware, counted by the simulator
  make stage07 annotate       the same beside each source line (FORMAT=html: as a page)
  make stage07 explore        a page of one recorded block: code, timeline, lanes, shared memory
                              (BLOCK=3; FORMAT=json: the record; a kernel that faults, too)
  make stage07 sanitize       look for races and bad accesses
  make stage07 mutate         are mistakes noticed? small edits of the kernel, each checked
                              (MUTANTS=60 of each stage, or all; SEED=1; JOBS=2 at a time)
  make stage07 profile        Nsight Compute on one launch (needs a GPU)
  make validate               the simulator's counters beside a GPU's
  make trace N=4 D=2          the online softmax by hand
  make clean                  remove build/

Variables: B H HKV N NKV (sizes; HKV: KV heads, NKV: keys)   D=64|128   CAUSAL=0|1
           DTYPE=fp16|bf16   SEED   REPS   GRID=full|small|big
           INIT=normal|uniform|large|onehot|ramp|tiny|equal|zeros|dominant|infinite|nan
                sink|peaked|local|recency|primacy (as models make them)|all (bench)
           STRENGTH (of such an INIT, in nats; of peaked the standard deviation)
           SCALE (of Q K^T)   LSE=0|1   RUNS (compared bit for bit)   LIMIT=60 (seconds per launch)
           BLOCK (of explore)   DEVICE=auto|gpu|sim   GPU=index   FORMAT=text|json|markdown (SASS)
           ARCH=sm_80|sm_90a|...
Stages:    $(STAGES)
endef
help:
	$(info $(HELP))
	@:

clean:
	rm -rf build

# Output that goes to a pager or head which ends early (141: SIGPIPE) is no error.
PIPED = || { code=$$?; [ $$code -eq 141 ] || exit $$code; }

# `make stage07` alone builds; beside another goal it only selects.
$(NUMBERS:%=stage%): $(if $(filter-out stage%,$(MAKECMDGOALS)),,$(KERNELS) $(PROGRAMS))
	@:

run: $(KERNELS) $(PROGRAMS)
	@build/attention run $(FORWARD) $(SELECTED_DIRS) $(PIPED)

grid fuzz repeat: $(ALL_KERNELS) $(PROGRAMS)
	@build/attention $@ $(FORWARD) $(SELECTED_DIRS)

# Both head sizes and masks, unless the user chooses. Without a GPU it says so before it builds.
chosen = $(if $(filter-out file undefined,$(origin $1)),$($1))
BENCH_VARIANTS := $(foreach d,$(or $(call chosen,D),64 128),$(foreach c,\
    $(or $(call chosen,CAUSAL),0 1),d$d_$(DTYPE)_$(if $(filter 1,$c),causal,full)))
gpu:
	@nvidia-smi -L >/dev/null 2>&1 || { echo "$(filter-out stage%,$(MAKECMDGOALS)) needs a GPU," \
	    "and nvidia-smi finds none" >&2; exit 2; }
ncu: gpu
	@. tools/nsight.sh; need_ncu
bench: export CUDA_LIB := $(CUDA_LIB)
bench: export CUDA_VERSION := $(CUDA_VERSION)
bench: export GOALS := $(MAKECMDGOALS)
bench: gpu $(foreach v,$(BENCH_VARIANTS),$(SELECTED_DIRS:%=%/$v.so)) $(PROGRAMS) $(TRUTH)
	@tools/bench.sh build/attention $(FORWARD) $(foreach v,PEERS RESULTS,$(if $($v),'$v=$($v)')) \
	    $(SELECTED_DIRS)

# The roofs of the GPU are measured by a program of its own, with wgmma where there is such.
PEAKS_ARCH := $(if $(filter sm_90,$(ARCH)),sm_90a,$(ARCH))
PEAKS := build/$(PEAKS_ARCH)/peaks
$(PEAKS): tools/peaks.cu build/toolchain.mk
	@mkdir -p $(@D); echo "nvcc  $< ($(PEAKS_ARCH))" >&2
	@$(NVCC) -std=c++17 -O3 -gencode arch=compute_$(PEAKS_ARCH:sm_%=%),code=$(PEAKS_ARCH) $< -o $@ \
	    -cudart shared -L$(CUDA_LIB) -Xlinker -rpath,$(CUDA_LIB)
roofline: export CUDA_VERSION := $(CUDA_VERSION)
roofline: export GOALS := $(MAKECMDGOALS)
roofline: ncu $(KERNELS) $(PROGRAMS) $(PEAKS)
	@tools/roofline.sh build/attention $(PEAKS) $(FORWARD) \
	    $(if $(RESULTS),'RESULTS=$(RESULTS)') $(SELECTED_DIRS)

plot:
	@tools/plot/plot.sh '$(RESULTS)'

tune: export KERNEL := $(KERNEL)
tune: export NVCC := $(NVCC)
tune: export NVCC_FLAGS := $(NVCC_FLAGS)
tune: export MACROS := $(call macros,$(VARIANT),$(call arch_of,$(SELECTED)))
tune: export VARIANT := $(VARIANT)
tune: $(PROGRAMS)
	@tools/tune.sh build/attention $(FORWARD) $(foreach v,BR BC WARPS,$(if $($v),'$v=$($v)')) \
	    $(SELECTED_DIRS)

start:
	@tools/exercise.sh start $(SELECTED)

export ORACLE_DUMP := build/test/common/test/oracle_dump
test: export STAGE_DIRS := $(SELECTED_DIRS)
test: export CUDA_INCLUDE := $(CUDA_INCLUDE)
test: export CC := $(CC)
test: $(C_TESTS) $(ORACLE_DUMP) $(TRUTH) $(PROGRAMS) $(ALL_KERNELS)
	@command -v prove >/dev/null || { echo "prove was not found: install perl." >&2; exit 2; }
	@python=$$(tools/python.sh build/python) && PATH=$$(dirname $$python):$$PATH \
	    prove --timer --jobs 2 --exec '' $(C_TESTS) $(SCRIPT_TESTS)

# git does not notice a full disk; cat does. Whether there are colours is settled before the pipe.
diff:
	$(if $(call stage_of,$(FROM)),,$(error FROM must be one of: $(NUMBERS); not '$(FROM)'))
	$(if $(call stage_of,$(TO)),,$(error TO must be one of: $(NUMBERS); not '$(TO)'))
	@set -o pipefail; color=never; git config --get-colorbool color.diff && color=always; \
	{ git --no-pager diff --no-index --patience --color=$$color \
	    stages/$(call stage_of,$(FROM))/kernel.cu stages/$(call stage_of,$(TO))/kernel.cu || \
	    [ $$? -eq 1 ]; } | cat $(PIPED)

ptx: $(SELECTED_DIRS:%=%/$(VARIANT).ptx)
	@cat $^ $(PIPED)

counters: $(KERNELS) $(PROGRAMS)
	@build/attention run $(FORWARD) DEVICE=sim COUNTERS=full $(SELECTED_DIRS) $(PIPED)

annotate: $(KERNELS) $(PROGRAMS)
	@build/attention run $(filter-out 'FORMAT=html',$(FORWARD)) DEVICE=sim \
	    COUNTERS=$(if $(filter html,$(FORMAT)),html,source) $(SELECTED_DIRS) $(PIPED)

validate: ncu $(KERNELS) $(PROGRAMS)
	@tools/validate.sh build/attention $(FORWARD) $(SELECTED_DIRS)

profile: ncu $(KERNELS) $(PROGRAMS)
	@tools/profile.sh build/attention $(FORWARD) $(SELECTED_DIRS)

sanitize: $(KERNELS) $(SELECTED_DIRS:%=%/d$(D)_$(DTYPE)_causal.so) $(PROGRAMS)
	@tools/sanitize.sh build/attention $(FORWARD) $(SELECTED_DIRS)

trace:
	@"$$(tools/python.sh build/python)" reference/trace.py \
	    $(foreach v,N D BC CAUSAL SEED,$(if $(filter command,$(firstword $(origin $v))),'$v=$($v)'))

# ---- SASS lab: what the compiler made of the stages; no GPU is needed ----------------------------
SASS_GOALS := sass count sass-diff compare ladder sass-ladder sass-baseline check-sass
.PHONY: $(SASS_GOALS)
SASS := $(patsubst tools/%.c,build/host/tools/%.o,$(wildcard tools/sass/*.c))
LIBSASS := $(filter-out %/main.o,$(SASS)) build/host/common/error.o
build/sass: $(SASS) build/host/common/error.o
	@echo "link  $@" >&2
	@$(CC) -rdynamic $^ -ldl -o $@
build/test/tools/sass/%: build/host/tools/sass/%.o $(LIBSASS)
	@mkdir -p $(@D)
	@$(CC) -rdynamic $^ -ldl -lm -o $@
build/disassembler.mk: build/toolchain.mk
	@tools/toolchain.sh --disassembler $@

# Before a command: the disassembler that build/disassembler.mk names, in its environment.
LAB := build/sass build/disassembler.mk
LAB_RUN = export $$(sed 's/ := /=/' build/disassembler.mk) && build/sass
LAB_FORWARD = $(strip $(foreach v,FORMAT LINE INSTR PTX CLEAN,$(if $($v),'$v=$($v)')))

# A stage asked for by name does not silently become one for another architecture.
named = $(foreach n,$(STAGE_GOALS) $(FROM) $(TO),$(call stage_of,$n))
ARCH_GIVEN := $(filter command environment,$(firstword $(origin ARCH)))
ifneq ($(ARCH_GIVEN),)
$(foreach s,$(filter $(SM_90A),$(named)),$(if $(filter-out sm_90a,$(ARCH)),\
    $(error $s needs sm_90a: ARCH must be one of: sm_90a; not '$(ARCH)')))
endif

# Signatures are checked for both generations: every variant of a stage for its own architecture,
# and of those that run on both also SASS_VARIANTS for the other. ARCH=... checks that one alone,
# KERNEL=... the variant asked for.
SASS_VARIANTS ?= d128_fp16_full
signed = $(if $(filter $1,$(SM_90A)),$(VARIANTS:%=build/sm_90a/$1/%.so),$(if $(ARCH_GIVEN),\
    $(VARIANTS:%=build/$(ARCH)/$1/%.so),\
    $(VARIANTS:%=build/sm_80/$1/%.so) $(SASS_VARIANTS:%=build/sm_90a/$1/%.so)))
SIGNED := $(strip $(if $(KERNEL),$(KERNELS),$(foreach s,$(SELECTED),$(call signed,$s))))
BASELINE := $(strip $(foreach s,$(STAGES),\
    build/$(if $(filter $s,$(SM_90A)),sm_90a,sm_80)/$s/d128_fp16_full.so))
$(foreach s,$(filter-out $(SM_90A),$(STAGES)),$(foreach a,$(filter-out $(ARCH),sm_80 sm_90a),\
    $(eval $(call kernel_rule,$a,$s))))
test: build/sass $(SIGNED)
test: export SIGNED := $(SIGNED)
test: export BASELINE := $(BASELINE)

sass: $(KERNELS) $(LAB)
	@$(LAB_RUN) show $(LAB_FORWARD) $(KERNELS) $(PIPED)

count: $(KERNELS) $(LAB)
	@$(LAB_RUN) count $(LAB_FORWARD) $(KERNELS) $(PIPED)

sass-ladder: $(KERNELS) $(LAB)
	@$(LAB_RUN) ladder $(LAB_FORWARD) $(KERNELS) $(PIPED)

# Of the stages before those shown come the differences, each built for its own architecture.
STEPS := $(join $(patsubst %,%:,$(sort $(STAGES))),$(wordlist 2,99,$(sort $(STAGES))))
before = $(patsubst %:$1,%,$(filter %:$1,$(STEPS)))
LADDER := $(sort $(SELECTED_DIRS) \
    $(foreach s,$(SELECTED),$(foreach b,$(call before,$s),$(call dir_of,$b))))
ladder: $(LADDER:%=%/$(VARIANT).so) $(LAB)
	@set -o pipefail; { $(LAB_RUN) count FORMAT=json $(LADDER:%=%/$(VARIANT).so); } | \
	    tools/ladder/ladder.sh $(if $(FORMAT),'FORMAT=$(FORMAT)') \
	    $(if $(KERNEL),'KERNEL=$(KERNEL)') $(SELECTED) $(PIPED)

sass-baseline: $(BASELINE) $(LAB)
	@tools/sass/baseline.sh $(BASELINE) >build/sass_counts.md
	@mv build/sass_counts.md notes/results/ && echo notes/results/sass_counts.md

check-sass: $(SIGNED) $(LAB)
	@$(LAB_RUN) check $(SIGNED)

# A page of one recorded block (BLOCK=), or with FORMAT=json the record itself.
page_of = build/explore/$1_$(VARIANT)$(if $(KERNEL),_work).html
source_of = $(or $(KERNEL),stages/$1/kernel.cu)
explore: export SIM_BLOCK := $(BLOCK)
explore: export LAB_SHOW := $(LAB_RUN) show
explore: $(KERNELS) $(PROGRAMS) $(LAB) $(wildcard tools/page/*)
	@$(foreach s,$(SELECTED),tools/page/explore.sh build/attention $s $(call source_of,$s) \
	    '$(if $(KERNEL),stages/$s/kernel.cu,$(patsubst %,stages/%/kernel.cu,$(call before,$s)))' \
	    $(filter %/$(if $(KERNEL),work/)$s/$(VARIANT).so,$(KERNELS)) \
	    $(if $(filter json,$(FORMAT)),-,$(call page_of,$s)) $(FORWARD) && ) true $(PIPED)

# Two stages: FROM, TO. Each is a number or a kernel's file, whose header names its stage.
file_stage = $(if $(wildcard $(filter %.cu,$1)),$(call stage_of,$(shell \
    sed -n '1s,^// Stage \([0-9]*\):.*,\1,p' $1)))
side_stage = $(or $(call stage_of,$($1)),$(call file_stage,$($1)),$(error \
    $1 must be one of: $(NUMBERS), or the file of a kernel of these stages; not '$($1)'))
side_folder = $(if $(call stage_of,$($1)),,compare_$1/)
side_dir = build/$(call arch_of,$(side_stage))/$(side_folder)$(side_stage)
PAIR := $(if $(filter sass-diff compare,$(MAKECMDGOALS)),$(foreach v,FROM TO,$(call side_dir,$v)))
ifneq ($(PAIR),)
$(foreach v,FROM TO,$(if $(call side_folder,$v),\
    $(eval $(call remember,build/flags/compare_$v,$($v)))\
    $(eval $(call kernel_rule,$(call arch_of,$(call side_stage,$v)),$(call side_folder,$v)$(call \
        side_stage,$v),$($v) common/attention.h build/flags/compare_$v))))
endif
sass-diff: $(PAIR:%=%/$(VARIANT).so) $(LAB)
	@$(LAB_RUN) diff $(LAB_FORWARD) $(PAIR:%=%/$(VARIANT).so) $(PIPED)

# The sources beside each other, with counters and machine code.
compared = $(firstword $(subst _, ,$(call side_stage,$1)))$(if $(call side_folder,$1),_file)
compare: export LAB_RUN := $(LAB_RUN)
compare: $(PAIR:%=%/$(VARIANT).so) $(PROGRAMS) $(LAB) $(wildcard tools/page/*)
	@tools/page/compare.sh build/attention $(PAIR:%=%/$(VARIANT).so) \
	    build/compare/$(call compared,FROM)_$(call compared,TO)_$(VARIANT).html $(FORWARD)

# ---- The site: chapters, explorer and comparisons as pages that any web server can hold ----------
# The stages are those of variant d128_fp16_full. Each page is made anew if what it shows changes.
.PHONY: site
SITE := build/site
SITE_DOCS := README.md $(wildcard notes/*.md notes/results/*.md tools/*/*.md tools/*/*/*.md)
site_page = $(SITE)/$(patsubst %.md,%.html,$(patsubst %README.md,%index.md,$1))
site_root = $(subst $() ,,$(patsubst %,../,$(wordlist 2,9,$(subst /, ,$1))))
site_so = build/$(if $(filter $1,$(SM_90A)),sm_90a,$(ARCH))/$1/d128_fp16_full.so
site_pair = $(firstword $(subst _, ,$1))_$(firstword $(subst _, ,$2))
SITE_FILES := $(wildcard tools/page/*)
$(SITE)/explore/%: export LAB_SHOW := $(LAB_RUN) show
$(SITE)/compare/%: export LAB_RUN := $(LAB_RUN)
site_nav = <a href="../index.html">ladder</a> <a href="../notes/$1.html">chapter</a>$(if \
    $2, <a href="../compare/$(call site_pair,$2,$1).html">beside $(firstword $(subst _, ,$2))</a>)

define site_doc
$(call site_page,$1): $1 build/markdown.path $(SITE_FILES)
	@tools/page/chapter.sh "$$$$(cat build/markdown.path)" $1 $$@ '$(call site_root,$1)'
SITE_PAGES += $(call site_page,$1)
endef
# Arguments: a stage and the one before it.
define site_stage
$(SITE)/explore/$1.html: $(call site_so,$1) build/attention build/attention-sim $(LAB) $(SITE_FILES)
	@NAV='$(call site_nav,$1,$2)' tools/page/explore.sh \
	    build/attention $1 stages/$1/kernel.cu '$(patsubst %,stages/%/kernel.cu,$2)' $$< $$@
SITE_PAGES += $(SITE)/explore/$1.html
$(if $2,
$(SITE)/compare/$(call site_pair,$2,$1).html: $(call site_so,$2) $(call site_so,$1) \
        build/attention build/attention-sim $(LAB) $(SITE_FILES)
	@NAV='$(call site_nav,$1)' tools/page/compare.sh build/attention \
	    $(call site_so,$2) $(call site_so,$1) $$@
SITE_PAGES += $(SITE)/compare/$(call site_pair,$2,$1).html
)
endef
ifneq ($(filter site,$(MAKECMDGOALS)),)
$(foreach d,$(SITE_DOCS),$(eval $(call site_doc,$d)))
$(foreach s,$(STAGES),$(eval $(call site_stage,$s,$(call before,$s))))
endif
build/markdown.path: tools/page/markdown.sh
	@tools/page/markdown.sh build/markdown >$@
site: $(SITE_PAGES)
	@tools/page/site.sh $(SITE) $(SITE_DOCS)
	@echo $(SITE)/index.html

# ---- Exercises: the learner's kernel beside the stage itself -------------------------------------
# It may be wrong in every way, so the script builds and runs it, not the rules here.
grade: export MAKE := $(MAKE)
grade: export VARIANTS := $(VARIANTS)
grade: export DIR := $(SELECTED_DIRS)
grade: export REFERENCE := $(REFERENCE)
grade: export LAB := $(LAB)
grade: export CHECK := $(LAB_RUN) check
grade: $(REFERENCE)/d128_fp16_full.so $(PROGRAMS)
	@tools/exercise.sh grade $(SELECTED) '$(KERNEL)' build/attention

# ---- Mutation testing: would the checks notice a mistake in a stage? -----------------------------
.PHONY: mutate
MUTATE := $(patsubst tools/%.c,build/host/tools/%.o,$(wildcard tools/mutate/*.c))
build/mutate: $(MUTATE) build/host/common/error.o
	@echo "link  $@" >&2
	@$(CC) $^ -o $@
test: build/mutate
mutate: export NVCC := $(NVCC)
mutate: export NVCC_FLAGS := $(NVCC_FLAGS)
mutate: export VARIANTS := $(VARIANTS)
mutate: export CHECK := $(LAB_RUN) check
$(foreach v,MUTANTS SEED JOBS,$(eval mutate: export $v := $($v)))
mutate: $(PROGRAMS) build/mutate $(LAB)
	@tools/mutate/mutate.sh build/attention $(SELECTED_DIRS)
