#include "base/json_text.h"

/* The number of bytes of the UTF-8 character that begins here (RFC 3629, section 4), 0 if none. */
static size_t character(const unsigned char *at, size_t left) {
    static const struct {
        unsigned char first, last, from, to; /* of its first byte; of its second */
        size_t length;
    } form[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    size_t i = 0;
    while (i < sizeof form / sizeof *form && (at[0] < form[i].first || at[0] > form[i].last)) i++;
    if (i == sizeof form / sizeof *form || form[i].length > left) return 0;
    if (form[i].length > 1 && (at[1] < form[i].from || at[1] > form[i].to)) return 0;
    for (size_t k = 2; k < form[i].length; k++)
        if (at[k] < 0x80 || at[k] > 0xbf) return 0;
    return form[i].length;
}

void json_text(const char *text, size_t length, FILE *out) {
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    fputc('"', out);
    while (at < end) {
        const size_t bytes = character(at, (size_t)(end - at));
        if (bytes == 0)
            fputs("\\ufffd", out);
        else if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if (*at < ' ' || *at == '<')
            fprintf(out, "\\u%04x", *at);
        else
            fwrite(at, 1, bytes, out);
        at += bytes > 0 ? bytes : 1;
    }
    fputc('"', out);
}
