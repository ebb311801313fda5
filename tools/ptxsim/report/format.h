/* Numbers for people. */
#ifndef PTXSIM_FORMAT_H
#define PTXSIM_FORMAT_H

#include <stdint.h>

enum { FORMAT_SIZE = 32 };

/* 1234567 as "1,234,567"; returns `text`. */
const char *format_grouped(uint64_t number, char text[FORMAT_SIZE]);

/* A number of bytes as "512 B", "1.50 KiB", "3.25 MiB" and so on; returns `text`. */
const char *format_bytes(uint64_t bytes, char text[FORMAT_SIZE]);

#endif
