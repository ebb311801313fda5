# The folders of the selected stages' kernels; commands of one stage; KERNEL=... in place of its own
# file.
SELECTED_DIRS := $(foreach s,$(SELECTED),$(call dir_of,$s))
one_stage = $(if $(filter 1,$(words $(STAGE_GOALS))),,$(error $1 needs one stage: make stage07 $1))
$(foreach g,$(filter tune start grade,$(MAKECMDGOALS)),$(call one_stage,$g))
ifneq ($(filter html,$(FORMAT)),)
$(foreach g,$(filter annotate,$(MAKECMDGOALS)),$(call one_stage,$g FORMAT=html))
endif
# Nobody reads these on a terminal. The shell's own output is a pipe, so it asks for that of make.
ifneq ($(and $(filter annotate timeline,$(MAKECMDGOALS)),$(filter html perfetto svg,$(FORMAT))),)
$(if $(shell { [ -t 3 ] && echo yes; } 3>>/proc/$$PPID/fd/1),$(error \
    FORMAT=$(FORMAT) is for a file, and this is a terminal: add \
    >$(if $(filter perfetto,$(FORMAT)),trace.json,page.$(FORMAT))))
endif

# KERNEL=work/07_swizzle/kernel.cu in place of the selected stage's own file, for every command.
ifneq ($(filter grade,$(MAKECMDGOALS)),)
KERNEL ?= work/$(SELECTED)/kernel.cu
endif
# Where it is built: work/07_swizzle/kernel.cu in a folder of that name, each other file in one with
# a number, so that makes on the kernels of several learners do not run each other's.
other_kernel = $(filter-out work/$(SELECTED)/kernel.cu,$(KERNEL))
KERNEL_FOLDER := $(if $(KERNEL),work/$(if $(other_kernel),$(firstword \
    $(shell cksum <<<'$(KERNEL)'))/)$(SELECTED))
ifdef KERNEL
$(if $(filter 1,$(words $(STAGE_GOALS))),,$(error KERNEL needs one stage, as in make stage07 run))
$(if $(filter %.cu,$(KERNEL)),,$(error KERNEL must be a file of CUDA, as in \
    KERNEL=work/$(SELECTED)/kernel.cu; not '$(KERNEL)'))
REFUSED := $(shell tools/exercise/exercise.sh check $(SELECTED) '$(KERNEL)' 2>&1)
$(if $(REFUSED),$(error $(REFUSED)))
$(if $(filter grade,$(MAKECMDGOALS))$(shell [ ! -f '$(KERNEL)' ] || echo yes),,\
    $(error KERNEL=$(KERNEL): there is no such file$(if $(filter-out $(firstword $(STAGES)),\
    $(SELECTED)),; make $(STAGE_GOALS) start makes \
    $(patsubst $(KERNEL),one,work/$(SELECTED)/kernel.cu))))
REFERENCE := $(SELECTED_DIRS)
SELECTED_DIRS := $(KERNEL_ROOT)/$(call arch_of,$(SELECTED))/$(KERNEL_FOLDER)
endif
