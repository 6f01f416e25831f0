/* SPDX-License-Identifier: MIT */
/* What prepares work trees and rooms, as hashes. malloc'd. */
#ifndef EVIDENCE_SETUP_KEY_H
#define EVIDENCE_SETUP_KEY_H

struct slot;

/* Of the slot's rooms as checks find them: its commands, patterns and copied files. NULL: nothing
 * prepares them. */
char *setup_hash(const struct slot *slot);

/* Of what its commands depend on beside a tree and copied files: a prepared room is cloned only
 * where it is the same. NULL: there are no commands. */
char *setup_key(const struct slot *slot);

#endif
