/* SPDX-License-Identifier: MIT */
/* What the slots were answered, for the reference: only what a decision on disk was made of. */
#include "world_int.h"

void answer_given(struct world *w, struct where where, char what, int64_t value, int64_t before)
{
	struct answer answer = { where, what, value, before + 1, false };

	if (what != 0 && w->asked_commits > before)
		PUSH(answers, answer);
}

void answers_landed(struct world *w)
{
	for (size_t i = w->nanswers; i > 0 && !w->answers[i - 1].landed; i--)
		w->answers[i - 1].landed = w->answers[i - 1].commit <= w->landed_commits;
}

void answers_lost(struct world *w)
{
	while (w->nanswers > 0 && !w->answers[w->nanswers - 1].landed)
		w->nanswers--;
	w->asked_commits = w->landed_commits;
}

void answers_retire(struct world *w, int64_t run)
{
	REMOVE_IF(answers, i, w->answers[i].where.run == run && w->answers[i].landed, (void)0);
}

int world_answers(const struct world *w, int64_t run, int64_t iteration, int64_t slot,
    struct world_answer *out, int max)
{
	int count = 0;

	for (size_t i = 0; i < w->nanswers && count < max; i++) {
		const struct answer *a = &w->answers[i];

		if (a->landed && same_where(a->where, (struct where){ run, iteration, slot }))
			out[count++] = (struct world_answer){ a->what, a->value };
	}
	return count;
}
