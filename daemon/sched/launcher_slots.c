/* SPDX-License-Identifier: MIT */
#include "sched/launcher_slots.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/launcher_host.h"
#include "core/row.h"
#include "core/state.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"

/* Whether the attempt of the slot is behind that launcher, on that node (NULL: any): its process,
 * or, with soon, its preparation. */
static bool uses(const struct slot *slot, const char *launcher, const char *node, bool soon)
{
	enum activity_kind kind = slot->activity.kind;
	const struct attempt_row *a;

	if (kind != ACTIVITY_ATTEMPT && !(soon && (kind == ACTIVITY_JOB || kind == ACTIVITY_COMMIT)))
		return false;
	a = run_rows_attempt(slot->run->rows, slot->row->attempt);
	return a != NULL && text_equal(a->launcher, launcher) && (node == NULL || text_equal(a->node, node));
}

/* By other slots than that one. */
static int64_t used(const struct slot *slot, const char *launcher, const char *node, bool soon)
{
	const struct run *run;
	int64_t count = 0;

	LIST_FOREACH(run, &slot->run->engine->begun, begun)
		for (size_t i = 0; i < run->nslots; i++)
			count += run->slots[i] != slot && uses(run->slots[i], launcher, node, soon);
	return count;
}

static bool is_free(const struct slot *slot, const struct agent_plan *agent, const struct launcher_host *host)
{
	return used(slot, agent->launcher, host->name, false) < host->slots;
}

/* "n1: its only slot is in use; n2: all 4 slots are in use"; NULL: one is free, or there is no
 * list. */
static char *hosts_wait(const struct slot *slot, const struct agent_plan *agent)
{
	struct launcher_host host;
	struct buf out = { 0 };

	for (char *const *word = agent->hosts; word != NULL && *word != NULL; word++) {
		if (!launcher_host_read(*word, &host))
			continue;
		if (is_free(slot, agent, &host)) {
			free(out.data);
			return NULL;
		}
		buf_addf(&out, "%s%s: ", out.size > 0 ? "; " : "", host.name);
		if (host.slots == 1)
			buf_adds(&out, "its only slot is in use");
		else
			buf_addf(&out, "all %lld slots are in use", (long long)host.slots);
	}
	return out.data;
}

char *launcher_waits(const struct slot *slot, const struct agent_plan *agent)
{
	char *hosts, *why;

	if (agent->launcher == NULL)
		return NULL;
	if (agent->launcher_slots != 0 && used(slot, agent->launcher, NULL, false) >= agent->launcher_slots)
		return agent->launcher_slots == 1 ?
		    xasprintf("launcher %s: its only slot is in use", agent->launcher) :
		    xasprintf("launcher %s: all %lld slots are in use", agent->launcher,
		    (long long)agent->launcher_slots);
	hosts = hosts_wait(slot, agent);
	why = hosts != NULL ? xasprintf("launcher %s: %s", agent->launcher, hosts) : NULL;
	free(hosts);
	return why;
}

char *launcher_node(const struct slot *slot, const struct agent_plan *agent)
{
	const struct attempt_row *a = run_attempt(slot->run, slot->row->attempt);
	struct launcher_host host, best = { .slots = 0 };
	int64_t count, best_count = 0;

	for (char *const *word = agent->hosts; word != NULL && *word != NULL; word++) {
		if (!launcher_host_read(*word, &host) || !is_free(slot, agent, &host))
			continue;
		if (text_equal(a->launcher, agent->launcher) && text_equal(a->node, host.name))
			return xstrdup(host.name);
		count = used(slot, agent->launcher, host.name, true);
		if (best.slots == 0 || count * best.slots < best_count * host.slots) {
			best = host;
			best_count = count;
		}
	}
	return best.slots == 0 ? NULL : xstrdup(best.name);
}
