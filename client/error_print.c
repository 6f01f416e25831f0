/* SPDX-License-Identifier: MIT */
#include "client/error_print.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/error.h"
#include "proto/escape.h"

/* A general hint about parameters helps only a caller that sent parameters, not options. */
static bool error_hint_helps(const struct call_error *error, const struct option_row *rows)
{
	const struct rpc_error_row *row = rpc_error_find(RPC_INVALID_PARAMS);

	return error->hint[0] != '\0' && (rows == NULL || strcmp(error->hint, row->help) != 0);
}

void error_print(const struct call_error *error, const struct option_row *rows)
{
	const char *option = options_for_param(rows, error->field), *text = error->message;
	size_t named = strlen(error->field);
	char *message;

	/* the message names the option already */
	if (option != NULL && strncmp(text, error->field, named) == 0 && strncmp(text + named, ": ", 2) == 0)
		text += named + 2;
	message = text_escape(text, strlen(text), true);

	if (option != NULL)
		warnx("--%s: %s", option, message);
	else
		warnx("%s", message);
	free(message);
	if (error_hint_helps(error, rows)) {
		char *hint = text_escape(error->hint, strlen(error->hint), true);

		fprintf(stderr, "  %s\n", hint);
		free(hint);
	}
}
