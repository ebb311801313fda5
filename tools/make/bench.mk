# What the commands that need a GPU build or ask for first.

# Both head sizes and masks, unless the user chooses.
chosen = $(if $(filter-out file undefined,$(origin $1)),$($1))
BENCH_VARIANTS := $(foreach d,$(or $(call chosen,D),64 128),$(foreach c,\
    $(or $(call chosen,CAUSAL),0 1),d$d_$(DTYPE)_$(if $(filter 1,$c),causal,full)))

# Without a GPU, or Nsight Compute, a command says so before it builds. Where there is no GPU make
# does one thing at a time, so that nothing has begun by then.
NEED_GPU := $(filter bench roofline validate profile,$(MAKECMDGOALS))
ifneq ($(if $(NEED_GPU),$(shell \
    nvidia-smi -L >/dev/null 2>&1 || echo none)),)
.NOTPARALLEL:
endif
gpu:
	@nvidia-smi -L >/dev/null 2>&1 || { echo "$(NEED_GPU) needs a GPU," \
	    "and nvidia-smi finds none" >&2; exit 2; }
ifneq ($(filter roofline,$(MAKECMDGOALS)),)
$(if $(filter sm_75,$(ARCH)),$(error roofline needs compute capability 8.0 or newer: its roofs \
    are measured with the instructions of stage 08))
endif
ncu: gpu
	@. tools/profile/nsight.sh; need_ncu

# The roofs of the GPU are measured by a program of its own, with wgmma where there is such.
PEAKS_ARCH := $(if $(filter sm_90,$(ARCH)),sm_90a,$(ARCH))
PEAKS := build/$(PEAKS_ARCH)/peaks
$(PEAKS): tools/roofline/peaks.cu build/toolchain.mk
	@$(folder); $(call say,nvcc  $< ($(PEAKS_ARCH)))
	@$(NVCC) -std=c++17 -O3 -gencode arch=compute_$(PEAKS_ARCH:sm_%=%),code=$(PEAKS_ARCH) $< \
	    -o $(fresh) -cudart shared -L$(CUDA_LIB) -Xlinker -rpath,$(CUDA_LIB) && $(place)
	@$(said)
