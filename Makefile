# Flash attention in sixteen stages. Bare `make` prints what there is to do.
#
# Here are the commands; tools/make/ has the rules that build what they use, by theme.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
SHELL := /bin/bash
# Numbers and names read the same whatever the user's language; scripts go where they say, and git
# in a hook of git as well.
export LC_ALL := C
unexport CDPATH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX SHELLOPTS BASHOPTS

ifneq ($(filter 3.% 4.0 4.0.% 4.1 4.1.%,$(MAKE_VERSION)),)
$(error GNU make 4.2 or newer is needed, and this is $(MAKE_VERSION))
endif
ifeq ($(wildcard tools/make/given.mk),)
$(error run make in the folder of its Makefile, or make -C with that folder)
endif
# It would make empty files of programs.
ifneq ($(findstring t,$(firstword -$(MAKEFLAGS))),)
$(error make -t is no way to build anything here: leave out -t)
endif
include $(addprefix tools/make/,given.mk variables.mk limits.mk stages.mk compilers.mk \
    selection.mk kernels.mk harness.mk bench.mk tests.mk sass.mk page.mk timeline.mk)

.PHONY: help clean run grid fuzz repeat bench roofline gpu ncu plot tune start grade test diff \
        ptx counters annotate explore timeline limits site validate sanitize profile mutate \
        planted trace \
        $(NUMBERS:%=stage%) $(SASS_GOALS)

define HELP
Flash attention in sixteen stages

  make run                    check and time every stage, as one table
  make stage07 run            the same for one stage (or several: make stage06 stage07 run)
  make test                   all tests
  make bench                  TFLOP/s of the stages over sequence lengths (needs a GPU; PEERS=1
                              adds PyTorch's attention and FlashAttention-3 and 4, PEERS=fa3,fa4
                              some: fa2 fa3 fa4 cudnn flex matmul); table and plots in
                              notes/results/; INIT=all: time and error on ten kinds of inputs;
                              REGIME=gqa|ragged|prefill|small|chunk|decode|all: other shapes,
                              random: drawn with SEED; SUSTAINED=1: a second back to back
  make roofline               bytes and TFLOP/s of the stages under the GPU's roofs (needs a GPU
                              with Nsight Compute); table and plot in notes/results/
  make plot RESULTS=x.jsonl   redraw the table and the plots of a bench or a roofline
  make stage11 tune           time the tile shapes of one of 08 to 11 (BR=, BC=, WARPS=64,128)
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
  make stage07 annotate       the same beside each source line (FORMAT=html: as a page; FORMAT=json)
  make stage07 explore        a page of one recorded block: code, timeline, lanes, shared memory
                              (BLOCK=3; FORMAT=json: the record; a kernel that faults, too)
  make stage07 timeline       what each warp does when, by the GPU's clock (without one in the
                              simulator's order), as a page; BLOCK=3; FORMAT=perfetto|svg|json;
                              RESULTS=x.json: of a record, stages 06 to 16
  make stage07 limits         which unit of a GPU binds the kernel, and what speed that allows,
                              beside the recorded time and a replay of its machine code; no GPU is
                              needed (GPU=$(subst $(SPACE),|,$(MACHINES)))
  make limits                 the same for all stages and all times that are recorded of that GPU
  make stage07 sanitize       look for races and bad accesses
  make stage07 mutate         are mistakes noticed? small edits of the kernel, each checked
                              (MUTANTS=60 of each stage, or all; SEED=1; JOBS=2 at a time)
  make mutate CODE=common     the same for the harness, or CODE=tools/ptxsim/ops, or a file: do its
                              tests notice? (MUTANTS=10 of each file)
  make planted                bugs that were planted once: does the right command catch each?
                              (BUGS=04_no_WAR,14_parity: these alone; JOBS=2 at a time)
  make stage07 profile        Nsight Compute on one launch (needs a GPU)
  make validate               the simulator's instructions and counters beside a GPU's
  make trace N=4 D=2          the online softmax by hand
  make clean                  remove build/

Variables: B H HKV N NKV (sizes; HKV: KV heads, NKV: keys)   D=64|128   CAUSAL=0|1
           DTYPE=fp16|bf16   SEED   REPS   GRID=full|small|big
           INIT=normal|uniform|large|onehot|ramp|tiny|equal|zeros|dominant|infinite|nan
                sink|peaked|local|recency|primacy (as models make them)|all (bench)
           STRENGTH (of such an INIT, in nats; of peaked the standard deviation)
           SCALE (of Q K^T)   LSE=0|1   RUNS (compared bit for bit)   LIMIT=60 (seconds, on a GPU)
           SIM_BUDGET=100000000, FORCE=1 (in the simulator: instructions after which a warp's
                loop counts as endless; run what takes more than a minute)
           BLOCK (of explore, timeline)   DEVICE=auto|gpu|sim   GPU=index (of limits: a name)
           FORMAT=text|json|markdown (SASS)
           ARCH=sm_75|sm_80|sm_90a|...
Stages:    $(STAGES)
endef
help:
	$(info $(HELP))
	@:

clean:
	@echo rm -rf build; rm -rf build 2>/dev/null || { echo "build cannot be removed whole: what is" \
	    "left is of another user, on a read-only disk or being written by another make" >&2; exit 2; }

# Output that goes to a pager or head which ends early (141: SIGPIPE) is no error.
PIPED = || { code=$$?; [ $$code -eq 141 ] || exit $$code; }
# What git and bash print passes through cat, which notices that it cannot be written, as they do
# not.
WRITTEN = | cat $(PIPED)

# `make stage07` alone builds; beside another goal it only selects.
$(NUMBERS:%=stage%): $(if $(filter-out stage%,$(MAKECMDGOALS)),,$(KERNELS) $(PROGRAMS))
	@:

# In the simulator, where a stage needs no other, a first run begins with the first stage while
# another make builds the rest. Beside a second command this make may build the same files.
FIRST_RUN := $(if $(and $(SIM_ALONE),$(filter 1,$(words $(COMMANDS))),$(word 2,$(KERNELS))),$(if \
    $(BUILD_ALONE)$(wildcard $(wordlist 2,99,$(KERNELS))),,yes))
# A folder says that there is such a stage, also if an error ends the build before it.
BUILD_OTHERS = mkdir -p $(SELECTED_DIRS); \
    env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS $(MAKE) --no-print-directory $(filter -j1,\
    $(MAKEFLAGS)) $(STAGE_GOALS) run BUILD_ALONE=yes $(MAKEOVERRIDES) & export BUILDING=$$!; \
    trap 'kill $$BUILDING 2>/dev/null' EXIT;
run: $(if $(FIRST_RUN),$(firstword $(KERNELS)),$(KERNELS)) $(PROGRAMS)
	@$(if $(BUILD_ALONE),:,$(if $(FIRST_RUN),$(BUILD_OTHERS)) \
	    build/attention run $(FORWARD) $(SELECTED_DIRS) $(PIPED)$(if $(FIRST_RUN),; wait $$BUILDING))

grid fuzz repeat: $(ALL_KERNELS) $(PROGRAMS)
	@build/attention $@ $(FORWARD) $(SELECTED_DIRS) $(PIPED)

bench: export CUDA_LIB := $(CUDA_LIB)
bench: export CUDA_VERSION := $(CUDA_VERSION)
bench: export GOALS := $(MAKECMDGOALS)
bench: gpu $(foreach v,$(BENCH_VARIANTS),$(SELECTED_DIRS:%=%/$v.so)) $(PROGRAMS) $(TRUTH)
	@tools/bench/bench.sh build/attention $(FORWARD) \
	    $(foreach v,PEERS RESULTS,$(if $($v),'$v=$($v)')) $(SELECTED_DIRS)

roofline: export CUDA_VERSION := $(CUDA_VERSION)
roofline: export GOALS := $(MAKECMDGOALS)
roofline: ncu $(KERNELS) $(PROGRAMS) $(PEAKS)
	@tools/roofline/roofline.sh build/attention $(PEAKS) $(FORWARD) \
	    $(if $(RESULTS),'RESULTS=$(RESULTS)') $(SELECTED_DIRS)

plot:
	@tools/plot/plot.sh '$(RESULTS)'

tune: export KERNEL := $(KERNEL)
tune: export NVCC := $(NVCC)
tune: export NVCC_FLAGS := $(NVCC_FLAGS)
tune: export MACROS := $(call macros,$(VARIANT),$(call arch_of,$(SELECTED)))
tune: export VARIANT := $(VARIANT)
tune: $(PROGRAMS)
	@tools/tune/tune.sh build/attention $(FORWARD) $(foreach v,BR BC WARPS,$(if $($v),'$v=$($v)')) \
	    $(SELECTED_DIRS) $(PIPED)

