/* SPDX-License-Identifier: MIT */
/* The sections of the page of a run, each from the document d that gather.h describes. A section
 * without content is left out. */
#ifndef CLIENT_PAGE_SECTIONS_H
#define CLIENT_PAGE_SECTIONS_H

#include <jansson.h>

#include "client/page/page_frame.h"

/* What was asked, what came of it, what to do now. */
void section_summary(struct html *h, const json_t *d, const struct page_frame *frame);
/* The last of these, part of the summary: what decides, takes the result, or continues. */
void section_next(struct html *h, const json_t *run, const struct page_frame *frame);
void section_known_issues(struct html *h, const json_t *d);
void section_warnings(struct html *h, const json_t *d);
/* The counts and a row for each of several tasks. */
void section_tasks(struct html *h, const json_t *d);
/* The rounds of each task: attempts, checks, reviews, findings, diff. */
void section_rounds(struct html *h, const json_t *d);
/* Open questions to a human, and who decided the others. */
void section_holds(struct html *h, const json_t *d);
/* Part of these: who decided a hold, and why. more: the command that shows a long message. */
void section_decided(struct html *h, const json_t *hold, const char *more);
/* Products, and what judged each of them. */
void section_evidence(struct html *h, const json_t *d);
/* Time, tokens and cost by role and agent. */
void section_cost(struct html *h, const json_t *d);

#endif
