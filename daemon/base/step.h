/* SPDX-License-Identifier: MIT */
#ifndef BASE_STEP_H
#define BASE_STEP_H

/* What an operation on git or on a task source needs next. */
enum step_next {
	STEP_NEXT_RUN,		/* rl-git is to be run */
	STEP_NEXT_DONE,		/* the operation's results are valid */
	STEP_NEXT_FAILED	/* its error says what, and the remedy */
};

#endif
