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
    count = split(files, list, " ")
    for (i = 1; i <= count; i++) # what begins with no name goes on with a path that has a blank
        if (match(list[i], /^[a-z]+=/)) {
            name = substr(list[i], 1, RLENGTH - 1)
            given[name] = substr(list[i], RLENGTH + 1)
        } else {
            given[name] = given[name] " " list[i]
        }
    put(folder "/" page)
}
