/* SPDX-License-Identifier: MIT */
/* A slot of a run as the disk has it, told to the reference, and what the reference makes of it. */
#ifndef SIM_TALE_H
#define SIM_TALE_H

#include "reference.h"
#include "world.h"

#define ANSWERS_MAX 512

struct tale {
	const struct slot_row *row;
	struct ref_attempt attempts[REF_MAX * 2];
	struct ref_answer answers[ANSWERS_MAX];
	struct ref_hold holds[REF_MAX];
	struct ref_reused reused[REF_MAX];
	/* of each voter of its panel */
	struct ref_attempt voter_attempts[REF_VOTERS][REF_MAX];
	struct ref_answer voter_answers[REF_VOTERS][ANSWERS_MAX];
	struct ref_slot slot;
	struct ref_end end;
};

/* tales: those of the run's slots, in order; slot 0 is told last, for it begins with what
 * the others came to. */
void tale_tell(struct tale *t, const struct world *w, const struct run_rows *rows,
    const struct slot_row *row, const struct tale *tales);

#endif
