/* The 16-bit element types of Q, K, V and O, as raw bits on the host.
 *
 * fp16: 1 sign, 5 exponent, 10 fraction bits (IEEE 754 binary16).
 * bf16: 1 sign, 8 exponent, 7 fraction bits (the upper half of a binary32).
 */
#ifndef ELEMENT_H
#define ELEMENT_H

#include <stddef.h>
#include <stdint.h>

typedef enum ElementType { TYPE_FP16, TYPE_BF16 } ElementType;

/* "fp16" or "bf16". */
const char *element_name(ElementType type);

/* Rounds to nearest, ties to even; overflow gives infinity, a NaN stays a NaN, subnormals and the
 * sign of zero are kept. */
uint16_t element_from_float(ElementType type, float value);

/* Exact. */
float element_to_float(ElementType type, uint16_t bits);

/* The same of `count` elements, and much faster: element_to_float, and the way to the type and
 * back. */
void elements_to_float(ElementType type, const uint16_t *bits, size_t count, float *values);
void elements_round(ElementType type, size_t count, float *values);

/* The distance between neighbouring numbers of the type at the size of a finite `value`. */
double element_ulp(ElementType type, double value);

/* How many of `count` elements are inf or NaN. */
size_t elements_not_finite(ElementType type, const uint16_t *elements, size_t count);

#endif
