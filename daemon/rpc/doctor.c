/* SPDX-License-Identifier: MIT */
#include "rpc/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/row_json.h"
#include "proto/memory.h"

static const char *const names[] = { [DOCTOR_OK] = "ok", [DOCTOR_WARNING] = "warning", [DOCTOR_FAILED] = "failed" };

const struct state_names doctor_state_names = { "state of a check", names, DOCTOR_STATES, NULL };

static struct doctor_check *doctor_add(struct doctor_checks *checks)
{
	checks->list = xreallocarray(checks->list, checks->count + 1, sizeof(*checks->list));
	return &checks->list[checks->count++];
}

void doctor_vsay(struct doctor_checks *checks, const char *name, enum doctor_state state,
    const char *remedy, const char *fmt, va_list ap)
{
	char *text;

	text = xvasprintf(fmt, ap);	/* out of memory */
	*doctor_add(checks) = (struct doctor_check){ name, state, text, xstrdup(remedy) };
}

void doctor_say(struct doctor_checks *checks, const char *name, enum doctor_state state,
    const char *remedy, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	doctor_vsay(checks, name, state, remedy, fmt, ap);
	va_end(ap);
}

void doctor_move(struct doctor_checks *to, struct doctor_checks *from)
{
	for (size_t i = 0; i < from->count; i++)
		*doctor_add(to) = from->list[i];
	free(from->list);
	*from = (struct doctor_checks){ 0 };
}

void doctor_release(struct doctor_checks *checks)
{
	for (size_t i = 0; i < checks->count; i++) {
		free(checks->list[i].text);
		free(checks->list[i].remedy);
	}
	free(checks->list);
	*checks = (struct doctor_checks){ 0 };
}

json_t *doctor_json(const struct doctor_checks *checks)
{
	json_t *list = json_array();

	for (size_t i = 0; i < checks->count; i++) {
		const struct doctor_check *check = &checks->list[i];

		json_array_append_new(list, json_pack("{s:s,s:s,s:o,s:o}", "name", check->name,
		    "state", state_name(&doctor_state_names, (int)check->state),
		    "text", json_text(check->text), "remedy", json_text(check->remedy)));
	}
	return list;
}
