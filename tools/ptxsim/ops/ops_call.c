/* Calls of functions that the PTX does not define: printf and assert. Their arguments are in .param
 * variables, which are local memory here. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/decode.h"
#include "machine/lanes.h"
#include "machine/memory/memory.h"
#include "ops/numeric.h"
#include "ptx/bounds.h"

/* Parameter `r` of the lane: 8 bytes of local memory. */
static uint64_t argument(const Warp *warp, const Op *op, int r, unsigned l) {
    uint64_t value;
    const uint64_t address = REG(u64, r)[l];
    memcpy(&value, warp->local + (size_t)l * warp->block->kernel->local_bytes + address,
           sizeof value);
    return value;
}

/* The text at a generic address, "?" if none ends in the memory there. */
static const char *text_at(const Warp *warp, unsigned l, uint64_t address) {
    const Block *block = warp->block;
    const uint32_t offset = (uint32_t)address, room = block->kernel->local_bytes;
    const char *text = (const char *)(uintptr_t)address;
    uint64_t bytes = 0; /* from there to the end of the memory */
    if (address >> 32 == LOCAL_WINDOW >> 32) {
        text = (const char *)warp->local + (size_t)l * room + offset;
        if (offset < room) bytes = room - offset;
    } else if (address >> 32 == SHARED_WINDOW >> 32) {
        text = (const char *)shared_zero(block) + offset;
        if (offset >= SHARED_BASE && offset - SHARED_BASE < block->shared_bytes)
            bytes = block->shared_bytes - (offset - SHARED_BASE);
    } else {
        const Allocation *a = memory_find(address, 1);
        if (a) bytes = a->end - address;
    }
    return bytes && memchr(text, 0, (size_t)bytes) ? text : "?";
}

/* ---- printf: the second argument points to the values, in order, each at its alignment ------- */

/* Reads the next value, of 4 or 8 bytes. False: it is not in the lane's memory. */
static bool next_value(const Warp *warp, unsigned l, uint64_t *address, unsigned bytes,
                       uint64_t *value) {
    const uint32_t room = warp->block->kernel->local_bytes;
    *address = (*address + bytes - 1) / bytes * bytes;
    const uint64_t offset = *address & UINT32_MAX;
    if (*address >> 48 != LOCAL_WINDOW >> 48 || offset + 8 > room) return false;
    *value = 0;
    memcpy(value, warp->local + (size_t)l * room + offset, bytes);
    *address += bytes;
    return true;
}

/* A conversion of a format, "%-5.2lld". */
typedef struct Conversion {
    int flags;       /* characters up to the length modifier, with the % */
    const char *end; /* behind its letter */
    char kind;       /* that letter; 0: the text is no conversion that C knows */
    unsigned bytes;  /* of the value, 8 or 4 */
    unsigned used;   /* of those, for an integer: fewer with h and hh */
} Conversion;

static Conversion parse_conversion(const char *format) {
    Conversion c = {.flags = (int)(1 + strspn(format + 1, "0123456789+-# .*"))};
    const char *size = format + c.flags, *letter = size + strspn(size, "lhzjtL");
    const char kind = *letter && strchr("diouxXcspfFeEgGaA", *letter) ? *letter : 0;
    const bool wide = kind && (strchr("fFeEgGaAsp", kind) || strchr("lzjt", *size));
    c.kind = kind;
    c.end = letter + (*letter != 0);
    c.bytes = wide ? 8 : 4;
    c.used = *size != 'h' ? c.bytes : size[1] == 'h' ? 1 : 2;
    return c;
}

/* The largest number in the flags: a width or a precision. */
static long widest(const char *flags) {
    long most = 0;
    for (const char *at = flags; *at; at++) {
        const long number = *at >= '0' && *at <= '9' ? strtol(at, NULL, 10) : 0;
        most = number > most ? number : most;
    }
    return most;
}

enum { FLAGS_ROOM = 37 }; /* with the end */

