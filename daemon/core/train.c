/* SPDX-License-Identifier: MIT */
#include "core/train.h"

/* Green there judges half of what the red one may be red by, or all of it but one. */
static size_t middle_before(size_t red)
{
	return (red - 1) / 2;
}

enum train_step train_step(const struct train_facts *f)
{
	if (f->at == f->count)
		return TRAIN_ANEW;
	if (f->busy || f->joined)
		return TRAIN_WAIT;
	if (f->red == 0)
		return f->at == 0 ? TRAIN_RED : TRAIN_WAIT;
	return f->at == (f->red < f->count ? middle_before(f->red) : f->count - 1) ? TRAIN_CHECK : TRAIN_WAIT;
}
