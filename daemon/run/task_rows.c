/* SPDX-License-Identifier: MIT */
/* Makes a row from a task of a source. */
#include "run/task_rows.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/row.h"
#include "core/state.h"
#include "core/tasks.h"
#include "model/runs.h"
#include "proto/memory.h"
#include "task/task.h"

#define TITLE_MAX 80	/* in code points */

char *task_title(const char *text)
{
	const char *start = text + strspn(text, " \t\r\n");
	size_t length = strcspn(start, "\r\n"), points = 0, cut = 0;

	while (cut < length && points <= TITLE_MAX) {
		if (((unsigned char)start[cut] & 0xc0) != 0x80 && ++points > TITLE_MAX)
			break;
		cut++;
	}
	return cut < length ? xasprintf("%.*s…", (int)cut, start) : xmemdup0(start, length);
}

/* Whether the row's title is shortened. */
static bool is_cut(const char *title)
{
	char *kept = task_title(title);
	bool cut = strcmp(kept, title) != 0;

	free(kept);
	return cut;
}

/* Instructions for the agent: the title, if there is no description or the title was shortened, and
 * the acceptance criteria. */
static char *text_of(const struct task_item *item)
{
	bool described = item->description != NULL && item->description[0] != '\0',
	    titled = item->title != NULL && (!described || is_cut(item->title));
	bool bound = item->acceptance != NULL && item->acceptance[0] != '\0';

	return xasprintf("%s%s%s%s%s", titled ? item->title : "", titled && described ? "\n\n" : "",
	    described ? item->description : titled ? "" : item->id,
	    bound ? "\n\n### Acceptance criteria\n\n" : "", bound ? item->acceptance : "");
}

struct task_row *task_row_new(int64_t run, const struct task_item *item)
{
	struct task_row *row = row_new(ROW_TASK);
	char *text;

	row->run = run;
	row->id = xstrdup(item->id);
	row->title = task_title(item->title != NULL ? item->title : item->description != NULL ?
	    item->description : item->id);
	text = text_of(item);
	task_set_text(row, text, strlen(text));
	row->priority = item->priority;
	row->status = xstrdup(item->status);
	row->acceptance = xstrdup(item->acceptance);
	row->depends_on = task_depends(item->depends_on);
	row->state = item->done ? TASK_S_DONE : TASK_S_OPEN;
	return row;
}

bool item_is_newer(const struct task_item *item, int64_t at)
{
	struct tm tm = { 0 };
	int64_t offset = 0;
	const char *end;
	int hours, minutes;
	char sign;

	if (item->updated_at == NULL || (end = strptime(item->updated_at, "%Y-%m-%dT%H:%M:%S", &tm)) == NULL)
		return false;
	end += *end == '.' ? strspn(end + 1, "0123456789") + 1 : 0;
	if (sscanf(end, "%c%2d:%2d", &sign, &hours, &minutes) == 3 && (sign == '+' || sign == '-'))
		offset = (sign == '-' ? -1 : 1) * (hours * INT64_C(3600) + minutes * 60);
	return ((int64_t)timegm(&tm) - offset) * 1000 > at;
}
