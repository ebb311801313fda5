#include "limits/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *blanks(const char *at) { return at + strspn(at, " \t\r\n"); }

/* The character behind the string that starts at `at`. */
static const char *after_string(const char *at) {
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

/* The character behind a value. */
static const char *after_value(const char *at) {
    int depth = 0;
    if (!*at || !strchr("\"{[", *at)) return at + strcspn(at, ",]} \t\r\n");
    do {
        if (*at == '"') {
            at = after_string(at);
        } else {
            depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
            at++;
        }
    } while (*at && depth > 0);
    return at;
}

const char *json_first(const char *array) {
    if (!array || *array != '[') return NULL;
    array = blanks(array + 1);
    return *array && *array != ']' ? array : NULL;
}

const char *json_next(const char *element) {
    element = blanks(after_value(element));
    if (*element != ',') return NULL;
    element = blanks(element + 1);
    return *element ? element : NULL;
}

const char *json_member(const char *object, const char *key) {
    const size_t length = strlen(key);
    if (!object || *object != '{') return NULL;
    object = blanks(object + 1);
    while (*object == '"') {
        const char *name = object + 1, *end = after_string(object), *value = blanks(end);
        if (*value != ':') return NULL;
        value = blanks(value + 1);
        if ((size_t)(end - 1 - name) == length && strncmp(name, key, length) == 0)
            return *value ? value : NULL;
        object = blanks(after_value(value));
        if (*object != ',') return NULL;
        object = blanks(object + 1);
    }
    return NULL;
}

double json_number(const char *value) { return value ? strtod(value, NULL) : 0; }

/* The character that an escape stands for, *at being behind its backslash and then on its last
 * character: \u0009 is a blank as \t is, and what is not ASCII a question mark. */
static char escaped(const char **at) {
    char digits[5] = "";
    if (strchr("tnr", **at)) return ' ';
    if (**at != 'u') return **at;
    for (int i = 0; i < 4 && isxdigit((unsigned char)(*at)[1]); i++) digits[i] = *++*at;
    const long code = strtol(digits, NULL, 16);
    return code < ' ' ? ' ' : code < 127 ? (char)code : '?';
}

bool json_string(const char *value, char *text, size_t size) {
    size_t used = 0;
    if (!value || *value != '"') return false;
    for (value++; *value && *value != '"'; value++) {
        char next = *value;
        if (next == '\\' && value[1]) {
            value++;
            next = escaped(&value);
        }
        if (used + 1 < size) text[used++] = next;
    }
    text[used] = '\0';
    return *value == '"';
}
