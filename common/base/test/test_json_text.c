/* Catches: JSON that no reader takes: an unescaped quote or control character, bytes that are not
 * UTF-8; a character that is good and is lost; a < that would end a page's script. */
#include "base/json_text.h"
#include "test/tap.h"

#include <string.h>

enum { MOST = 200 };

static void write_json(const char *text, size_t length, char written[MOST]) {
    memset(written, 0, MOST);
    FILE *out = fmemopen(written, MOST, "w");
    json_text(text, length, out);
    fclose(out);
}

static void is_json(const char *text, size_t length, const char *expected, const char *what) {
    char written[MOST];
    write_json(text, length, written);
    is_text(written, expected, what);
}

static void is_string(const char *text, const char *expected, const char *what) {
    is_json(text, strlen(text), expected, what);
}

/* How many bytes the character takes that begins there, 0 if there is none (Unicode 3.9, D92). */
static size_t character(const unsigned char *at) {
    static const size_t lengths[] = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 2, 3, 4};
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = lengths[at[0] >> 4];
    unsigned code = length < 2 ? at[0] : at[0] & 0xffu >> length;
    for (size_t i = 1; i < length; i++) {
        if (at[i] >> 6 != 2) return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    return code < least[length] || code > 0x10ffff || code >> 11 == 0x1b ? 0 : length;
}

/* Every first byte that is not ASCII, with all that may decide behind it. */
static void every_first_byte(void) {
    static const unsigned char second[] = {0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0};
    static const unsigned char further[] = {0x7f, 0x80, 0xbf, 0xc0};
    int wrong = 0;
    for (unsigned i = 0; i < 128 * 8 * 4 * 4; i++) {
        const unsigned char text[] = {(unsigned char)(0x80 + i / 128), second[i / 16 % 8],
                                      further[i / 4 % 4], further[i % 4], '.'};
        char written[MOST], expected[MOST] = "\"";
        for (size_t at = 0; at < sizeof text;) {
            const size_t length = character(text + at);
            if (length)
                strncat(expected, (const char *)text + at, length);
            else
                strcat(expected, "\\ufffd");
            at += length ? length : 1;
        }
        write_json((const char *)text, sizeof text, written);
        wrong += strcmp(written, strcat(expected, "\"")) != 0;
    }
    is_int(wrong, 0, "characters of two bytes and more, and bytes that are none");
}

int main(void) {
    is_string("", "\"\"", "no text");
    is_string("a b\x7f", "\"a b\x7f\"", "text as it is");
    is_json("abc", 2, "\"ab\"", "no more than is asked for");
    is_json("a\0b", 3, "\"a\\u0000b\"", "zero bytes");
    is_string("\"\\\n\x1f", "\"\\\"\\\\\\u000a\\u001f\"", "what must be escaped");
    is_string("</script>", "\"\\u003c/script>\"", "what could end a script");
    every_first_byte();
    is_string("\xe2\x82", "\"\\ufffd\\ufffd\"", "a character that is cut");
    is_json("\xe2\x82\xac", 2, "\"\\ufffd\\ufffd\"", "also by the length");
    is_string("\xc3z", "\"\\ufffdz\"", "what follows it stays");
    return done_testing();
}
