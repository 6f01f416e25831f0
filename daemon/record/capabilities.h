/* SPDX-License-Identifier: MIT */
/* Capabilities of this process, as bits (1u << CAP_SETUID). */
#ifndef RECORD_CAPABILITIES_H
#define RECORD_CAPABILITIES_H

#include <stdint.h>

/* Have these, and no others; passed: also the program of the next exec. 0 or -errno: at least one
 * of them is not there. */
int capabilities_set(uint32_t permitted, uint32_t effective, uint32_t passed);

#endif
