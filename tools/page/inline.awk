# Puts files together: a line with "@include NAME@" becomes the file NAME, of this folder, or the
# one that -v files="NAME=path ..." names; "@title@" and "@nav@" become -v title and -v nav. An
# included file may include others.
function put(path,    line, name, before, after, got) {
    while ((got = (getline line < path)) > 0) {
        if (match(line, /@include [a-z_.\/]+@/)) {
            name = substr(line, RSTART + 9, RLENGTH - 10)
            before = substr(line, 1, RSTART - 1)
            after = substr(line, RSTART + RLENGTH)
            if (before !~ /^ *$/) print before
            put(name in given ? given[name] : folder "/" name)
            if (after !~ /^ *$/) print after
        } else {
            gsub(/@title@/, title, line)
            gsub(/@nav@/, nav, line)
            print line
        }
    }
    close(path)
    if (got < 0) {
        print "inline.awk: " path " cannot be read" >"/dev/stderr"
        exit 1
    }
}
BEGIN {
    for (i = split(files, list, " "); i > 0; i--) {
        at = index(list[i], "=")
        given[substr(list[i], 1, at - 1)] = substr(list[i], at + 1)
    }
    put(folder "/" page)
}
