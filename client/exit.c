/* SPDX-License-Identifier: MIT */
#include "client/exit.h"

#include <string.h>

#include "client/field.h"

struct exit_row {
	const char *state;
	const char *cause;	/* what the cause begins with */
	enum exit_code code;
};

/* First match wins. */
static const struct exit_row exit_rows[] = {
	{ "succeeded", "", EXIT_DONE },
	{ "cancelled", "", EXIT_RUN_CANCELLED },
	{ "held", "", EXIT_RUN_HELD },
	{ "failed", "limit: ", EXIT_RUN_LIMIT },
	{ "failed", "lost", EXIT_RUN_LOST },
	{ "failed", "", EXIT_RUN_FAILED },
};
#define ROWS (sizeof exit_rows / sizeof exit_rows[0])

/* Worst first. */
static const enum exit_code badness[] = {
	EXIT_TIMED_OUT, EXIT_RUN_FAILED, EXIT_RUN_LOST, EXIT_RUN_HELD, EXIT_RUN_LIMIT, EXIT_RUN_CANCELLED, EXIT_DONE,
};

bool exit_is_final(const char *state)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (strcmp(exit_rows[i].state, state) == 0)
			return true;
	}
	return false;
}

enum exit_code exit_of_run(const json_t *run)
{
	const char *state = field_text(run, "state"), *cause = field_text(run, "cause");

	for (size_t i = 0; i < ROWS; i++) {
		const struct exit_row *row = &exit_rows[i];

		if (strcmp(row->state, state) == 0 && strncmp(row->cause, cause, strlen(row->cause)) == 0)
			return row->code;
	}
	return EXIT_TIMED_OUT;
}

enum exit_code exit_worse(enum exit_code a, enum exit_code b)
{
	for (size_t i = 0; i < sizeof badness / sizeof badness[0]; i++) {
		if (badness[i] == a || badness[i] == b)
			return badness[i];
	}
	return a;
}
