/* SPDX-License-Identifier: MIT */
#include "slot/left_out.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "proto/units.h"
#include "txn/emit.h"
#include "txn/txn.h"

#define NAMED 5

char *left_out_text(const struct attempt_row *attempt)
{
	json_t *list = attempt->left_out != NULL ? json_loads(attempt->left_out, 0, NULL) : NULL;
	long long cut = (long long)(attempt->diff_bytes - attempt->diff_shown);
	struct buf text = { 0 };
	size_t shown = 0, size;

	if (list == NULL)
		return NULL;
	buf_adds(&text, "the reviewer's prompt left out ");
	if (cut > 0)
		buf_addf(&text, "%lld of %lld bytes of the diff: ", cut, (long long)attempt->diff_bytes);
	for (; shown < json_array_size(list) && shown < NAMED; shown++) {
		const char *file = "", *why = "";
		json_int_t bytes = 0;
		char number[32];

		(void)json_unpack(json_array_get(list, shown), "{s:s, s:s, s:I}", "file", &file, "why", &why,
		    "bytes", &bytes);
		size_format(bytes, number, sizeof(number));
		buf_addf(&text, "%s%s (%s%s%s)", shown > 0 ? ", " : "", file,
		    strcmp(why, "size") == 0 ? "" : why, strcmp(why, "size") == 0 ? "" : ", ", number);
	}
	if (attempt->left_out_files > (int64_t)shown)
		buf_addf(&text, " and %lld more", (long long)attempt->left_out_files - (long long)shown);
	json_decref(list);
	return buf_take(&text, &size);
}

void left_out_warn(struct txn *txn, const struct slot *slot, const struct attempt_row *attempt)
{
	char *what = left_out_text(attempt), *text;

	if (what == NULL)
		return;
	text = xasprintf("task %s, review %lld: %s; see rlctl diff %lld", slot_task_id(slot),
	    (long long)attempt->round, what, (long long)attempt->run);
	run_warn(txn, slot->run, text);
	free(text);
	free(what);
}
