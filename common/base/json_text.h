/* Text as a string of JSON (RFC 8259, section 7). */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Writes `length` bytes at `text`, in quotes. What is not UTF-8 becomes U+FFFD, byte by byte. A <
 * is escaped, because it could end the script that holds the JSON in a page. */
void json_text(const char *text, size_t length, FILE *out);

#endif
