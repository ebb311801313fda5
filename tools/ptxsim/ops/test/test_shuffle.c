/* Vectors in another order. Catches: elements elsewhere with a GCC before 12 than with others. */
#include "ops/shuffle.h"
#include "test/tap.h"

#include <stdint.h>

typedef uint16_t Elements __attribute__((vector_size(16)));
typedef float Half __attribute__((vector_size(16)));
typedef float Whole __attribute__((vector_size(32)));

#define is_same(vector, array, name)                                          \
    do {                                                                      \
        bool same = true;                                                     \
        for (int i = 0; i < 8; i++) same = same && (vector)[i] == (array)[i]; \
        ok(same, name);                                                       \
    } while (0)

int main(void) {
    const Half left = {1, 2, 3, 4}, right = {5, 6, 7, 8};
    const float whole[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const Whole joined = JOIN(Whole, left, right), by_element = JOIN_ELEMENTS(Whole, left, right);
    is_same(joined, whole, "two halves side by side");
    is_same(by_element, whole, "element by element");
    const Elements a = {0, 1, 2, 3, 4, 5, 6, 7}, b = {8, 9, 10, 11, 12, 13, 14, 15};
    const uint16_t expected[] = {3, 12, 0, 8, 7, 15, 7, 9};
    const Elements found = SHUFFLE(a, b, 3, 12, 0, 8, 7, 15, 7, 9);
    is_same(found, expected, "elements of two vectors");
#ifdef __clang__
    skip_test("clang has no mask");
#else
    const Elements masked = SHUFFLE_BY_MASK(a, b, 3, 12, 0, 8, 7, 15, 7, 9);
    is_same(masked, expected, "the same by a mask");
#endif
    return done_testing();
}
