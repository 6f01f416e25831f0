/* SPDX-License-Identifier: MIT */
/* The votes of a panel, as the review log has them. */
#ifndef SLOT_PANEL_VOTES_H
#define SLOT_PANEL_VOTES_H

#include <stdbool.h>

#include "core/quorum.h"

struct profile;
struct review_row;
struct slot;

/* The word of a vote in the profile's log. */
const char *panel_word(const struct profile *profile, enum vote vote);

/* The reviewer's verdict on the work as it is, which counts in the next decision; NULL: none. */
const struct review_row *panel_verdict(const struct slot *slot, const char *reviewer);

/* The same, or the row that says that it gave none. */
const struct review_row *panel_vote_row(const struct slot *slot, const char *reviewer);

/* The reviewer's vote. VOTE_AWAITED: its voter is at work. */
enum vote panel_vote_of(const struct slot *slot, const char *reviewer);

/* The voter of the reviewer, or its row of an ended one; NULL: it has none. */
const struct slot_row *panel_voter(const struct slot *slot, const char *reviewer);

/* Its last review or set-up is one of role, and was lost; a review: in this round. */
bool panel_was_lost(const struct slot *slot, const char *reviewer, enum role role);

#endif
