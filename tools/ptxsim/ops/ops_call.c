/* Calls of functions that the PTX does not define: printf and assert. Their arguments are in .param
 * variables, which are local memory here. */
#include <stdio.h>

#include "decode/decode.h"
#include "machine/lanes.h"
#include "machine/memory/memory.h"
#include "ops/numeric.h"

/* Parameter `r` of the lane: 8 bytes of local memory. */
static uint64_t argument(const Warp *warp, const Op *op, int r, unsigned l) {
    uint64_t value;
    const uint64_t address = REG(u64, r)[l];
    memcpy(&value, warp->local + (size_t)l * warp->block->kernel->local_bytes + address,
           sizeof value);
    return value;
}

/* A text of the program at a device address, "?" if there is none. */
static const char *device_text(uint64_t address) {
    const Allocation *a = memory_find(address, 1);
    const char *text = (const char *)(uintptr_t)address;
    return a && memchr(text, 0, (size_t)(a->end - address)) ? text : "?";
}

/* ---- printf: the second argument points to the values, in order, each at its alignment ------- */

static const uint8_t *value_bytes(const Warp *warp, uint64_t address, unsigned l) {
    const uint32_t bytes = warp->block->kernel->local_bytes;
    const uint64_t offset = address & UINT32_MAX;
    if (address >> 48 != LOCAL_WINDOW >> 48 || offset + 8 > bytes) return NULL;
    return warp->local + (size_t)l * bytes + offset;
}

/* One conversion: "%-5.2lld" is copied with the width that the value has here. Returns its end. */
static const char *print_value(const Warp *warp, unsigned l, const char *format,
                               uint64_t *address) {
    char one[40];
    size_t length = 1 + strspn(format + 1, "0123456789+-# .");
    const size_t flags = length;
    length += strspn(format + length, "lhzjt");
    const char kind = format[length];
    const bool is_float = kind && strchr("fFeEgGaA", kind), is_text = kind == 's';
    const bool wide = is_float || is_text || kind == 'p' || memchr(format, 'l', length) != NULL;
    const unsigned bytes = wide ? 8 : 4;
    *address = (*address + bytes - 1) / bytes * bytes;
    const uint8_t *from = value_bytes(warp, *address, l);
    uint64_t value = 0;
    if (!kind || flags + 4 > sizeof one || !from) return format + length + (kind != 0);
    memcpy(&value, from, bytes);
    *address += bytes;
    const bool is_long = !is_float && !is_text && kind != 'c' && kind != 'p';
    snprintf(one, sizeof one, "%.*s%s%c", (int)flags, format, is_long ? "ll" : "", kind);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (is_float)
        printf(one, double_of(value));
    else if (is_text)
        printf(one, device_text(value));
    else if (kind == 'p')
        printf(one, (void *)(uintptr_t)value);
    else if (kind == 'c')
        printf(one, (int)value);
    else if (kind == 'd' || kind == 'i')
        printf(one, wide ? (long long)value : (long long)(int32_t)value);
    else
        printf(one, (unsigned long long)value);
#pragma GCC diagnostic pop
    return format + length + 1;
}

static void print(const Warp *warp, unsigned l, const char *format, uint64_t values) {
    while (*format) {
        if (format[0] == '%' && format[1] == '%') {
            putchar('%');
            format += 2;
        } else if (*format == '%') {
            format = print_value(warp, l, format, &values);
        } else {
            putchar(*format++);
        }
    }
}

static void run_printf(Warp *warp, const Op *op) {
    EACH_ACTIVE(print(warp, l, device_text(argument(warp, op, 0, l)), argument(warp, op, 1, l)));
}

/* ---- assert: expression, file, line, function ------------------------------------------------ */

static void run_assert(Warp *warp, const Op *op) {
    const unsigned l = first_lane(warp->mask);
    fault(warp, (int)l, "assertion failed: %s, %s:%u, %s", device_text(argument(warp, op, 0, l)),
          device_text(argument(warp, op, 1, l)), (uint32_t)argument(warp, op, 2, l),
          device_text(argument(warp, op, 3, l)));
}

/* ---- Decoding -------------------------------------------------------------------------------- */

bool decode_call(Decoder *d) {
    if (!opcode_is(d, "call")) return false;
    take(d, "uni");
    const bool has_result = d->in->operands == 3;
    if (d->in->operands < 2) return false;
    const Text name = d->in->operand[has_result].name;
    const Operand *arguments = &d->in->operand[d->in->operands - 1];
    d->next = d->in->operands;
    const bool prints = text_is(name, "vprintf") && arguments->elements == 2;
    const bool asserts = text_is(name, "__assertfail") && arguments->elements == 5;
    if (!prints && !asserts) return false;
    d->kernel->in_order |= prints;
    use_elements(d, arguments, 8);
    return done(d, prints ? run_printf : run_assert, CLASS_BRANCH);
}
