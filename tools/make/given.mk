# The values that the user gives: which are refused, and by which commands.

# What the user gives becomes part of shell commands, so what a shell or make would take for more
# than a value is refused before either sees it: before the first $(shell ...), to which make 4.4
# hands all of them, expanded.
define NEWLINE


endef
SPACE := $(NEWLINE:%=) $(NEWLINE:%=)
COMMA := ,
OPEN := (
CLOSE := )
UNSAFE := ' " ` \ ; & | < > { } ! \# $$ $(OPEN) $(CLOSE)
unsafe = $(strip $(foreach c,$(UNSAFE),$(findstring $c,$1))\
    $(if $(findstring $(NEWLINE),$1),newline))
$(foreach g,$(MAKECMDGOALS),$(if $(call unsafe,$g),$(error there is no such goal: $g)))

# The variables of the user, those of the harness first; a value of those in WORDS has no blanks
# either.
OPTIONS := B H HKV N NKV D CAUSAL DTYPE INIT STRENGTH SEED SCALE LSE DEVICE GPU FORMAT REPS SEQS \
           GRID RUNS LIMIT SECONDS REGIME SUSTAINED
WORDS := $(OPTIONS) ARCH FROM TO BR BC WARPS MUTANTS JOBS BUGS PEERS LINE INSTR PTX CLEAN BLOCK \
         KERNEL CODE SIM_BUDGET FORCE
USERS := $(WORDS) RESULTS
# Those of who works on the tree; every command takes them, and the help is silent about them.
SETTINGS := CC CFLAGS HOST_FLAGS PROCESSOR NVCC NVCC_FLAGS VARIANTS SASS_VARIANTS SM_75_VARIANTS \
            C_TESTS LONG_TESTS SCRIPT_TESTS FOR BUILD_ALONE

# What each command takes; one without a row takes all, and the names alone build. A variable that
# would change nothing is refused.
BUILT := D DTYPE CAUSAL ARCH KERNEL
INPUTS := INIT STRENGTH SEED
PROBLEM := $(BUILT) $(INPUTS) B H HKV N NKV SCALE LSE FORMAT
SIMULATOR := SIM_BUDGET FORCE
DEVICES := DEVICE GPU LIMIT $(SIMULATOR)
CASES := $(BUILT) $(INPUTS) $(DEVICES) FORMAT
LISTED := $(BUILT) FORMAT
TAKES_run := $(PROBLEM) $(DEVICES) REPS RUNS
TAKES_counters := $(PROBLEM) $(SIMULATOR)
TAKES_annotate := $(PROBLEM) $(SIMULATOR)
TAKES_explore := $(PROBLEM) $(SIMULATOR) BLOCK
TAKES_timeline := $(PROBLEM) $(DEVICES) REPS BLOCK RESULTS
TAKES_compare := $(filter-out FORMAT KERNEL,$(PROBLEM)) $(SIMULATOR) FROM TO GPU REPS
TAKES_limits := D DTYPE CAUSAL GPU FORMAT $(if $(filter stage%,$(MAKECMDGOALS)),B H N KERNEL)
TAKES_site := ARCH
TAKES_sanitize := $(filter-out FORMAT,$(PROBLEM)) $(DEVICES)
TAKES_validate := $(filter-out FORMAT,$(PROBLEM)) $(SIMULATOR) GPU
TAKES_profile := $(filter-out FORMAT,$(PROBLEM)) GPU LIMIT
TAKES_roofline := $(PROBLEM) DEVICE GPU LIMIT REPS RESULTS
TAKES_bench := $(TAKES_roofline) SEQS REGIME SUSTAINED PEERS
TAKES_grid := $(CASES) GRID
TAKES_fuzz := $(CASES) SECONDS
TAKES_repeat := $(CASES) RUNS LSE
TAKES_tune := $(filter-out FORMAT,$(PROBLEM)) $(DEVICES) REPS BR BC WARPS
TAKES_grade := ARCH KERNEL $(SIMULATOR)
TAKES_start := ARCH
TAKES_mutate := ARCH MUTANTS SEED JOBS CODE
TAKES_planted := BUGS JOBS
TAKES_sass := $(LISTED) LINE INSTR PTX CLEAN
TAKES_count := $(LISTED)
TAKES_ladder := $(LISTED)
TAKES_sass-ladder := $(LISTED)
TAKES_sass-diff := $(LISTED) FROM TO
TAKES_check-sass := $(BUILT)
TAKES_ptx := $(BUILT)
TAKES_stage := $(BUILT)
TAKES_test := ARCH
TAKES_diff := FROM TO
TAKES_plot := RESULTS
TAKES_trace := N D BC CAUSAL SEED
TAKES_help :=
TAKES_clean :=
takes = $(if $(filter undefined,$(origin TAKES_$1)),$(USERS),$(TAKES_$1))
COMMANDS := $(filter-out stage%,$(MAKECMDGOALS))
TAKEN := $(sort $(foreach g,$(or $(COMMANDS),$(if $(MAKECMDGOALS),stage,help)),$(call takes,$g)))
# In the environment a variable may be meant for other commands: one that this does not take is
# none. GPU says for which card anything is built.
$(foreach v,$(filter-out $(TAKEN) $(if $(TAKEN),GPU),$(USERS)),$(if \
    $(filter environment,$(firstword $(origin $v))),$(eval override undefine $v)))

