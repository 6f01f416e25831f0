/* SPDX-License-Identifier: MIT */
/* rl-shim where a launcher has placed the agent, perhaps on another machine that sees the same
 * directories. It is started by the script job/placed_scripts.h, in the directory and with the
 * environment of the agent:
 *
 *	rl-shim --far FAR UUID INPUT GRACE_MS WALL_MS OUTPUT_BYTES PROGRAM ARGUMENT...
 *
 * FAR is the status file of the attempt (record/far_status.h), INPUT a file beside it, or "-". The
 * first such call detaches from its connection and supervises the agent; its records and output are
 * in RECORD_PLACE, and when they are on the disk, FAR says that the agent has ended. Each call
 * returns at once, and says how the agent is:
 *
 *	0		it works, or has ended
 *	FAR_REFUSED	it is not known here, or may not be started
 *	FAR_GONE	its rl-shim has gone without a record, and the agent with it
 */
#ifndef SHIM_FAR_SHIM_H
#define SHIM_FAR_SHIM_H

#define FAR_SHIM_OPTION "--far"

#define FAR_REFUSED 75
#define FAR_GONE 76

/* Words from FAR on. Returns the exit status; words for a person are on stderr. */
int far_shim(int count, char **words);

#endif
