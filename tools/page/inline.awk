# Puts files together: a line "@include NAME@" becomes the file NAME, of this folder or of those
# named by -v NAME=path; "@title@" becomes -v title. An included file may include others.
function path_of(name) {
    if (name == "record") return record
    if (name == "run") return run
    if (name == "changed") return changed
    if (name == "sass") return sass
    return folder "/" name
}
function put(path,    line, name, before, after, got) {
    while ((got = (getline line < path)) > 0) {
        if (match(line, /@include [a-z_.]+@/)) {
            name = substr(line, RSTART + 9, RLENGTH - 10)
            before = substr(line, 1, RSTART - 1)
            after = substr(line, RSTART + RLENGTH)
            if (before !~ /^ *$/) print before
            put(path_of(name))
            if (after !~ /^ *$/) print after
        } else {
            gsub(/@title@/, title, line)
            print line
        }
    }
    close(path)
    if (got < 0) {
        print "inline.awk: " path " cannot be read" >"/dev/stderr"
        exit 1
    }
}
BEGIN { put(folder "/" page) }
