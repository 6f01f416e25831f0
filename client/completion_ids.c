/* SPDX-License-Identifier: MIT */
#include "client/completion_ids.h"

#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/field.h"
#include "proto/memory.h"

/* A list of the daemon: method, the array in its result, the member that is the word, and those
 * that say what it means. */
static const struct id_source {
	const char *kind, *method, *rows, *word, *what[2];
	const char *of_run;	/* the parameter that takes a run; the word then is "RUN/WORD" */
	const char *state;	/* only rows in this state; NULL: all */
} sources[] = {
	{ "RUN", "run.list", "runs", "id", { "state", "title" }, NULL, NULL },
	{ "RUN/ATTEMPT", "attempt.list", "attempts", "number", { "role", "state" }, "run", NULL },
	{ "RUN/TASK", "run.get", "tasks", "id", { "state", "title" }, "id", NULL },
	{ "HOLD", "hold.list", "holds", "id", { "task", "reason" }, NULL, "open" },
	{ "GROUP", "group.list", "groups", "name", { NULL, NULL }, NULL, NULL },
	{ "ACCOUNT", "cooldown.list", "accounts", "account", { "kind", NULL }, NULL, NULL },
	{ "SALVAGE", "salvage.list", "salvage", "id", { "task", "ref" }, NULL, NULL },
	{ "METHOD", "rpc.discover", "methods", "name", { "summary", NULL }, NULL, NULL },
	{ "AGENT", "daemon.doctor", "agents", "name", { "program", NULL }, NULL, NULL },
};

/* The member as a word. malloc'd. */
static char *id_word(const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);

	return json_is_integer(value) ? xasprintf("%lld", (long long)json_integer_value(value))
	                              : xstrdup(field_text(row, key));
}

/* One line without control characters. malloc'd. */
static char *id_meaning(const json_t *row, const struct id_source *source)
{
	const char *first = source->what[0] != NULL ? field_text(row, source->what[0]) : "";
	const char *second = source->what[1] != NULL ? field_text(row, source->what[1]) : "";
	char *text = xasprintf("%s%s%s", first, *first != '\0' && *second != '\0' ? ": " : "", second);

	for (char *p = text; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	return text;
}

static void list_ids(struct client *c, const struct id_source *source, int64_t run, completion_found *found, void *arg)
{
	json_t *params = source->of_run != NULL ? json_pack("{s:I}", source->of_run, (json_int_t)run)
	                                        : json_pack("{s:s*}", "state", source->state), *result;
	const json_t *row;
	size_t i;
	int status;

	result = client_call(c, source->method, params, &status);
	json_array_foreach(field_array(result, source->rows), i, row) {
		char *word = id_word(row, source->word), *what = id_meaning(row, source);

		if (source->of_run != NULL) {
			char *whole = xasprintf("%lld/%s", (long long)run, word);

			free(word);
			word = whole;
		}
		found(arg, word, what);
		free(word);
		free(what);
	}
	json_decref(result);
}

void completion_ids(struct client *c, const char *kind, const char *prefix, completion_found *found, void *arg)
{
	char *number = xasprintf("%.*s", (int)strcspn(prefix, "/"), prefix);
	bool inside = strchr(prefix, '/') != NULL;
	int64_t run = 0;

	if (strncmp(kind, "RUN", 3) == 0 && !inside)
		kind = "RUN";
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (strcmp(sources[i].kind, kind) == 0 &&
		    (sources[i].of_run == NULL || client_parse_id(number, &run) == 0))
			list_ids(c, &sources[i], run, found, arg);
	free(number);
}
