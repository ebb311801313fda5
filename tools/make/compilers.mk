# Tool-chain: found or fetched by tools/toolchain/, remembered in build/.
NO_TOOLS := help clean diff plot trace
ifneq ($(filter-out $(NO_TOOLS),$(or $(MAKECMDGOALS),help)),)
include build/toolchain.mk
ifneq ($(filter command environment,$(firstword $(origin ARCH))),)
ifdef NVCC
$(call one_of,ARCH,$(shell $(NVCC) --list-gpu-code) sm_90a)
endif
endif
endif
build/toolchain.mk: tools/toolchain/toolchain.sh
	@tools/toolchain/toolchain.sh $@

# Kernels that only the simulator runs are PTX alone, in build/sim: ptxas would be a third of the
# time. Where whole ones have been built, these serve.
GPU_ARCHS := $(ARCH) $(if $(filter sm_90,$(ARCH)),sm_90a)
ON_SIM := $(filter sim,$(DEVICE)) $(filter counters annotate,$(MAKECMDGOALS))
ifneq ($(filter run counters annotate timeline,$(MAKECMDGOALS)),)
ifneq ($(filter run timeline,$(MAKECMDGOALS)),)
ifeq ($(strip $(ON_SIM)),)
ON_SIM := $(shell nvidia-smi -L >/dev/null 2>&1 || echo sim)
endif
endif
WHOLE := $(wildcard $(foreach s,$(SELECTED),build/$(call arch_of,$s)/$s/$(VARIANT).so))
KERNEL_ROOT := build$(if $(and $(strip $(ON_SIM)),$(if $(WHOLE)$(KERNEL),,x)),/sim)
endif

# Where the compiler serves the GPU and not the simulator (SIM_NVCC is empty), build/simulator.mk
# names another, found or fetched when it is first needed: for what only the simulator runs.
ifneq ($(CUDA_VERSION),)
ifeq ($(SIM_NVCC),)
TWO_COMPILERS := yes
SIM_ARCHS := $(filter-out $(GPU_ARCHS),$(foreach s,$(SELECTED),$(call arch_of,$s)))
SIM_ALONE := $(strip $(ON_SIM) $(filter mutate,$(MAKECMDGOALS)))
ifneq ($(SIM_ALONE)$(SIM_ARCHS),)
include build/simulator.mk
endif
ifneq ($(SIM_ALONE),)
KERNEL_ROOT := build/sim
NVCC := $(SIM_NVCC)
NVCC_PLAIN := $(SIM_PLAIN)
endif
endif
endif
KERNEL_ROOT ?= build
build/simulator.mk: build/toolchain.mk
	@tools/toolchain/toolchain.sh --simulator $@

# nvcc_for ARCH: the compiler and its flags.
for_sim = $(and $(TWO_COMPILERS),$(filter-out $(GPU_ARCHS),$1))
nvcc_for = $(if $(for_sim),$(SIM_NVCC) $(subst $(NVCC_PLAIN),$(SIM_PLAIN),$(NVCC_FLAGS)),\
    $(NVCC) $(NVCC_FLAGS))

# A file that changes only if the text changes: what depends on it is rebuilt then, and only then.
define remember
$1: force
	@mkdir -p $$(@D); echo '$2' | cmp -s - $$@ || echo '$2' > $$@
endef
$(eval $(call remember,build/flags/nvcc,$(NVCC_FLAGS)))
$(eval $(call remember,build/flags/host,$(CC) $(CFLAGS) $(HOST_FLAGS)))
.PHONY: force
force:
