# Pages: explore, compare and the site.
# Every file that a page is made of.
PAGE_FILES := $(wildcard tools/page/* tools/page/*/*)

# Two kernels: FROM, TO. Each is a stage's number or a kernel's file, whose header names its stage.
file_stage = $(if $(wildcard $(filter %.cu,$1)),$(call stage_of,$(shell \
    [ ! -f '$1' ] || sed -nE '1s,^// (Stage|Exercise) ([0-9]*):.*,\2,p' '$1')))
side_stage = $(or $(call stage_of,$($1)),$(call file_stage,$($1)),$(error \
    $1 must be one of: $(NUMBERS), or the file of a kernel of these stages; not '$($1)'))
side = $(or $(call stage_of,$($1)),$($1))
$(if $(filter diff sass-diff compare,$(MAKECMDGOALS)),$(if $(filter $(call side,FROM),$(call \
    side,TO)),$(error FROM and TO are both $(call side,TO): they must be two)))
side_folder = $(if $(call stage_of,$($1)),,compare_$1/)
side_dir = $(KERNEL_ROOT)/$(call arch_of,$(side_stage))/$(side_folder)$(side_stage)
PAIR := $(if $(filter sass-diff compare,$(MAKECMDGOALS)),$(foreach v,FROM TO,$(call side_dir,$v)))
ifneq ($(PAIR),)
$(foreach v,FROM TO,$(if $(call side_folder,$v),\
    $(eval $(call remember,build/flags/compare_$v,$(call file_and_sum,$($v))))\
    $(foreach r,$(ROOTS),$(eval $(call kernel_rule,$(call arch_of,$(call side_stage,$v)),$(call \
        side_folder,$v)$(call side_stage,$v),\
        $($v) build/flags/compare_$v,$r)))))
endif
compared = $(firstword $(subst _, ,$(call side_stage,$1)))$(if $(call side_folder,$1),_$(call \
    name_of,$($1)))

# A page of one recorded block; the page of a file has its name.
name_of = $(basename $(notdir $1))
of_file = $(if $(KERNEL),_$(call name_of,$(KERNEL)))
page_of = build/explore/$1_$(VARIANT)$(of_file).html
source_of = $(or $(KERNEL),stages/$1/kernel.cu)

# The site: chapters, explorer and comparisons as pages that any web server can hold. The stages are
# those of variant d128_fp16_full. Each page is made anew if what it shows changes.
SITE := build/site
SITE_DOCS := README.md $(wildcard notes/*.md notes/results/*.md tools/*/*.md tools/*/*/*.md)
site_page = $(SITE)/$(patsubst %.md,%.html,$(patsubst %README.md,%index.md,$1))
site_root = $(subst $() ,,$(patsubst %,../,$(wordlist 2,9,$(subst /, ,$1))))
site_so = $(call dir_of,$1)/d128_fp16_full.so
site_pair = $(firstword $(subst _, ,$1))_$(firstword $(subst _, ,$2))
# The links in the head of a stage's page. Arguments: the stage, the one before it, the page's kind,
# to which it does not link.
site_link = <a href="../$1.html">$2</a>
site_nav = $(call site_link,index,ladder) $(call site_link,notes/$1,chapter) \
    $(if $(filter-out explore,$3),$(call site_link,explore/$1,explorer)) \
    $(if $(filter-out timeline,$3),$(if $(wildcard notes/results/timeline/$1.json),\
        $(call site_link,timeline/$1,timeline))) \
    $(if $(filter-out compare,$3),$(if $2,\
        $(call site_link,compare/$(call site_pair,$2,$1),beside $(firstword $(subst _, ,$2)))))
$(SITE)/explore/%: export LAB_SHOW := $(LAB_RUN) show
$(SITE)/compare/%: export LAB_RUN := $(LAB_RUN)

define site_doc
$(call site_page,$1): $1 build/markdown.path $(PAGE_FILES)
	@tools/page/site/chapter.sh "$$$$(cat build/markdown.path)" $1 $$@ '$(call site_root,$1)'
SITE_PAGES += $(call site_page,$1)
endef
# Arguments: a stage and the one before it.
define site_stage
$(SITE)/explore/$1.html: $(call site_so,$1) build/attention build/attention-sim $(LAB) $(PAGE_FILES)
	@NAV='$(call site_nav,$1,$2,explore)' tools/page/explore/explore.sh \
	    build/attention $1 stages/$1/kernel.cu '$(patsubst %,stages/%/kernel.cu,$2)' $$< $$@
SITE_PAGES += $(SITE)/explore/$1.html
$(if $2,
$(SITE)/compare/$(call site_pair,$2,$1).html: $(call site_so,$2) $(call site_so,$1) \
        build/attention build/attention-sim $(LAB) $(PAGE_FILES)
	@NAV='$(call site_nav,$1,$2,compare)' tools/page/compare/compare.sh build/attention \
	    $(call site_so,$2) $(call site_so,$1) $$@
SITE_PAGES += $(SITE)/compare/$(call site_pair,$2,$1).html
)
endef
ifneq ($(filter site,$(MAKECMDGOALS)),)
$(foreach d,$(SITE_DOCS),$(eval $(call site_doc,$d)))
$(foreach s,$(STAGES),$(eval $(call site_stage,$s,$(call before,$s))))
endif
build/markdown.path: tools/page/site/markdown.sh $(call gone,build/markdown.path)
	@tools/page/site/markdown.sh build/markdown >$(fresh) && $(place)
