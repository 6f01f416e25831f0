/* SPDX-License-Identifier: MIT */
#include "client/exit.h"

#include <string.h>

#include "client/field.h"
#include "proto/memory.h"
#include "proto/run_class.h"

/* Worst first. */
static const enum exit_code badness[] = {
	EXIT_TIMED_OUT, EXIT_RUN_FAILED, EXIT_RUN_LOST, EXIT_RUN_HELD, EXIT_RUN_LIMIT, EXIT_RUN_CANCELLED, EXIT_DONE,
};

bool exit_is_final(const char *state)
{
	return run_class_of(state, END_NONE) != NULL;
}

bool exit_has_ended(const char *state)
{
	return exit_is_final(state) && strcmp(state, "held") != 0;
}

enum exit_code exit_of_run(const json_t *run)
{
	const struct run_class *class = run_class_of(field_text(run, "state"), field_end_kind(run));

	return class == NULL ? EXIT_TIMED_OUT : (enum exit_code)class->code;
}

enum exit_code exit_worse(enum exit_code a, enum exit_code b)
{
	for (size_t i = 0; i < ARRAY_SIZE(badness); i++)
		if (badness[i] == a || badness[i] == b)
			return badness[i];
	return a;
}