start:
	@tools/exercise/exercise.sh start $(SELECTED)

export ORACLE_DUMP := build/test/common/truth/test/oracle_dump
test: export STAGE_DIRS := $(call simulated,$(SELECTED_DIRS))
test: export GPU_DIRS := $(SELECTED_DIRS)
test: export CUDA_INCLUDE := $(CUDA_INCLUDE)
test: export CC := $(CC)
# NumPy's other threads would wait, and take time for it.
test: export OPENBLAS_NUM_THREADS := 1
test: numpy markdown disassembler $(C_TESTS) $(ORACLE_DUMP) $(TRUTH) $(PROGRAMS) $(sort \
        $(ALL_KERNELS) $(call simulated,$(ALL_KERNELS)))
	@python=$$(tools/toolchain/python.sh build/python 2>/dev/null) && \
	    PATH=$$(dirname "$$python"):$$PATH \
	    tools/test/run_tests.sh build/test_times $(LONG_TESTS) $(C_TESTS) \
	        $(filter-out $(LONG_TESTS),$(SCRIPT_TESTS))

# Whether there are colours is settled before the pipe.
$(foreach v,$(if $(filter diff,$(MAKECMDGOALS)),FROM TO),$(if $(call stage_of,$($v)),,\
    $(error $v must be one of: $(NUMBERS); not '$($v)')))
diff:
	@command -v git >/dev/null || { echo "git was not found: install git." >&2; exit 2; }
	@set -o pipefail; color=never; git config --get-colorbool color.diff && color=always; \
	{ git --no-pager diff --no-index --patience --color=$$color \
	    stages/$(call stage_of,$(FROM))/kernel.cu stages/$(call stage_of,$(TO))/kernel.cu || \
	    [ $$? -eq 1 ]; } $(WRITTEN)

ptx: $(SELECTED_DIRS:%=%/$(VARIANT).ptx)
	@cat $^ $(PIPED)

counters: $(KERNELS) $(PROGRAMS)
	@build/attention run $(FORWARD) DEVICE=sim COUNTERS=full $(SELECTED_DIRS) $(PIPED)

annotate: $(KERNELS) $(PROGRAMS)
	@build/attention run $(filter-out 'FORMAT=html',$(FORWARD)) DEVICE=sim \
	    COUNTERS=$(if $(filter html,$(FORMAT)),html,source) $(SELECTED_DIRS) $(PIPED)

# What runs on both: where the kernels are that the GPU runs, and those that the simulator runs.
validate compare: export KERNEL_ROOT := $(KERNEL_ROOT)
validate compare: export SIM_ROOT := $(SIM_ROOT)
# With no stage named also single instructions, and warps whose lanes part.
ON_GPU_TESTS := $(if $(STAGE_GOALS),,$(addprefix build/test/tools/ptxsim/,machine/test/test_ways \
    $(addprefix ops/test/test_ops_,async compare convert descriptors float integer matrix memory \
    shuffle tensors warp)))
validate: ncu $(sort $(KERNELS) $(call simulated,$(KERNELS))) $(PROGRAMS) $(ON_GPU_TESTS)
	@$(if $(ON_GPU_TESTS),GPU=$(GPU) tools/validate/instructions.sh $(ON_GPU_TESTS) &&) \
	    tools/validate/counters.sh build/attention $(FORWARD) $(SELECTED_DIRS)

profile: ncu $(KERNELS) $(PROGRAMS)
	@tools/profile/profile.sh build/attention $(FORWARD) $(SELECTED_DIRS)

sanitize: $(ALL_KERNELS) $(PROGRAMS)
	@set -o pipefail; \
	tools/sanitize/sanitize.sh build/attention $(FORWARD) $(SELECTED_DIRS) $(WRITTEN)

trace:
	@python=$$(tools/toolchain/python.sh build/python) && "$$python" reference/trace.py \
	    $(foreach v,N D BC CAUSAL SEED,$(if $(filter command,$(firstword $(origin $v))),'$v=$($v)')) \
	    $(PIPED)

# ---- The machine code ----------------------------------------------------------------------------
sass: $(KERNELS) $(LAB)
	@$(LAB_RUN) show $(LAB_FORWARD) $(KERNELS) $(PIPED)

