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

# A file that changes only if the text changes: what depends on it is rebuilt then, and only then.
define remember
$1: force
	@mkdir -p $$(@D); echo '$2' | cmp -s - $$@ || echo '$2' > $$@
endef
$(eval $(call remember,build/flags/nvcc,$(NVCC_FLAGS)))
$(eval $(call remember,build/flags/host,$(CC) $(CFLAGS) $(HOST_FLAGS)))
.PHONY: force
force:
