/* SPDX-License-Identifier: MIT */
/* Collects what an ended attempt wrote. */
#ifndef JOB_COLLECT_H
#define JOB_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "core/dispute.h"
#include "job/carrier_copy.h"
#include "job/secrets.h"
#include "model/job.h"
#include "model/slot_key.h"
#include "verdict/verdict.h"

#define DISPUTES_OF_ANSWER 50

struct collect_job {
	struct job job;
	struct slot_key key;		/* the slot that waits for it */
	int64_t attempt;
	enum reader_kind reader;
	struct secrets secrets;		/* owned: secrets to redact in its output */
	uint64_t stdout_bytes, stderr_bytes;	/* as in the exit record, 0: unknown */
	uint64_t dropped;		/* of these, bytes the shim could not or should not keep */
	bool rebooted;			/* the machine was restarted since it was to start */
	/* size of stdout when its shim began to end it: only output before that counts as a result.
	 * UINT64_MAX: all */
	uint64_t unasked;
	int64_t exit_code;		/* see ending_code() */
	/* it was ended because of this refusal by its service; PROVIDER_NONE: it was not */
	enum provider_result refused;
	int64_t ended_at;		/* ms since the epoch */
	char *zone;			/* owned: see ending_zone() */
	/* owned: path of the file in which a corrector marks fixed items, NULL: none; the run's
	 * workspace */
	char *review_file, *workspace;
	bool hands_over;		/* a reviewer with a carrier file */
	struct carrier_copy carrier;	/* in and out, owned: ... its copy */
	struct agent_result result;	/* out, owned */
	/* out, owned: SHA-256 of the stdout that counts, as kept; NULL: it cannot be read */
	char *output_hash;
	char *stderr_hash;		/* out, owned: likewise, of all of stderr */
	/* owned: command of a check, whose finding is wanted; NULL: none */
	char *check;
	int64_t check_status;		/* ... its exit status, or less than 0: the signal */
	char *finding;			/* out, owned: see check_finding() */
	int64_t output_size;		/* out: bytes of it */
	/* owned: its own if a launcher has placed it, NULL: none has; and out, the machine on which
	 * that did, NULL: unknown */
	char *uuid, *node;
	char *answer_hash;		/* out, owned: SHA-256 of the answer file;
					 * NULL: no final text */
	/* out, owned: agent_last_words() of stderr, for failures not explained by the reader; NULL:
	 * none */
	char *last_words;
	struct verdict_finding *marks;	/* out, owned: marked items in review_file */
	size_t nmarks;
	char **markers;			/* owned: stop markers to look for; NULL: none */
	char *worktree;			/* owned: work tree whose size is wanted; NULL: none */
	bool stop;			/* out: its answer contains a stop marker */
	char **no_change_markers;	/* owned: markers that declare that no change is
					 * needed; NULL: none */
	bool says_no_change;		/* out: its answer contains one of these */
	bool may_ask;			/* a question at its end counts */
	/* out, owned: what it asks, on one line without what is unsafe there; NULL: nothing */
	char *question;
	bool fixes;			/* a fixer, which may dispute findings */
	/* out, owned: what it disputes, each on one line without what is unsafe there; and whether
	 * it disputes more than DISPUTES_OF_ANSWER */
	struct dispute_line *disputes;
	size_t ndisputes;
	bool more_disputes;
	int64_t disk_bytes;		/* out: ROW_NONE: not requested */
	/* out: the end of its output was lost to a full or failing disk; see error */
	bool cut;
	/* out, owned: how an unknown reset time was read; NULL: no doubt */
	char *doubt;
	/* out, owned: the output could not be read or the answer not be saved */
	char *error;
};

extern const struct job_type collect_type;

#endif
