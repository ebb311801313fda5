/* Arrays that grow. */
#ifndef SASS_LIST_H
#define SASS_LIST_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `count` elements of `size` bytes, all zero, to be freed. Ends the program where there is no
 * memory: a listing is a few megabytes. */
static inline void *list_zeroed(size_t count, size_t size) {
    void *array = calloc(count ? count : 1, size);
    if (array) return array;
    fputs("sass: out of memory\n", stderr);
    exit(2);
}

/* A new element of `size` bytes, all zero, at the end of the array at *items, which has *count. The
 * array may move. Ends the program where there is no memory. */
static inline void *list_add(void *items, int *count, size_t size) {
    void *array;
    memcpy(&array, items, sizeof array);
    if ((*count & (*count - 1)) == 0) { /* 0 or a power of two: full */
        array = realloc(array, (*count ? (size_t)*count * 2 : 1) * size);
        if (!array) {
            fputs("sass: out of memory\n", stderr);
            exit(2);
        }
        memcpy(items, &array, sizeof array);
    }
    void *item = (char *)array + (size_t)*count * size;
    (*count)++;
    return memset(item, 0, size);
}

/* The address of a new element of the array `items`, of `count` elements so far. */
#define LIST_ADD(items, count) list_add(&(items), &(count), sizeof *(items))

#endif
