/* SPDX-License-Identifier: MIT */
#include "client/check_list.h"

#include <string.h>

#include "client/field.h"
#include "proto/escape.h"
#include "proto/memory.h"

static enum paint paint_of(const char *state)
{
	return strcmp(state, "ok") == 0 ? PAINT_GREEN : strcmp(state, "warning") == 0 ? PAINT_YELLOW : PAINT_RED;
}

size_t check_widest(const json_t *checks, size_t width)
{
	for (size_t i = 0; i < json_array_size(checks); i++) {
		size_t one = text_width(field_text(json_array_get(checks, i), "name"));

		width = one > width ? one : width;
	}
	return width;
}

/* Sentences are not cut; they continue on the next line of the terminal. */
static void print_checks(const struct print *p, const json_t *checks, size_t width)
{
	for (size_t i = 0; i < json_array_size(checks); i++) {
		const json_t *check = json_array_get(checks, i);
		const char *state = field_text(check, "state"), *name = field_text(check, "name"),
		           *remedy = field_text(check, "remedy");

		fputs("  ", p->file);
		print_painted(p, paint_of(state), state);
		fprintf(p->file, "%*s", (int)(9 - strlen(state)), "");
		print_painted(p, PAINT_NONE, name);
		fprintf(p->file, "%*s", (int)(width + 2 - text_width(name)), "");
		print_painted(p, PAINT_NONE, field_text(check, "text"));
		fputc('\n', p->file);
		if (*remedy != '\0') {
			fprintf(p->file, "%*s", (int)(width + 13), "");
			print_paintedf(p, PAINT_DIM, "-> %s", remedy);
			fputc('\n', p->file);
		}
	}
}

void check_print_section(const struct print *p, const char *title, const json_t *checks, size_t width)
{
	if (json_array_size(checks) == 0)
		return;
	print_painted(p, PAINT_BOLD, title);
	fputc('\n', p->file);
	print_checks(p, checks, width);
}

void check_print_agents(const struct print *p, const json_t *agents, size_t width)
{
	struct buf absent = { 0 };
	json_t *all = json_array();

	for (size_t i = 0; i < json_array_size(agents); i++) {
		const json_t *agent = json_array_get(agents, i), *checks = field_array(agent, "checks");

		json_array_extend(all, (json_t *)checks);
		if (json_array_size(checks) == 0) {
			buf_separate(&absent, ", ");
			buf_adds(&absent, field_text(agent, "name"));
		}
	}
	check_print_section(p, "Agents, as started from this shell", all, width);
	if (absent.size > 0) {
		print_paintedf(p, PAINT_NONE, "Not installed: %s", absent.data);
		fputc('\n', p->file);
	}
	buf_release(&absent);
	json_decref(all);
}
