/* SPDX-License-Identifier: MIT */
#include "client/cell.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/field.h"
#include "client/print.h"
#include "client/user_text.h"
#include "proto/clock.h"
#include "proto/memory.h"
#include "proto/units.h"

char *cell_text(const json_t *object, const char *key)
{
	static const char *const whys[] = { "cause", "reason", "why" };
	const char *text = field_text(object, key);

	for (size_t i = 0; i < sizeof(whys) / sizeof(whys[0]); i++)
		if (strcmp(key, whys[i]) == 0)
			return user_text_in(text);
	return xstrdup(text);
}

char *cell_line(const json_t *object, const char *key)
{
	const char *text = field_text(object, key);

	return xmemdup0(text, strcspn(text, "\r\n"));
}

char *cell_texts(const json_t *object, const char *key)
{
	return field_joined(field_array(object, key));
}

char *cell_number(const json_t *object, const char *key)
{
	int64_t n = field_int(object, key);

	return n == FIELD_NONE ? xstrdup("") : xasprintf("%lld", (long long)n);
}

char *cell_some(const json_t *object, const char *key)
{
	return field_count(object, key) > 0 ? cell_number(object, key) : xstrdup("");
}

char *cell_size(const json_t *object, const char *key)
{
	char text[32] = "";

	if (field_int(object, key) != FIELD_NONE)
		size_format(field_int(object, key), text, sizeof(text));
	return xstrdup(text);
}

char *cell_duration(const json_t *object, const char *key)
{
	return print_duration(field_int(object, key));
}

char *cell_cost(const json_t *object, const char *key)
{
	return print_cost(field_real(object, key));
}

char *cell_age(const json_t *object, const char *key)
{
	return print_age(field_time(object, key));
}

/* "CLOCK (BEFORE SPAN AFTER)"; takes ownership of span. */
static char *cell_clock(int64_t time, const char *before, char *span, const char *after)
{
	char *clock = print_clock(time),
	     *text = time == FIELD_NONE ? xstrdup("")
	                                : xasprintf("%s (%s%s%s)", clock, before, span, after);

	free(clock);
	free(span);
	return text;
}

char *cell_when(const json_t *object, const char *key)
{
	int64_t time = field_time(object, key);

	return cell_clock(time, "", print_age(time), " ago");
}

char *cell_until(const json_t *object, const char *key)
{
	int64_t time = field_time(object, key), left = time == FIELD_NONE ? 0 : time - clock_wall();

	return cell_clock(time, "in ", print_duration(left < 0 ? 0 : left), "");
}

char *cell_why(const json_t *object, const char *key)
{
	(void)key;
	return user_text_in(field_either(object, "cause", "reason"));
}

char *cell_because(const json_t *object, const char *first, const char *second)
{
	char *text = user_text_in(field_either(object, first, second)),
	    *why = *text == '\0' ? xstrdup("") : xasprintf(": %s", text);

	free(text);
	return why;
}

char *cell_reason(const json_t *run, const char *key)
{
	char *reason = cell_text(run, "reason"), *until = cell_until(run, "next_at"), *text;

	(void)key;
	text = *until == '\0'
	    ? xstrdup(reason)
	    : xasprintf("%s%snext try at %s", reason, *reason != '\0' ? "; " : "", until);
	free(until);
	free(reason);
	return text;
}

char *cell_other_user(const json_t *object, const char *key)
{
	int64_t uid = field_int(object, key);

	return uid == FIELD_NONE || uid == (int64_t)geteuid() ? xstrdup("") : user_text(uid);
}

char *cell_tokens(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, "tokens");
	int64_t sum = 0;

	(void)key;
	if (json_is_integer(value))
		return print_count(json_integer_value(value));
	for (void *kind = json_object_iter((json_t *)value); kind != NULL;
	     kind = json_object_iter_next((json_t *)value, kind))
		sum += json_integer_value(json_object_iter_value(kind));
	return sum == 0 ? xstrdup("") : print_count(sum);
}

char *cell_took(const json_t *attempt, const char *key)
{
	int64_t started = field_time(attempt, "started_at"), ended = field_time(attempt, "ended_at");

	(void)key;
	if (started == FIELD_NONE)
		return xstrdup("");
	return ended == FIELD_NONE ? print_age(started) : print_duration(ended - started);
}

char *cell_exit(const json_t *attempt, const char *key)
{
	(void)key;
	if (field_int(attempt, "signal") != FIELD_NONE)
		return xasprintf("signal %lld", field_count(attempt, "signal"));
	return cell_number(attempt, "exit_code");
}

char *cell_fault(const json_t *attempt, const char *key)
{
	const char *fault = field_text(attempt, "fault"),
	           *what = field_text(attempt, strcmp(fault, "task") == 0 ? "outcome" : fault);

	(void)key;
	/* its exit status is shown next to it */
	return *fault == '\0' || strcmp(what, "exited") == 0 ? xstrdup(fault) : xasprintf("%s: %s", fault, what);
}

char *cell_place(const json_t *finding, const char *key)
{
	(void)key;
	if (field_int(finding, "line") == FIELD_NONE)
		return cell_text(finding, "file");
	return xasprintf("%s:%lld", field_text(finding, "file"), field_count(finding, "line"));
}

char *cell_finding(const json_t *finding, const char *key)
{
	const char *severity = field_text(finding, "severity"), *text = field_text(finding, "text");
	char *place = cell_place(finding, key), *line;

	line = xasprintf("%s%s%s%s%s%.*s",
	    field_is(finding, "state", "resolved") ? "resolved: " :
	    field_is(finding, "state", "dismissed") ? "dismissed: " :
	    field_is(finding, "state", "outvoted") ? "outvoted: " :
	    field_is(finding, "state", "disputed") ? "disputed: " : "", place,
	    *place != '\0' ? " " : "", severity, *severity != '\0' ? ": " : "",
	    (int)strcspn(text, "\r\n"), text);
	free(place);
	return line;
}

char *cell_resumed(const json_t *attempt, const json_t *attempts, const char *key)
{
	int64_t wanted = field_int(attempt, "resumes");

	return wanted == FIELD_NONE ? xstrdup("") : cell_number(field_find(attempts, key, wanted), "number");
}
