/* The counters as a report in plain text, and as the sums that the harness prints. */
#ifndef PTXSIM_SUMMARY_H
#define PTXSIM_SUMMARY_H

#include <stdio.h>

#include "decode/counts.h"
#include "device/counters.h"

/* Adds everything up; common/device/counters.h says what each field means. cp.async counts on both
 * sides: a global load and a shared store. Bulk copies are requests of their issuing warp. */
void counts_sum(const CountsSnapshot *snapshot, Counters *sum);

/* For each kernel: instructions by class, memory requests beside their ideal, traffic. */
void counts_report(const CountsSnapshot *snapshot, FILE *out);

#endif
