# Tool-chain: found or fetched by tools/toolchain/, remembered in build/.
NO_TOOLS := help clean diff plot trace
NEED_TOOLS := $(filter-out $(NO_TOOLS),$(or $(COMMANDS),$(MAKECMDGOALS),help))
# Where a command writes is asked before it begins; of sudo make folders in build/ may be left.
WRITES := $(if $(NEED_TOOLS),build) \
          $(if $(filter start,$(MAKECMDGOALS)),work) \
          $(if $(filter sass-baseline,$(MAKECMDGOALS)),notes/results)
unwritable = $(shell [ -d $1 ] || mkdir -p $1 2>/dev/null || echo $1; \
    find $1 -maxdepth 4 -type d ! -writable -print -quit 2>/dev/null)
$(foreach d,$(WRITES),$(foreach u,$(firstword $(call unwritable,$d)),$(error \
    $u cannot be written: it is a file, or a folder of another user or on a read-only disk)))
# Compilers and scripts write into TMPDIR; an empty one is none to scripts, but not to compilers.
ifeq ($(value TMPDIR),)
unexport TMPDIR
else
$(if $(NEED_TOOLS),$(if $(shell [ -d "$$TMPDIR" -a -w "$$TMPDIR" ] || echo no),$(error \
    TMPDIR must be a folder that can be written; not '$(value TMPDIR)')))
