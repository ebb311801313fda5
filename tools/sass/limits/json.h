/* Reading JSON in place: a value is a pointer to its first character. Text that is cut off or no
 * JSON ends as if the value were not there. */
#ifndef SASS_JSON_H
#define SASS_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* The value of a key in an object, or NULL. */
const char *json_member(const char *object, const char *key);

/* The first element of an array and the one after an element, or NULL. */
const char *json_first(const char *array);
const char *json_next(const char *element);

/* A number; 0 for any other value and for NULL. */
double json_number(const char *value);

/* Copies a string without its quotation marks, cut to `size`. False if it is none. Escaped control
 * characters become blanks. */
bool json_string(const char *value, char *text, size_t size);

#endif
