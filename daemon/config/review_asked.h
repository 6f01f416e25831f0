/* SPDX-License-Identifier: MIT */
/* Private to this room. */
#ifndef CONFIG_REVIEW_ASKED_H
#define CONFIG_REVIEW_ASKED_H

struct config_error;
struct layers;
struct plan;

/* Refuse what the submit asks of a review that would silently not take place: -1 with error. */
int review_asked_check(const struct layers *layers, const struct plan *plan, struct config_error *error);

#endif
