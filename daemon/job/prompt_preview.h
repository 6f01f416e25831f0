/* SPDX-License-Identifier: MIT */
/* The prompt that a role of a run would get, before there is a run. */
#ifndef JOB_PROMPT_PREVIEW_H
#define JOB_PROMPT_PREVIEW_H

#include <stddef.h>

#include "core/plan.h"
#include "core/state.h"

/* in: borrowed */
struct prompt_preview {
	const struct plan *plan;
	enum role role;
	const char *task, *workdir, *config_dir;
	/* out: owned */
	char *prompt;			/* NULL: see error */
	size_t size;
	char **warnings;		/* about missing files; NULL: none */
	char *error;			/* a sentence; NULL: none */
	const char *field;		/* ... the setting it is about, static; NULL: none */
};

/* What only a run has is named in parentheses, and the nonce is NONCE_NONE. Reads files; call it
 * off the loop. */
void prompt_preview_make(struct prompt_preview *preview);
void prompt_preview_release(struct prompt_preview *preview);

#endif
