/* SPDX-License-Identifier: MIT */
/* What an ended attempt said. */
#ifndef JOB_COLLECT_H
#define JOB_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "job/secrets.h"
#include "model/job.h"
#include "model/slot_key.h"
#include "verdict/verdict.h"

struct collect_job {
	struct job job;
	struct slot_key key;		/* the slot that waits for it */
	int64_t attempt;
	enum reader_kind reader;
	struct secrets secrets;		/* owned: what must not be seen in what it said */
	uint64_t stdout_bytes, stderr_bytes;	/* that the exit record speaks of, 0:
						 * nothing is known */
	uint64_t dropped;		/* of these, what the shim could not keep or
					 * was not to keep */
	bool rebooted;			/* the machine was started anew since it was to start */
	uint64_t unasked;		/* of stdout, what it wrote before its shim ended it: its
					 * result is read from there alone. UINT64_MAX: all */
	int64_t exit_code;		/* see ending_code() */
	enum provider_result refused;	/* it was ended for that refusal of its service;
					 * PROVIDER_NONE: it was not */
	int64_t ended_at;		/* ms since the epoch */
	char *zone;			/* owned: see ending_zone() */
	char *review_file;		/* owned: path in which a corrector marks what it
					 * fixed; NULL: none */
	struct agent_result result;	/* out, owned */
	char *answer_hash;		/* out, owned: SHA-256 of the answer file;
					 * NULL: no final text */
	char *last_words;		/* out, owned: agent_last_words() of stderr, for failures
					 * that the reader cannot explain; NULL: none */
	struct verdict_finding *marks;	/* out, owned: items that are marked in review_file */
	size_t nmarks;
	char **markers;			/* owned: stop markers to look for; NULL: none */
	char *worktree;			/* owned: whose size is wanted; NULL: none */
	bool stop;			/* out: its answer has one */
	char **no_change_markers;	/* owned: the same for the word that nothing
					 * is to be changed */
	bool says_no_change;		/* out */
	int64_t disk_bytes;		/* out: ROW_NONE: not asked for */
	bool cut;			/* out: the end of its output is not there, for a disk
					 * refused it; error says so */
	char *doubt;			/* out, owned: how a reset time was read that nobody
					 * understands; NULL: none */
	char *error;			/* out, owned: the output could not be read or the
					 * answer not be kept */
};

extern const struct job_type collect_type;

#endif
