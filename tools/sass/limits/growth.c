#include "limits/growth.h"

#include <math.h>

Growth growth_through(const double length[LENGTHS], const double value[LENGTHS]) {
    const double first = (value[1] - value[0]) / (length[1] - length[0]),
                 second = (value[2] - value[1]) / (length[2] - length[1]),
                 square = (second - first) / (length[2] - length[0]),
                 linear = first - square * (length[0] + length[1]);
    return (Growth){value[0] - length[0] * (linear + square * length[0]), linear, square};
}

/* A tile of `rows` rows that sees k keys costs rows (a + b k). All N / rows tiles of a full problem
 * see N keys: a = c1, b = c2. Tile i of a causal one sees (i + 1) rows keys, of which the sum is
 * N (N + rows) / 2 over rows: b = 2 c2, a = c1 - c2 rows. */
double growth_at(Growth growth, double length, double rows, int causal) {
    const double tiles = ceil(length / rows);
    double a = growth.linear, b = growth.square, keys = tiles * length;
    if (causal) {
        a = growth.linear - growth.square * rows;
        b = 2 * growth.square;
        keys = rows * tiles * (tiles - 1) / 2 + length;
    }
    return fmax(0, growth.constant + rows * (tiles * a + b * keys));
}
