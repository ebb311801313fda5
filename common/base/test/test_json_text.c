/* Catches: JSON that no reader takes: an unescaped quote or control character, bytes that are not
 * UTF-8; a character that is good and is lost; a < that would end a page's script. */
#include "base/json_text.h"
#include "test/tap.h"

#include <string.h>

static void is_json(const char *text, size_t length, const char *expected, const char *what) {
    char written[200] = "";
    FILE *out = tmpfile();
    json_text(text, length, out);
    rewind(out);
    written[fread(written, 1, sizeof written - 1, out)] = '\0';
    fclose(out);
    is_text(written, expected, what);
}

static void is_string(const char *text, const char *expected, const char *what) {
    is_json(text, strlen(text), expected, what);
}

int main(void) {
    is_string("", "\"\"", "no text");
    is_string("a b\x7f", "\"a b\x7f\"", "text as it is");
    is_json("abc", 2, "\"ab\"", "no more than is asked for");
    is_json("a\0b", 3, "\"a\\u0000b\"", "zero bytes");
    is_string("\"\\\n\x1f", "\"\\\"\\\\\\u000a\\u001f\"", "what must be escaped");
    is_string("</script>", "\"\\u003c/script>\"", "what could end a script");
    is_string(
        "\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
        "\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"",
        "the least and the greatest of each length");
    static const char *const wrong[][2] = {
        {"\x80", "a continuation alone"},       {"\xc1\xbf", "ASCII in two bytes"},
        {"\xe0\x9f\xbf", "two bytes in three"}, {"\xed\xa0\x80", "half of a surrogate pair"},
        {"\xf0\x8f\xbf\xbf", "three in four"},  {"\xf4\x90\x80\x80", "beyond U+10FFFF"},
        {"\xf5\x80\x80\x80", "no first byte"},  {"\xe1\x80\xc0", "a third byte that is none"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char expected[40] = "\"";
        for (size_t k = 0; k < strlen(wrong[i][0]); k++) strcat(expected, "\\ufffd");
        is_string(wrong[i][0], strcat(expected, "\""), wrong[i][1]);
    }
    is_string("\xe2\x82", "\"\\ufffd\\ufffd\"", "a character that is cut");
    is_json("\xe2\x82\xac", 2, "\"\\ufffd\\ufffd\"", "also by the length");
    is_string("\xc3z", "\"\\ufffdz\"", "what follows it stays");
    return done_testing();
}
