# Stages: every folder stages/NN_name with a kernel.cu is one; `stage07` in the goals selects it.
STAGES := $(sort $(patsubst stages/%/kernel.cu,%,\
    $(filter stages/%/kernel.cu,$(wildcard stages/[0-9][0-9]_*/kernel.cu))))
NUMBERS := $(foreach s,$(STAGES),$(firstword $(subst _, ,$s)))
same_number = $(patsubst %,stages/%,$(filter $1_%,$(STAGES)))
$(foreach n,$(NUMBERS),$(if $(word 2,$(call same_number,$n)),$(error \
    stage$n is more than one folder: $(call same_number,$n); move one away)))
stage_of = $(if $1,$(filter $(patsubst stage%,%,$1)_%,$(STAGES)))

# Each once, in the order of the first: a stage that is named twice would be two arguments.
distinct = $(if $1,$(firstword $1) $(call distinct,$(filter-out $(firstword $1),$1)))
STAGE_GOALS := $(strip $(call distinct,$(filter stage%,$(MAKECMDGOALS))))
SELECTED := $(or $(foreach g,$(STAGE_GOALS),$(call stage_of,$g)),$(STAGES))
$(foreach g,$(STAGE_GOALS),$(if $(call stage_of,$g),,\
    $(error there is no $g: the stages are $(addprefix stage,$(NUMBERS)))))

is_one_of = $(and $(filter 1,$(words $($1))),$(filter $($1),$2))
one_of = $(if $($1),$(if $(is_one_of),,$(error $1 must be one of: $2; not '$($1)')))
$(if $(filter trace,$(MAKECMDGOALS)),,$(call one_of,D,64 128))
$(call one_of,DTYPE,fp16 bf16)
$(call one_of,CAUSAL,0 1)
$(call one_of,DEVICE,auto gpu sim)
$(call one_of,FORCE,0 1)
# The formats of a command that takes FORMAT: text and json, unless said here.
FORMATS_annotate := text json html
FORMATS_timeline := text json perfetto svg
$(foreach g,sass count sass-diff ladder sass-ladder $(if $(STAGE_GOALS),,limits),\
    $(eval FORMATS_$g := text markdown json))
$(foreach g,$(filter-out help clean sass-baseline,$(COMMANDS)),$(if \
    $(filter FORMAT,$(call takes,$g)),$(call one_of,FORMAT,$(or $(FORMATS_$g),text json))))
$(foreach v,$(filter SIM_BUDGET JOBS,$(TAKEN)),$(if $($v),$(if $(shell \
    [[ '$($v)' =~ ^[1-9][0-9]*$$ ]] || echo bad),$(error \
    $v must be a whole number from 1; not '$($v)'))))

VARIANTS := $(foreach d,d64 d128,$(foreach t,fp16 bf16,$(foreach m,full causal,$d_$t_$m)))
VARIANT := d$(D)_$(DTYPE)_$(if $(filter 1,$(CAUSAL)),causal,full)
FORWARD = $(foreach v,$(OPTIONS),$(if $(filter-out file undefined,$(origin $v)),'$v=$($v)'))

# Without this program there is no GPU, and no shell asks it. Where PATH has blanks, one knows.
NVIDIA_SMI := $(or $(wildcard $(addsuffix /nvidia-smi,$(subst :, ,$(PATH)))),\
    $(if $(word 2,$(PATH)),$(shell command -v nvidia-smi)))
# The architecture: the GPU's own, else sm_80, which has stages 01 to 11. A stage whose header says
# `needs sm_90a` is built for that and nothing else; one that needs sm_80 is built for that, and
# simulated, where the GPU is older. GPU is an index among those that CUDA sees.
ifndef ARCH
ARCH := sm_$(or $(if $(NVIDIA_SMI),$(shell IFS=, read -ra visible <<<"$$CUDA_VISIBLE_DEVICES"; \
    cc=$$(nvidia-smi -i "$${visible[$(GPU)]:-$(GPU)}" --query-gpu=compute_cap \
    --format=csv,noheader 2>/dev/null); cc=$${cc/./}; \
    [[ $$cc =~ ^[0-9]+$$ && $$cc -ge 75 ]] && echo $$cc)),80)
endif
needing = $(foreach s,$(STAGES),$(if $(findstring needs $1,$(file <stages/$s/kernel.cu)),$s))
SM_75 := $(call needing,sm_75)
SM_90A := $(call needing,sm_90a)
arch_of = $(strip $(if $(filter $1,$(SM_90A)),sm_90a,\
    $(if $(filter $1,$(SM_75)),$(ARCH),$(ARCH:sm_75=sm_80))))
dir_of = $(KERNEL_ROOT)/$(call arch_of,$1)/$1
