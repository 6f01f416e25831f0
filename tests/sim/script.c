/* SPDX-License-Identifier: MIT */
#include "script.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "proto/memory.h"

/* How long a history is shrunk at most. */
#define SHRINK_S 100

struct script *script_new(int steps)
{
	struct script *script = xcalloc(1, sizeof(*script));
	size_t size = ((size_t)steps + 1) * sizeof(*script->states) + sizeof(*script->reached);

	script->states = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (script->states == MAP_FAILED)
		abort();
	script->reached = (int *)(script->states + steps + 1);
	script->kept = xcalloc((size_t)steps + 1, sizeof(*script->kept));
	memset(script->kept, true, (size_t)steps + 1);
	script->steps = steps;
	return script;
}

bool script_keep_only(struct script *script, const char *list)
{
	memset(script->kept, false, (size_t)script->steps);
	while (*list != '\0') {
		char *end;
		long from = strtol(list, &end, 10), to = from;

		if (end == list)
			return false;
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		if (from < 1 || to < from || to > script->steps || (*end != ',' && *end != '\0'))
			return false;
		memset(script->kept + from - 1, true, (size_t)(to - from + 1));
		list = end + (*end == ',');
	}
	return true;
}

char *script_list(const struct script *script)
{
	struct buf list = { 0 };

	buf_adds(&list, "");
	for (int i = 0; i < script->steps; i++) {
		int to = i;

		if (!script->kept[i])
			continue;
		while (to + 1 < script->steps && script->kept[to + 1])
			to++;
		buf_addf(&list, "%s%d", list.size > 0 ? "," : "", i + 1);
		if (to > i)
			buf_addf(&list, "-%d", to + 1);
		i = to;
	}
	return list.data;
}

bool script_at(struct script *script, int i, uint64_t *random)
{
	if (!script->recorded) {
		script->states[i] = *random;
		*script->reached = i + 1;
		return true;
	}
	if (script->kept[i])
		*random = script->states[i];
	return script->kept[i];
}

/* Leave out the next `size` steps that are kept, from *at on, which moves behind them. false: there
 * are none. */
static bool leave_out(struct script *script, int *at, int size)
{
	bool any = false;

	for (; *at < script->steps && size > 0; (*at)++) {
		size -= script->kept[*at];
		any |= script->kept[*at];
		script->kept[*at] = false;
	}
	return any;
}

void script_shrink(struct script *script, bool (*diverges)(struct script *script, void *arg), void *arg)
{
	bool *before = xcalloc((size_t)script->steps + 1, sizeof(*before));
	time_t until = time(NULL) + SHRINK_S;
	int kept = script->steps;

	/* what comes after the step that diverges */
	if (*script->reached < script->steps)
		memset(script->kept + *script->reached, false, (size_t)(script->steps - *script->reached));
	for (int size = script->steps / 2; size > 0; ) {
		bool shrunk = false;

		for (int at = 0; time(NULL) < until; ) {
			memcpy(before, script->kept, (size_t)script->steps + 1);
			if (!leave_out(script, &at, size))
				break;
			if (diverges(script, arg))
				shrunk = true;
			else
				memcpy(script->kept, before, (size_t)script->steps + 1);
		}
		kept = 0;
		for (int i = 0; i < script->steps; i++)
			kept += script->kept[i];
		/* single ones once more, as long as one goes */
		if (time(NULL) >= until || (size == 1 && !shrunk))
			break;
		size = size > kept / 2 && kept > 1 ? kept / 2 : size > 1 ? size / 2 : 1;
	}
	free(before);
}