/* The flags with a number for each `*`, which is the next value. False: a value is missing. */
static bool write_flags(Warp *warp, unsigned l, const char *format, int length, uint64_t *address,
                        char flags[FLAGS_ROOM]) {
    uint64_t value;
    int used = 0;
    for (int i = 0; i < length && used < FLAGS_ROOM; i++) {
        if (format[i] != '*') {
            flags[used++] = format[i];
        } else {
            if (!next_value(warp, l, address, 4, &value)) return false;
            used += snprintf(flags + used, (size_t)(FLAGS_ROOM - used), "%" PRId32, (int32_t)value);
        }
    }
    if (used < FLAGS_ROOM) flags[used] = 0;
    if (used >= FLAGS_ROOM || widest(flags) > MAX_FIELD)
        fault(warp, (int)l, "printf of a value that is more than %d characters wide", MAX_FIELD);
    return true;
}

/* An integer of which so many bytes are used. */
static long long signed_part(uint64_t value, unsigned bytes) {
    const unsigned shift = 64 - 8 * bytes;
    return (long long)(value << shift) >> shift;
}

/* One value, with the width that it has here. */
static const char *print_value(Warp *warp, unsigned l, const char *format, uint64_t *address) {
    const Conversion c = parse_conversion(format);
    char flags[FLAGS_ROOM], one[FLAGS_ROOM + 4];
    uint64_t value;
    if (!c.kind)
        fault(warp, (int)l, "printf with an unknown conversion: %.*s", (int)(c.end - format),
              format);
    if (!write_flags(warp, l, format, c.flags, address, flags) ||
        !next_value(warp, l, address, c.bytes, &value))
        return c.end;
    const bool is_integer = strchr("diouxX", c.kind) != NULL;
    snprintf(one, sizeof one, "%s%s%c", flags, is_integer ? "ll" : "", c.kind);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (c.kind == 's')
        printf(one, text_at(warp, l, value));
    else if (c.kind == 'p')
        printf(one, (void *)(uintptr_t)value);
    else if (c.kind == 'c')
        printf(one, (int)value);
    else if (c.kind == 'd' || c.kind == 'i')
        printf(one, signed_part(value, c.used));
    else if (is_integer)
        printf(one, (unsigned long long)value << (64 - 8 * c.used) >> (64 - 8 * c.used));
    else
        printf(one, double_of(value));
#pragma GCC diagnostic pop
    return c.end;
}

/* The number of values, which is what printf returns. */
static uint32_t print(Warp *warp, unsigned l, const char *format, uint64_t values) {
    uint32_t count = 0;
    while (*format) {
        if (format[0] == '%' && format[1] == '%') {
            putchar('%');
            format += 2;
        } else if (*format == '%') {
            format = print_value(warp, l, format, &values);
            count++;
        } else {
            putchar(*format++);
        }
    }
    return count;
}

static void run_printf(Warp *warp, const Op *op) {
    EACH_ACTIVE({
        const uint32_t count =
            print(warp, l, text_at(warp, l, argument(warp, op, 0, l)), argument(warp, op, 1, l));
        if (op->number) /* of parameters; the third is for the result */
            memcpy(warp->local + (size_t)l * warp->block->kernel->local_bytes + REG(u64, 2)[l],
                   &count, sizeof count);
    });
}

/* ---- assert: expression, file, line, function ------------------------------------------------ */

static void run_assert(Warp *warp, const Op *op) {
    const unsigned l = first_lane(warp->mask);
    fault(warp, (int)l, "assertion failed: %s, %s:%u, %s",
          text_at(warp, l, argument(warp, op, 0, l)), text_at(warp, l, argument(warp, op, 1, l)),
          (uint32_t)argument(warp, op, 2, l), text_at(warp, l, argument(warp, op, 3, l)));
}

/* ---- Decoding -------------------------------------------------------------------------------- */

bool decode_call(Decoder *d) {
    if (!opcode_is(d, "call")) return false;
    take(d, "uni");
    const bool has_result = d->in->operands == 3;
    const Text name = d->in->operand[has_result].name;
    const Operand *arguments = &d->in->operand[d->in->operands - 1];
    d->next = d->in->operands;
    const bool prints = text_is(name, "vprintf") && arguments->elements == 2;
    const bool asserts = text_is(name, "__assertfail") && arguments->elements == 5;
    if (!prints && !asserts) return false;
    d->kernel->in_order |= prints;
    use_elements(d, arguments, 8);
    if (prints && has_result) use_elements(d, d->in->operand, 8);
    d->op->number = prints && has_result && d->in->operand[0].elements == 1;
    return done(d, prints ? run_printf : run_assert, CLASS_BRANCH);
}
