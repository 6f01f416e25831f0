/* SPDX-License-Identifier: MIT */
/* Settings of a panel of reviewers that do not fit together. Private to this room. */
#ifndef CONFIG_PANEL_CHECK_H
#define CONFIG_PANEL_CHECK_H

struct config_error;
struct layers;
struct plan;

/* The names in review.reviewers; none if the command line names one reviewer and does not name
 * several: it replaces what a file says. Owned by the caller. */
char **panel_reviewers(const struct layers *layers);
/* The quorum that is set, "all" by default. malloc'd. */
char *panel_quorum_text(const struct layers *layers);
/* Refuse a panel that could never pass, or that is none: -1 with error. */
int panel_check(const struct layers *layers, const struct plan *plan, struct config_error *error);

#endif
