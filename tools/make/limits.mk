# Limits: which unit of a GPU binds a stage, and how fast that lets it be. The GPU is a file of
# numbers, tools/limits/machines/NAME.txt, so here alone GPU= is a name, not an index.
MACHINES := $(patsubst tools/limits/machines/%.txt,%,$(wildcard tools/limits/machines/*.txt))
ifneq ($(filter limits,$(MAKECMDGOALS)),)
MACHINE := $(if $(call is_given,GPU),$(GPU),h200)
$(if $(filter 1,$(words $(filter $(MACHINE),$(MACHINES)))),,$(error \
    GPU of limits must be one of: $(MACHINES); not '$(MACHINE)'))
ARCH := sm_$(shell sed -n 's/^capability  *\([0-9]*\) .*/\1/p' tools/limits/machines/$(MACHINE).txt)
endif

# The stages that the machine can run, in the variant asked for; of the ladder in all those that D,
# CAUSAL and DTYPE leave.
can_run = $(filter $(ARCH) $(if $(filter sm_90,$(ARCH)),sm_90a),$(call arch_of,$1))
CAN_RUN = $(foreach s,$(SELECTED),$(if $(call can_run,$s),$s))
CANNOT_RUN = $(subst /, ,$(subst $(SPACE),$(COMMA) ,$(foreach s,$(filter-out $(CAN_RUN),\
    $(SELECTED)),$s/of/$(call arch_of,$s))))
LIMITED = $(foreach v,$(if $(STAGE_GOALS),$(VARIANT),$(BENCH_VARIANTS)),$(patsubst %,%/$v.so,\
    $(filter $(addprefix %/,$(CAN_RUN)),$(SELECTED_DIRS))))
LIMITS_FORWARD = $(strip GPU=$(MACHINE) $(if $(KERNEL),,RESULTS=notes/results) \
    $(foreach v,B H N FORMAT,$(if $($v),'$v=$($v)')))
