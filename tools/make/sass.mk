# SASS lab: what the compiler made of the stages; no GPU is needed.
SASS_GOALS := sass count sass-diff compare ladder sass-ladder sass-baseline check-sass
SASS := $(call objects,tools/sass $(addprefix tools/sass/,analysis limits replay commands))
LIBSASS := $(filter-out %/main.o,$(SASS)) build/host/common/base/error.o
$(call depend,$(SASS))
build/sass: $(SASS) build/host/common/base/error.o
	@$(call say,link  $@)
	@$(CC) -rdynamic $^ -ldl -lm -o $(fresh) && $(place)
	@$(said)
build/test/tools/sass/%: build/host/tools/sass/%.o $(LIBSASS)
	@$(folder); $(CC) -rdynamic $^ -ldl -lm -o $(fresh) && $(place)
build/disassembler.mk: build/toolchain.mk $(call gone,build/disassembler.mk)
	@tools/toolchain/toolchain.sh --disassembler $@

# Before a command: the disassembler that build/disassembler.mk names, in its environment.
LAB := build/sass build/disassembler.mk
LAB_RUN = while IFS= read -r line; do export "$${line/ := /=}"; done <build/disassembler.mk; \
    build/sass
# Listings are kept for the next command.
export LISTINGS := build/listings
LAB_FORWARD = $(strip $(foreach v,FORMAT LINE INSTR PTX CLEAN,$(if $($v),'$v=$($v)')))

# A stage asked for by name does not silently become one for another architecture.
named = $(foreach n,$(STAGE_GOALS) $(FROM) $(TO),$(call stage_of,$n))
ARCH_GIVEN := $(filter command environment,$(firstword $(origin ARCH)))
ifneq ($(ARCH_GIVEN),)
$(foreach s,$(filter $(SM_90A),$(named)),$(if $(filter-out sm_90a,$(ARCH)),\
    $(error $s needs sm_90a: ARCH must be one of: sm_90a; not '$(ARCH)')))
$(foreach s,$(filter-out $(SM_75),$(named)),$(if $(filter sm_75,$(ARCH)),\
    $(error $s needs sm_80 or newer: ARCH must not be sm_75)))
endif

# Signatures are checked for all generations: every variant of a stage for its own architecture,
# of those that run on sm_90a as well also SASS_VARIANTS for that, and of those that run on sm_75
# SM_75_VARIANTS. ARCH=... checks that one alone, KERNEL=... the variant asked for.
SASS_VARIANTS ?= d128_fp16_full
SM_75_VARIANTS ?= d128_fp16_causal d64_bf16_full
signed = $(if $(filter $1,$(SM_90A)),$(VARIANTS:%=$(SIM_ROOT)/sm_90a/$1/%.so),$(if $(ARCH_GIVEN),\
    $(VARIANTS:%=$(SIM_ROOT)/$(call arch_of,$1)/$1/%.so),\
    $(VARIANTS:%=$(SIM_ROOT)/sm_80/$1/%.so) $(SASS_VARIANTS:%=$(SIM_ROOT)/sm_90a/$1/%.so) \
    $(if $(filter $1,$(SM_75)),$(SM_75_VARIANTS:%=$(SIM_ROOT)/sm_75/$1/%.so))))
SIGNED := $(strip $(if $(KERNEL),$(KERNELS),$(foreach s,$(SELECTED),$(call signed,$s))))
BASELINE := $(strip $(foreach s,$(STAGES),\
    $(SIM_ROOT)/$(if $(filter $s,$(SM_90A)),sm_90a,sm_80)/$s/d128_fp16_full.so))
$(foreach s,$(filter-out $(SM_90A),$(STAGES)),$(foreach a,$(filter-out $(call arch_of,$s),\
    $(if $(filter $s,$(SM_75)),sm_75) sm_80 sm_90a),$(eval $(call kernel_rule,$a,$s,,$(SIM_ROOT)))))
test: build/sass $(SIGNED)
test: export SIGNED := $(SIGNED)
test: export BASELINE := $(BASELINE)

# Of the stages before those shown come the differences, each built for its own architecture.
STEPS := $(join $(patsubst %,%:,$(sort $(STAGES))),$(wordlist 2,99,$(sort $(STAGES))))
before = $(patsubst %:$1,%,$(filter %:$1,$(STEPS)))
LADDER := $(sort $(SELECTED_DIRS) \
    $(foreach s,$(SELECTED),$(foreach b,$(call before,$s),$(call dir_of,$b))))