is_given = $(filter-out file undefined default automatic,$(firstword $(origin $1)))
$(foreach v,$(USERS),$(if $(call is_given,$v),$(if $(call unsafe,$(value $v)),\
    $(error $v has a character that no value of it has: $(call unsafe,$(value $v))))))
$(foreach v,$(filter-out D,$(WORDS)),$(if $(call is_given,$v),$(if $(word 2,$(value $v)),\
    $(error $v must be one word; not '$(value $v)'))))

# Kernels' files: make takes these characters for patterns and rules, a compiler - for an option.
$(foreach v,KERNEL FROM TO,$(foreach c,% : = * ? [ ],$(if $(findstring $c,$(value $v)),\
    $(error $v must be a file without $c in its name; not '$(value $v)')))\
    $(if $(filter -%,$(notdir $(value $v))),\
    $(error $v must be a file whose name does not begin with -; not '$(value $v)')))

# An empty value is none, as it is to the programs.
$(foreach v,$(USERS),$(if $(call is_given,$v),$(if $(strip $(value $v)),,\
    $(eval override undefine $v))))

# No such command or variable: what may have been meant, and where all are. Arguments: which of the
# two it is, the word, and all words that there are.
misspelt = $(error there is no $1 $2$(shell \
    echo $3 | awk -v word='$2' -f tools/make/nearest.awk): bare make lists them)

# make itself would pass over a misspelt variable in silence, such as n=300.
GIVEN := $(filter-out -%,$(foreach v,$(MAKEOVERRIDES),$(if $(findstring =,$v),\
    $(patsubst %:,%,$(firstword $(subst =, ,$v))))))
$(foreach v,$(GIVEN),$(if $(call unsafe,$v),$(error there is no variable $v: bare make lists them)))
$(foreach v,$(filter-out $(USERS) $(SETTINGS),$(GIVEN)),$(call misspelt,variable,$v,$(USERS)))
KNOWN := $(filter-out stage,$(patsubst TAKES_%,%,$(filter TAKES_%,$(.VARIABLES)))) \
         sass-baseline
NUMBERED := $(filter stage%,$(subst _, ,$(patsubst stages/%,stage%,$(wildcard stages/*))))
$(foreach g,$(filter-out $(KNOWN),$(COMMANDS)),$(if $(findstring /,$g),,\
    $(call misspelt,command,$g,$(KNOWN) $(NUMBERED))))
$(foreach v,$(filter-out $(TAKEN),$(filter $(USERS),$(GIVEN))),$(error \
    make$(if $(MAKECMDGOALS), $(or $(COMMANDS),$(MAKECMDGOALS))) does not take $v; it takes \
    $(or $(TAKEN),no variable)))
# A stage that no command here is for is refused, too.
STAGELESS := help clean diff sass-diff compare site trace plot planted sass-baseline
$(if $(and $(COMMANDS),$(filter stage%,$(MAKECMDGOALS))),$(if \
    $(filter-out $(STAGELESS),$(COMMANDS)),,$(error make $(COMMANDS) takes no stage, so there can \
    be no $(filter stage%,$(MAKECMDGOALS)) beside it)))