count: $(KERNELS) $(LAB)
	@$(LAB_RUN) count $(LAB_FORWARD) $(KERNELS) $(PIPED)

sass-ladder: $(KERNELS) $(LAB)
	@$(LAB_RUN) ladder $(LAB_FORWARD) $(KERNELS) $(PIPED)

ladder: $(LADDER:%=%/$(VARIANT).so) $(LAB)
	@set -o pipefail; { $(LAB_RUN) count FORMAT=json $(LADDER:%=%/$(VARIANT).so); } | \
	    tools/ladder/ladder.sh $(if $(FORMAT),'FORMAT=$(FORMAT)') \
	    $(if $(KERNEL),'KERNEL=$(KERNEL)') $(SELECTED) $(PIPED)

sass-baseline: $(BASELINE) $(LAB)
	@tools/sass/baseline.sh $(BASELINE) >build/sass_counts.md
	@mv build/sass_counts.md notes/results/ && echo notes/results/sass_counts.md

check-sass: $(SIGNED) $(PROGRAMS) $(LAB)
	@$(LAB_RUN) check $(SIGNED) $(PIPED)

sass-diff: $(PAIR:%=%/$(VARIANT).so) $(LAB)
	@$(LAB_RUN) diff $(LAB_FORWARD) $(PAIR:%=%/$(VARIANT).so) $(PIPED)

# The sources beside each other, with counters and machine code.
compare: export LAB_RUN := $(LAB_RUN)
compare: export FROM_FILE = $(if $(call side_folder,FROM),$(FROM))
compare: export TO_FILE = $(if $(call side_folder,TO),$(TO))
compare: $(sort $(PAIR:%=%/$(VARIANT).so) $(call simulated,$(PAIR:%=%/$(VARIANT).so))) \
        $(PROGRAMS) $(LAB) $(PAGE_FILES)
	@tools/page/compare/compare.sh build/attention $(PAIR:%=%/$(VARIANT).so) \
	    build/compare/$(call compared,FROM)_$(call compared,TO)_$(VARIANT).html $(FORWARD)

# A page of one recorded block (BLOCK=), or with FORMAT=json the record itself.
explore: export SIM_BLOCK := $(BLOCK)
explore: export LAB_SHOW := $(LAB_RUN) show
explore: $(KERNELS) $(PROGRAMS) $(LAB) $(PAGE_FILES)
	@$(foreach s,$(SELECTED),tools/page/explore/explore.sh build/attention $s $(call source_of,$s) \
	    '$(if $(KERNEL),stages/$s/kernel.cu,$(patsubst %,stages/%/kernel.cu,$(call before,$s)))' \
	    $(filter %/$s/$(VARIANT).so,$(KERNELS)) \
	    $(if $(filter json,$(FORMAT)),-,$(call page_of,$s)) $(FORWARD) && ) true $(PIPED)

# A page of one block, and those beside it on its SM, by the clock of the GPU.
timeline: export BLOCK := $(BLOCK)
timeline: export RESULTS := $(RESULTS)
timeline: $(TIMED_KERNELS) $(STAMPED) $(PROGRAMS) $(PAGE_FILES)
	@$(foreach s,$(TIMED),tools/timeline/timeline.sh build/attention $s $(call source_of,$s) \
	    $(filter %/$s/$(VARIANT).so,$(TIMED_KERNELS)) $(call stamped_so,$s) \
	    $(call timeline_page,$s) $(FORWARD) && ) true $(PIPED)

# What a stage can be at best on a GPU that need not be there; of the ladder the error of that.
limits: $(LIMITED) $(PROGRAMS) $(LAB)
	$(if $(LIMITED),,$(error $(MACHINE) is $(ARCH) and cannot run $(CANNOT_RUN)))
	@$(if $(CANNOT_RUN),echo "$(MACHINE) is $(ARCH) and cannot run $(CANNOT_RUN)" >&2;) \
	    tools/limits/count.sh build/attention build/limits $(LIMITED)
	@$(LAB_RUN) $(if $(STAGE_GOALS),limits,errors) $(LIMITS_FORWARD) $(LIMITED) $(PIPED)

site: $(SITE_PAGES)
	@tools/page/site/site.sh $(SITE) $(SITE_DOCS)
	@echo $(SITE)/index.html

# ---- Exercises: the learner's kernel beside the stage itself -------------------------------------
# It may be wrong in every way, so the script builds and runs it, not the rules here.
grade: export MAKE := $(MAKE)
grade: export FOR := simulator
grade: export VARIANTS := $(VARIANTS)
grade: export DIR := $(SELECTED_DIRS)
grade: export REFERENCE := $(REFERENCE)
grade: export LAB := $(LAB)
grade: export CHECK := $(LAB_RUN) check
grade: export LIMITS := $(LAB_RUN) limits
grade: $(REFERENCE)/d128_fp16_full.so $(PROGRAMS)
	@set -o pipefail; \
	tools/exercise/exercise.sh grade $(SELECTED) '$(KERNEL)' build/attention $(WRITTEN)

# ---- Mutation testing: would the checks notice a mistake in a stage? -----------------------------
mutate: export NVCC := $(NVCC)
mutate: export NVCC_FLAGS := $(NVCC_FLAGS)
mutate: export VARIANTS := $(VARIANTS)
mutate: export CHECK := $(LAB_RUN) check
$(foreach v,MUTANTS SEED JOBS,$(eval mutate: export $v := $($v)))
mutate: export CC := $(CC)
mutate: export CUDA_INCLUDE := $(CUDA_INCLUDE)
$(if $(and $(CODE),$(filter stage%,$(MAKECMDGOALS))),$(error \
    CODE names the files whose mistakes are planted, so there can be no stage beside it))
$(foreach c,$(if $(filter mutate,$(MAKECMDGOALS)),$(subst $(COMMA), ,$(CODE))),$(if \
    $(and $(filter common common/% tools tools/%,$c),$(shell find $c -name '*.c' 2>/dev/null | \
    grep -E '^(common|tools/(ptxsim|sass))/' | grep -v /test/)),,$(error CODE must be files \
    or folders of C in common, tools/ptxsim or tools/sass; not '$c')))
mutate: $(LAB) $(if $(CODE),$(C_TESTS),$(PROGRAMS)) build/mutate
	@$(if $(CODE),tools/mutate/code/code.sh $(CODE) $(C_TESTS),\
	    tools/mutate/mutate.sh build/attention $(SELECTED_DIRS))

# Bugs of tools/mutate/planted/, each with the command that must catch it.
planted: export NVCC := $(NVCC)
planted: export NVCC_FLAGS := $(NVCC_FLAGS)
planted: export CHECK := $(LAB_RUN) check
planted: export CC := $(CC)
planted: export CUDA_INCLUDE := $(CUDA_INCLUDE)
$(eval planted: export JOBS := $(JOBS))
$(if $(and $(BUGS),$(filter planted,$(MAKECMDGOALS))),$(if $(strip $(subst $(COMMA), ,$(BUGS))),,\
    $(error BUGS must be names of planted bugs with commas between them; not '$(BUGS)')))
PLANTED := $(if $(filter planted,$(MAKECMDGOALS)),$(call distinct,$(subst $(COMMA), ,$(BUGS))))
$(foreach b,$(PLANTED),$(if $(wildcard tools/mutate/planted/$b.bug),,$(error \
    there is no planted bug $b: tools/mutate/planted/ has them)))
# Of the C tests those that are to catch these bugs, and what a test of their file is linked with.
planted: $(PROGRAMS) $(LAB) $(if $(filter planted,$(MAKECMDGOALS)),$(sort $(shell sed -nE \
    -e 's|^test +(build/.*)|\1|p' -e 's|^file .*|$(LIBRARIES)|p' \
    -e 's|^check +large-scores.*|build/test/tools/ptxsim/test/test_large_scores|p' \
    $(if $(PLANTED),$(PLANTED:%=tools/mutate/planted/%.bug),tools/mutate/planted/*.bug))))
	@set -o pipefail; tools/mutate/planted.sh build/attention $(PLANTED) $(WRITTEN)

# Several commands come one after the other, as they are given: on a GPU they would slow each other.
# What they build does not wait.
one_by_one = $(if $(word 2,$1),$(eval $(word 2,$1): | $(word 1,$1))$(call \
    one_by_one,$(wordlist 2,$(words $1),$1)))
$(call one_by_one,$(call distinct,$(filter $(KNOWN),$(COMMANDS))))
