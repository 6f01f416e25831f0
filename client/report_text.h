/* SPDX-License-Identifier: MIT */
/* The report of a run for people, on a terminal. */
#ifndef CLIENT_REPORT_TEXT_H
#define CLIENT_REPORT_TEXT_H

#include <jansson.h>

#include "client/print.h"

/* report: as run.report answers. */
void report_print_text(const struct print *p, const json_t *report);

#endif
