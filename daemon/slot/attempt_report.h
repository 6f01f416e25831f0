/* SPDX-License-Identifier: MIT */
/* Reports about the process of an attempt. */
#ifndef SLOT_ATTEMPT_REPORT_H
#define SLOT_ATTEMPT_REPORT_H

#include "record/exit_record.h"

struct slot;

void attempt_started(struct slot *slot);
void attempt_refused(struct slot *slot, int status, const char *error);	/* status: errno, 0: none */
/* The attempt's number was taken: it never started, and gets the next number. */
void attempt_renumber(struct slot *slot);
/* record NULL: lost. */
void attempt_ended(struct slot *slot, const struct exit_record *record, const char *detail);

#endif
