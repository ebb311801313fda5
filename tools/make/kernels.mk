# Kernels: build/<arch>/<stage>/<variant>.so, PTX and machine code inside, or build/sim/..., PTX
# alone.
# Arguments: the architecture, the folder, the source where it is not the stage's, and what it
# depends on besides attention.h; the root if it is not KERNEL_ROOT.
# A file of the user's, unlike a stage, may include others: it is built again when one of them
# changes, and as `file:` in the list any of them, or the file itself, may be gone. A stamped copy
# finds them beside the file that it is a copy of.
# nvcc fails if stdin is closed.
define kernel_rule
$(or $4,$(KERNEL_ROOT))/$1/$2/%.so: $(or $3,stages/$2/kernel.cu) common/attention.h \
        $(call flags_of,$(or $4,$(KERNEL_ROOT))) build/toolchain.mk
	@$$(folder); $$(call say,nvcc  $2 $$* ($1)); trap 'rm -f $$(fresh)*' EXIT; \
	$$(call nvcc_for,$1,$(or $4,$(KERNEL_ROOT))) \
	    -gencode arch=$(call ptx_of,$1),$(call code,$1) \
	    $$(call macros,$$*,$1) $$< $(if $3,-MMD -MP -MT $$@ -MF $$(fresh).d) \
	    $(if $(KERNEL),-I$(dir $(KERNEL))) \
	    -o $$(fresh) </dev/null 2>$$(fresh).log; code=$$$$?; \
	if [ -s $$(fresh).log ]; then cat $$(fresh).log >&2; \
	    ! grep -q '(C75' $$(fresh).log || { code=1; \
	        echo "$$<: ptxas had to change how wgmma is issued, see the message above." >&2; \
	        echo "notes/12_wgmma.md, Pitfalls, says what is usually missing." >&2; }; \
	elif [ $$$$code -ne 0 ]; then \
	    echo "$$<: the compiler failed and said nothing: is the disk of build/ full?" >&2; \
	fi; [ $$$$code -eq 0 ] || exit 1; \
	$(if $3,echo '$$<:' >>$$(fresh).d && mv $$(fresh).d $$@.d &&) \
	$$(place) && $$(said)
$(or $4,$(KERNEL_ROOT))/$1/$2/%.ptx: $(or $3,stages/$2/kernel.cu) common/attention.h \
        $(call flags_of,$(or $4,$(KERNEL_ROOT))) build/toolchain.mk
	@$$(folder)
	@$$(firstword $$(call nvcc_for,$1,$(or $4,$(KERNEL_ROOT)))) -std=c++17 -O3 -lineinfo \
	    -Icommon -ptx -arch=$(call ptx_of,$1) $$(call macros,$$*,$1) $$< -o $$(fresh) </dev/null && \
	    $$(place)
.PRECIOUS: $(or $4,$(KERNEL_ROOT))/$1/$2/%.so
$(if $3,-include $(wildcard $(or $4,$(KERNEL_ROOT))/$1/$2/*.so.d))
endef
comma := ,
ptx_of = compute_$(1:sm_%=%)
code = code=$(if $(filter build/sim,$(KERNEL_ROOT)),$(ptx_of),[$1$(comma)$(ptx_of)])
macros = -DHEAD_DIM=$(if $(findstring d64_,$1),64,128) \
         -DELEMENT_BF16=$(if $(findstring bf16,$1),1,0) -DCAUSAL=$(if $(findstring causal,$1),1,0) \
         -DTARGET_SM=$(patsubst %a,%,$(2:sm_%=%))
ROOTS := $(sort $(KERNEL_ROOT) $(SIM_ROOT))
# The compiler and its flags, of which each root may have others.
flags_of = build/flags/nvcc_$(notdir $1)
$(foreach r,$(ROOTS),$(eval $(call remember,$(call flags_of,$r),$(strip $(call \
    nvcc_for,$(firstword $(GPU_ARCHS)),$r)))))
$(foreach r,$(ROOTS),$(foreach s,$(STAGES),\
    $(eval $(call kernel_rule,$(call arch_of,$s),$s,,$r))))
# A file of the user's and a sum of what is in it and in those beside it that it includes: cp -p and
# mv put one in its place that is older than what was built. A file that is not there is refused
# later, in a sentence.
file_and_sum = $1 $(shell { cd '$(dir $1)' && cat '$(notdir $1)' $$(sed -n \
    's/^ *\# *include *"\([^"]*\)".*/\1/p' '$(notdir $1)'); } 2>/dev/null | cksum)
KERNEL_FLAGS := $(if $(KERNEL),build/flags/$(subst /,_,$(KERNEL_FOLDER)))
ifdef KERNEL
$(eval $(call remember,$(KERNEL_FLAGS),$(call file_and_sum,$(KERNEL))))
$(foreach r,$(ROOTS),$(eval $(call kernel_rule,$(call arch_of,$(SELECTED)),$(KERNEL_FOLDER),\
    $(KERNEL) $(KERNEL_FLAGS),$r)))
endif
KERNELS := $(SELECTED_DIRS:%=%/$(VARIANT).so)
# What the simulator runs of these, where a command runs kernels on both.
simulated = $(patsubst $(KERNEL_ROOT)/%,$(SIM_ROOT)/%,$1)
ALL_KERNELS := $(foreach v,$(VARIANTS),$(SELECTED_DIRS:%=%/$v.so))
