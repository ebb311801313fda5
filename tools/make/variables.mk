# Variables: on the command line, as in `make stage07 run N=1024 CAUSAL=1`.
# Sizes left empty take the harness's defaults, which depend on the device.
D ?= 128
DTYPE ?= fp16
CAUSAL ?= 0
DEVICE ?= auto
GPU ?= 0

# All cores, unless the user says -j: compilers are most of a first run. A make that another started
# takes part in the jobs of that one; clean must be over before what follows it, and grade starts
# makes of its own.
ifeq ($(MAKELEVEL)$(filter clean grade,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(or $(shell nproc 2>/dev/null),1)
endif

# What is being built: on a terminal one line, over which the next is written and which is gone when
# that is done, in a log a line each.
say = { [ -t 2 ] && printf '\033[K%s\r' '$1' || echo '$1'; } >&2
said = { [ ! -t 2 ] || printf '\033[K' >&2; }

# The folder of what is made, in a recipe. Each line of one is a shell, and mkdir one more process.
folder = [ -d $(@D) ] || mkdir -p $(@D)

# Two makes may make the same file. What is not whole yet has a name of its own in each process, so
# neither reads half a file, and none that has its own name is removed when a make is interrupted
# (.PRECIOUS).
fresh = $@.$$$$.new
place = mv $(fresh) $@

# Loops become vectors as wide as this machine's processor has them. The level is among the flags,
# so on another processor the programs are built anew. On Arm all have the same, without an option.
PROCESSOR := $(file </proc/cpuinfo)
AVX2 := avx2 bmi1 bmi2 f16c fma abm movbe
AVX512 := avx512f avx512bw avx512cd avx512dq avx512vl
lacks = $(filter-out $(PROCESSOR),$1)
LEVEL := $(if $(call lacks,$(AVX2)),,-march=x86-64-v$(if $(call lacks,$(AVX512)),3,4))

CC ?= gcc
ifeq ($(strip $(CC)),) # an empty value is none
override CC := gcc
endif
CFLAGS ?= -O1
HOST_FLAGS := -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -pthread -MMD -MP \
              -ffp-contract=off $(LEVEL)
# Of what nvcc reads for each kernel a quarter are C++17's Bessel functions and the like, and the
# functions of <math.h> once more for _Float32 and the like, which nobody wants: as if it had read
# these headers of GCC and glibc already.
UNREAD := -D_GLIBCXX_BITS_SPECFUN_H -D_BITS_FLOATN_H
# GNU's faster linker, where there is one.
LINKER := $(if $(wildcard $(addsuffix /ld.gold,$(subst :, ,$(PATH)))),-Xcompiler -fuse-ld=gold)
NVCC_FLAGS = -std=c++17 -O3 -lineinfo $(NVCC_PLAIN) -Xcompiler -fPIC -shared -cudart none \
             -Icommon $(UNREAD) $(LINKER)
