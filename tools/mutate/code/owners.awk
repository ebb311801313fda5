# The tests that own a file, the nearest first. Use: awk -v house=common -v
# file=common/truth/check.c -f owners.awk SECONDS, the C tests with the seconds that each takes.
# Prints "SECONDS TEST", and at the end "script SCRIPT". A test of the file comes first, then those
# of its room, then those of the rooms above; of the last two only what is quick. The scripts run
# whole programs.

BEGIN {
    QUICK = 4
    # Of common; the rooms of a tool are all above each other, because its tests run all of it.
    above["base"] = " truth device cli "
    above["truth"] = above["device"] = " cli "
    name = file
    sub(/.*\//, "", name)
    sub(/\.c$/, "", name)
    room = file
    sub(/\/[^\/]*$/, "", room)
}

function is_above(test,    part) {
    split(test, part, "/")
    return house != "common" || index(above[substr(room, 8)], " " part[4] " ")
}

index($2, "build/test/" house "/") != 1 || name == "main" { next }
$2 == "build/test/" room "/test/test_" name { own[++owns] = $0; next }
$1 > QUICK { next }
index($2, "build/test/" room "/test/") == 1 { near[++nears] = $0; next }
is_above($2) { far[++fars] = $0 }
END {
    for (i = 1; i <= owns; i++) print own[i]
    for (i = 1; i <= nears; i++) print near[i]
    for (i = 1; i <= fars; i++) print far[i]
    if (house == "tools/ptxsim") print "script tools/ptxsim/test/bugs.t"
    if (house == "tools/sass") {
        print "script tools/sass/test/commands.t"
        print "script tools/sass/test/cubins.t"
    }
    if (file ~ /^common\/cli\/(bench|regimes)/) print "script common/cli/test/bench_cli.t"
    if (file ~ /^common\/.*\/(timeline|spans|stamps)/) print "script common/cli/test/timeline.t"
    if (room == "common/cli" || room == "common/device" || name == "error") {
        print "script common/cli/test/run_cli.t"
        print "script common/cli/test/faulty_stages.t"
    }
}