endif
# gone FILE: "force" if it names what is no longer there, because the checkout or the CUDA Toolkit
# has moved: it is written anew then.
GONE := $(if $(NEED_TOOLS),$(shell for names in $(wildcard build/*.mk build/*.path); do \
    while read -r line; do file=$${line/* := /}; [[ $$file != /* || -e $$file ]] || echo $$names; \
    done <$$names; done))
gone = $(if $(filter $1,$(GONE)),force)
# Asked before minutes of compiling. Where PATH has blanks, a shell knows.
wants = $(if $(or $(wildcard $(addsuffix /$1,$(subst :, ,$(PATH)))),$(shell command -v $1)),,\
    $(error $1 was not found: install $2))
ifneq ($(NEED_TOOLS),)
$(foreach t,cmp diff,$(call wants,$t,diffutils))
$(if $(filter test,$(MAKECMDGOALS)),$(call wants,prove,perl))
# PTX names the sources in quotes.
$(if $(findstring ",$(CURDIR)),$(error ptxas cannot read a path with a quotation mark: $(CURDIR)))
# The compiler that is known is kept until build/toolchain.mk is gone.
CHOSEN_NVCC := $(if $(filter environment0,$(origin NVCC)$(MAKELEVEL)),$(NVCC))
# Until there is one, nothing is known: NVIDIA's images have a CUDA_VERSION in the environment.
CUDA_VERSION :=
include build/toolchain.mk
ifeq ($(if $(CHOSEN_NVCC),$(origin NVCC)),file)
$(if $(filter $(realpath $(shell command -v $(CHOSEN_NVCC))),$(realpath $(NVCC))),,$(warning \
    NVCC=$(CHOSEN_NVCC) is not used: $(NVCC) is known here. After make clean it is tried first))
endif
ifneq ($(filter command environment,$(firstword $(origin ARCH))),)
ifdef NVCC
$(call one_of,ARCH,$(shell $(NVCC) --list-gpu-code) sm_90a)
endif
endif
endif
build/toolchain.mk: tools/toolchain/toolchain.sh $(call gone,build/toolchain.mk)
	@tools/toolchain/toolchain.sh $@

.PRECIOUS: build/toolchain.mk build/simulator.mk build/disassembler.mk

# Some commands run kernels in the simulator alone, others there as well or where there is no GPU.
# FOR=simulator is what grade gives to the makes that it starts. Without a GPU validate only says
# so.
SIMULATED := counters annotate explore site grade mutate planted check-sass limits
ALSO_SIMULATED := test compare $(if $(filter validate,$(MAKECMDGOALS)),$(shell \
    nvidia-smi -L >/dev/null 2>&1 && echo validate))
ON_DEVICE := run grid fuzz repeat sanitize tune timeline $(ALSO_SIMULATED)
RUNNING := $(filter $(SIMULATED) $(ON_DEVICE),$(MAKECMDGOALS))
ifneq ($(filter $(ON_DEVICE),$(RUNNING)),)
NO_GPU := $(or $(filter sim,$(DEVICE)),$(DRIVER_TOO_OLD),$(if $(NVIDIA_SMI),$(shell \
    nvidia-smi -L >/dev/null 2>&1 || echo none),none))
endif
SIM_ALONE := $(strip $(filter simulator,$(FOR)) $(if $(RUNNING),\
    $(if $(filter-out $(SIMULATED) $(if $(NO_GPU),$(ON_DEVICE)),$(RUNNING)),,yes)))
GPU_ARCHS := $(ARCH) $(if $(filter sm_90,$(ARCH)),sm_90a)
SIM_ARCHS := $(if $(RUNNING),$(filter-out $(GPU_ARCHS),$(foreach s,$(SELECTED),$(call arch_of,$s))))

# The simulator has a compiler of its own if what the GPU's makes does not run there. The trial
# needs the simulator, so build/simulator.mk comes when that is first needed, and is built (see
# harness.mk). Until then it is empty, and older than all else: if an included file is not there,
# make complains of that when anything else fails.
ifneq ($(CUDA_VERSION),)
ifneq ($(SIM_ALONE)$(SIM_ARCHS)$(filter $(SIMULATED) $(ALSO_SIMULATED),$(RUNNING)),)
ifeq ($(wildcard build/simulator.mk),)
$(shell touch -d 2000-01-01 build/simulator.mk)
endif
include build/simulator.mk
endif
endif
build/simulator.mk: build/toolchain.mk $(call gone,build/simulator.mk)
	@tools/toolchain/toolchain.sh --simulator build/attention-sim $@
TWO_COMPILERS := $(if $(SIM_NVCC),$(if $(filter-out $(NVCC),$(SIM_NVCC)),yes))

# KERNEL_ROOT has the kernels of the command: build/ those for the GPU, build/sim those that only
# the simulator runs, PTX alone, because ptxas would be a third of the time. Where whole ones have
# been built, these serve. With two compilers build/sim_whole has those of the simulator's, and
# SIM_ROOT is where a command that runs on both finds what it simulates.
ifneq ($(TWO_COMPILERS)$(filter-out stage% clean run counters annotate \
    timeline,$(MAKECMDGOALS)),)
WHOLE := yes
else
WHOLE := $(KERNEL)$(wildcard $(foreach s,$(SELECTED),build/$(call arch_of,$s)/$s/$(VARIANT).so))
endif
KERNEL_ROOT := build$(if $(SIM_ALONE),$(if $(WHOLE),$(if $(TWO_COMPILERS),/sim_whole),/sim))
SIM_ROOT := $(if $(TWO_COMPILERS),build/sim_whole,$(KERNEL_ROOT))
ifneq ($(TWO_COMPILERS),)
ifneq ($(SIM_ALONE),)
$(if $(filter command,$(firstword $(origin NVCC))),$(warning NVCC=$(NVCC) is not used: $(SIM_NVCC) \
    is the simulator's compiler here. After make clean it is tried first))
NVCC := $(SIM_NVCC)
NVCC_PLAIN := $(SIM_PLAIN)
else
$(if $(filter $(SIMULATED),$(RUNNING)),$(error the compiler for the GPU is not the simulator's \
    here, so $(filter $(SIMULATED),$(RUNNING)) needs a make of its own))
endif
endif

# nvcc_for ARCH,ROOT: the compiler and its flags.
for_sim = $(and $(TWO_COMPILERS),$(or $(filter build/sim_whole,$2),$(filter-out $(GPU_ARCHS),$1)))
nvcc_for = $(if $(for_sim),$(SIM_NVCC) $(subst $(NVCC_PLAIN),$(SIM_PLAIN),$(NVCC_FLAGS)),\
    $(NVCC) $(NVCC_FLAGS))

# A file that changes only if the text changes: what depends on it is rebuilt then, and only then.
differ = $(subst $1,,$2)$(subst $2,,$1)
define remember
$1: $(if $(call differ,$2,$(if $(wildcard $1),$(file <$1))),force)
	@$$(folder); echo '$2' >$$@
endef
$(eval $(call remember,build/flags/host,$(CC) $(CFLAGS) $(HOST_FLAGS)))
.PHONY: force
force:
