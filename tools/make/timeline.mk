# Timeline: a stamped copy of every stage that has a timeline.marks, in build/<arch>/timeline/, and
# the page of what its stamps say.
MARKED := $(patsubst stages/%/timeline.marks,%,$(wildcard stages/*/timeline.marks))
RECORDED := $(patsubst notes/results/timeline/%.json,%,$(wildcard notes/results/timeline/*.json))
STAMPS := tools/timeline/stamp.awk tools/timeline/stamp.cuh

# Arguments: a stage, the folder of its copy, what else the copy depends on.
stamped_folder = timeline/$(or $(KERNEL_FOLDER),$1)
stamped_so = $(KERNEL_ROOT)/$(call arch_of,$1)/$(call stamped_folder,$1)/$(VARIANT).so
define stamped_rule
build/$2/kernel.cu: $(call source_of,$1) stages/$1/timeline.marks $(STAMPS) $3
	@$$(folder)
	@awk -v macros=tools/timeline/stamp.cuh -f tools/timeline/stamp.awk \
	    stages/$1/timeline.marks $(call source_of,$1) >$$(fresh) && $$(place)
$(call kernel_rule,$(call arch_of,$1),$2,build/$2/kernel.cu common/stamped.h)
endef
ifneq ($(filter timeline,$(MAKECMDGOALS)),)
$(if $(STAGE_GOALS),$(foreach s,$(filter-out $(MARKED),$(SELECTED)),$(error $s has no timeline:\
    the stages are $(foreach m,$(MARKED),stage$(firstword $(subst _, ,$m))))))
TIMED := $(filter $(MARKED),$(SELECTED))
else ifneq ($(filter test,$(MAKECMDGOALS)),)
TIMED := $(foreach n,06 10 12 16,$(call stage_of,$n)) # two tests, side by side, make pages of them
endif
TIMED_KERNELS := $(filter $(foreach s,$(TIMED),%/$s/$(VARIANT).so),$(KERNELS))
STAMPED := $(foreach s,$(TIMED),$(call stamped_so,$s))
$(foreach s,$(TIMED),$(eval $(call stamped_rule,$s,$(call stamped_folder,$s),$(KERNEL_FLAGS))))
test: $(STAMPED)
timeline_page = build/timeline/$1_$(VARIANT)$(of_file).html

# On the site: a page of every record in notes/results/timeline/.
define site_timeline
$(SITE)/timeline/$1.html: notes/results/timeline/$1.json stages/$1/kernel.cu $(PAGE_FILES)
	@$$(folder)
	@NAV='$(call site_nav,$1,$(call before,$1),timeline)' \
	    tools/page/timeline/page.sh $1 stages/$1/kernel.cu $$< $$@
SITE_PAGES += $(SITE)/timeline/$1.html
endef
ifneq ($(filter site,$(MAKECMDGOALS)),)
$(foreach s,$(RECORDED),$(eval $(call site_timeline,$s)))
endif
