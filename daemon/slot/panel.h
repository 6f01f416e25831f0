/* SPDX-License-Identifier: MIT */
/* A panel of reviewers (review.reviewers). While a slot is in PANEL, each reviewer has a voter: a
 * separate slot with the same tree, and with its own room, attempts, permit and waits. It goes from
 * WAITING to CHECKOUT, REVIEWING and VERIFYING as a slot with one reviewer does, and ends there:
 * PASSED, its vote is a review row; FAILED or HELD, there is none.
 * When no voter is at work any more, the slot decides.
 *
 * Votes are kept: one that is a verdict on the same tree, given since the last decision that was a
 * verdict, counts, also in a retry, and its reviewer is not paid again. */
#ifndef SLOT_PANEL_H
#define SLOT_PANEL_H

#include <stdbool.h>

#include "core/quorum.h"

struct slot;
struct txn;
struct verdict;

/* The slot has entered PANEL: have those vote that have not. */
void panel_begin(struct txn *txn, struct slot *slot);

bool panel_is_at_work(const struct slot *slot);		/* one of its voters is */

/* The reviewer of the voter has voted, or failed to: text says what, or why. */
void panel_vote(struct txn *txn, struct slot *voter, enum vote vote, const char *text, const struct verdict *v);

/* The voter has ended, or is held. */
void panel_voter_ended(struct txn *txn, struct slot *voter);

#endif
