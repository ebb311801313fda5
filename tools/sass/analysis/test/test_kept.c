/* Listings that are kept. Catches: one that is given for other code, other options or another
 * disassembler, one that was cut, a library whose old listings pile up, a folder that cannot be
 * written taken for an error. */
#include "analysis/kept.h"
#include "analysis/program.h"
#include "test/tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/kept_test.XXXXXX", code[100], tool[100], listings[100];

static void write_file(const char *path, const char *text) {
    FILE *out = fopen(path, "wb");
    if (!out) exit(1);
    fputs(text, out);
    fclose(out);
}

static Kept place(const char *library, char *option) {
    char *argv[] = {tool, option, code, NULL};
    Kept kept = {0};
    ok(kept_place(library, code, argv, &kept), "%s %s has its place", library, option);
    return kept;
}

static void holds(const Kept *kept, const char *expected, const char *what) {
    char *text = kept_read(kept);
    is_text(text ? text : "nothing", expected, what);
    free(text);
}

/* The last part of a place's name, which versions share. */
static void named(const Kept *kept, const char *expected) {
    is_text(strrchr(kept->path, '/'), expected, "under its name");
}

/* How many files the folder of the listings has. */
static int files(void) {
    int count = 0;
    DIR *directory = opendir(listings);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    if (directory) closedir(directory);
    return count;
}

static void test_same(void) {
    const Kept lines = place("a.so", "-gi"), plain = place("a.so", "-c");
    named(&lines, "/ea85c7a4ca2d6d61.sass");
    named(&plain, "/168ad63cfebddcd4.sass");
    holds(&lines, "nothing", "nothing is kept to begin with");
    kept_write(&lines, "with lines\n\nand more");
    holds(&lines, "with lines\n\nand more", "what is kept comes back");
    char *whole, *rest;
    size_t length;
    Error error;
    if (!read_file(lines.path, &whole, &length, &error)) exit(1);
    is_int((long long)length, 17 + 3 + 20, "its file has a first line and the text");
    ok(strtoull(whole, &rest, 16) == lines.from && rest == whole + 16,
       "which says what it was made from");
    is_text(rest, " 20\nwith lines\n\nand more", "and how long it is");
    free(whole);
    is_int(files(), 1, "and nothing lies beside it");
    holds(&plain, "nothing", "not with other options");
    const Kept other = place("b.so", "-gi");
    holds(&other, "nothing", "nor for another library");
    kept_write(&plain, "");
    holds(&plain, "", "an empty text is one");
    const Kept again = place("a.so", "-gi");
    holds(&again, "with lines\n\nand more", "the first is still there");
}

static void test_changes(void) {
    const Kept before = place("a.so", "-gi");
    write_file(code, "other code");
    const Kept after = place("a.so", "-gi");
    holds(&after, "nothing", "not for other code");
    is_text(after.path, before.path, "whose listing takes the place of the old one");
    kept_write(&after, "new");
    holds(&before, "nothing", "which is no longer there");
    holds(&after, "new", "and the new one is");
    write_file(tool, "a newer disassembler");
    const Kept newer = place("a.so", "-gi");
    holds(&newer, "nothing", "not what another disassembler printed");
    kept_write(&newer, "newer");
    const struct timespec now = {.tv_nsec = 1}, later = {.tv_nsec = 2};
    utimensat(AT_FDCWD, tool, (struct timespec[]){now, now}, 0);
    const Kept moved = place("a.so", "-gi");
    holds(&moved, "nothing", "nor one of another second");
    kept_write(&moved, "moved");
    utimensat(AT_FDCWD, tool, (struct timespec[]){later, later}, 0);
    const Kept replaced = place("a.so", "-gi");
    holds(&replaced, "nothing", "or of another fraction of it");
    snprintf(tool, sizeof tool, "found on PATH");
    const Kept found = place("a.so", "-gi");
    kept_write(&found, "found");
    snprintf(tool, sizeof tool, "another there");
    const Kept another = place("a.so", "-gi");
    holds(&another, "nothing", "or of another name, where only that is known");
    holds(&found, "found", "which the first one has");
}

static void test_cut(void) {
    const Kept kept = place("a.so", "-gi");
    kept_write(&kept, "some text");
    if (truncate(kept.path, 25) != 0) exit(1);
    holds(&kept, "nothing", "a file that was cut does not count");
    if (truncate(kept.path, 19) != 0) exit(1);
    holds(&kept, "nothing", "nor one that ends with its first line");
    if (truncate(kept.path, 10) != 0) exit(1);
    holds(&kept, "nothing", "nor one without its first line");
    if (truncate(kept.path, 0) != 0) exit(1);
    holds(&kept, "nothing", "nor an empty one");
}

static void test_nowhere(void) {
    static char far[PATH_MAX + 10];
    char *argv[] = {tool, code, NULL};
    Kept kept = place("c.so", "-gi");
    const int before = files();
    if (mkdir(kept.path, 0777) != 0) exit(1);
    kept_write(&kept, "text");
    is_int(files(), before + 1, "where a folder is in the way nothing is left beside it");
    if (rmdir(kept.path) != 0) exit(1);
    memset(far, '/', sizeof far - 1);
    setenv("LISTINGS", far, 1);
    ok(!kept_place("a.so", code, argv, &kept), "no place whose name is too long");
    far[PATH_MAX - 23] = '\0';
    setenv("LISTINGS", far, 1);
    ok(kept_place("a.so", code, argv, &kept), "one whose name just fits");
    far[PATH_MAX - 23] = '/', far[PATH_MAX - 22] = '\0';
    setenv("LISTINGS", far, 1);
    ok(!kept_place("a.so", code, argv, &kept), "and none that is longer by one");
    setenv("LISTINGS", "/none/such", 1);
    const Kept lost = place("a.so", "-gi");
    kept_write(&lost, "text");
    holds(&lost, "nothing", "where nothing can be written nothing is kept");
    setenv("LISTINGS", listings, 1);
    ok(!kept_place("a.so", "/none/such", argv, &kept), "no place for code that cannot be read");
    setenv("LISTINGS", "", 1);
    ok(!kept_place("a.so", code, argv, &kept), "none without a folder");
    unsetenv("LISTINGS");
    ok(!kept_place("a.so", code, argv, &kept), "nor where the environment names none");
}

int main(void) {
    umask(0);
    if (!mkdtemp(folder)) return 1;
    snprintf(code, sizeof code, "%s/code", folder);
    snprintf(tool, sizeof tool, "%s/tool", folder);
    snprintf(listings, sizeof listings, "%s/listings", folder);
    setenv("LISTINGS", listings, 1);
    write_file(code, "code");
    write_file(tool, "a disassembler");
    test_same();
    test_changes();
    test_cut();
    struct stat at;
    ok(stat(listings, &at) == 0 && at.st_mode == (S_IFDIR | 0777), "the folder was made");
    test_nowhere();
    char *output, *argv[] = {"rm", "-r", folder, NULL};
    Error error;
    if (!run_program(NULL, argv, &output, &error)) return 1;
    is_text(output, "", "and can be removed");
    free(output);
    return done_testing();
}
