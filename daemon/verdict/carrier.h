/* SPDX-License-Identifier: MIT */
/* The carriers: how a profile's reviewer says what it found. One file each, one row each in verdict.c. */
#ifndef VERDICT_CARRIER_H
#define VERDICT_CARRIER_H

#include "verdict/verdict.h"

/* {"verdict": "pass" | "drift", "followUpPrompt": "..."} somewhere in the text. Fills all of out but source. */
void carrier_verdict_read(const char *text, size_t size, struct verdict *out);

#endif
