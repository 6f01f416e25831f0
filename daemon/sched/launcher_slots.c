/* SPDX-License-Identifier: MIT */
#include "sched/launcher_slots.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/backoff.h"
#include "core/launcher_host.h"
#include "core/row.h"
#include "core/state.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "proto/units.h"
#include "record/exit_record.h"
#include "txn/txn.h"

/* A machine that did not answer the last time. */
struct node_fault {
	char *launcher, *node, *why;
	int64_t tries;		/* one after the other */
	int64_t until;		/* TIME of the next one */
};

/* NULL: it has answered, or was never asked. */
static struct node_fault *fault_of_node(const struct engine *engine, const char *launcher, const char *node)
{
	for (size_t i = 0; i < engine->nnode_faults; i++) {
		struct node_fault *fault = &engine->node_faults[i];

		if (strcmp(fault->launcher, launcher) == 0 && strcmp(fault->node, node) == 0)
			return fault;
	}
	return NULL;
}

/* NULL: it is not left out. */
static const struct node_fault *left_out(const struct slot *slot, const struct agent_plan *agent, const char *node)
{
	const struct node_fault *fault = fault_of_node(slot->run->engine, agent->launcher, node);

	return fault != NULL && fault->until > engine_now(slot->run->engine) ? fault : NULL;
}

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
	return left_out(slot, agent, host->name) == NULL &&
	    used(slot, agent->launcher, host->name, false) < host->slots;
}

static void add_fault(struct buf *out, const struct node_fault *fault, int64_t *until)
{
	char time[40];

	time_format(fault->until, time, sizeof(time));
	buf_addf(out, "left out until %s: %s", time, fault->why);
	if (*until == ROW_NONE || fault->until < *until)
		*until = fault->until;
}

/* "n1: its only slot is in use; n2: all 4 slots are in use"; NULL: one is free, or there is no
 * list. */
static char *hosts_wait(const struct slot *slot, const struct agent_plan *agent, int64_t *until)
{
	const struct node_fault *fault;
	struct launcher_host host;
	struct buf out = { 0 };

	for (char *const *word = agent->hosts; word != NULL && *word != NULL; word++) {
		if (!launcher_host_read(*word, &host))
			continue;
		if (is_free(slot, agent, &host)) {
			free(out.data);
			*until = ROW_NONE;
			return NULL;
		}
		buf_addf(&out, "%s%s: ", out.size > 0 ? "; " : "", host.name);
		if ((fault = left_out(slot, agent, host.name)) != NULL)
			add_fault(&out, fault, until);
		else if (host.slots == 1)
			buf_adds(&out, "its only slot is in use");
		else
			buf_addf(&out, "all %lld slots are in use", (long long)host.slots);
	}
	return out.data;
}

char *launcher_waits(const struct slot *slot, const struct agent_plan *agent, int64_t *until)
{
	char *hosts, *why;

	if (agent->launcher == NULL)
		return NULL;
	if (agent->launcher_slots != 0 && used(slot, agent->launcher, NULL, false) >= agent->launcher_slots)
		return agent->launcher_slots == 1 ?
		    xasprintf("launcher %s: its only slot is in use", agent->launcher) :
		    xasprintf("launcher %s: all %lld slots are in use", agent->launcher,
		    (long long)agent->launcher_slots);
	hosts = hosts_wait(slot, agent, until);
	why = hosts != NULL ? xasprintf("launcher %s: %s", agent->launcher, hosts) : NULL;
	free(hosts);
	return why;
}

/* Whether the attempt was there: its conversation may be on that machine only. */
static bool was_there(const struct attempt_row *a, const struct agent_plan *agent, const char *node)
{
	return a != NULL && text_equal(a->launcher, agent->launcher) && text_equal(a->node, node);
}

char *launcher_node(const struct slot *slot, const struct agent_plan *agent)
{
	const struct attempt_row *a = run_attempt(slot->run, slot->row->attempt);
	const struct attempt_row *resumed = a->resumes != ROW_NONE ? run_attempt(slot->run, a->resumes) : NULL;
	struct launcher_host host, best = { .slots = 0 };
	int64_t count, best_count = 0;

	for (char *const *word = agent->hosts; word != NULL && *word != NULL; word++) {
		if (!launcher_host_read(*word, &host) || !is_free(slot, agent, &host))
			continue;
		if (was_there(a, agent, host.name) || was_there(resumed, agent, host.name))
			return xstrdup(host.name);
		count = used(slot, agent->launcher, host.name, true);
		if (best.slots == 0 || count * best.slots < best_count * host.slots) {
			best = host;
			best_count = count;
		}
	}
	return best.slots == 0 ? NULL : xstrdup(best.name);
}

/* One of the list of its launcher. */
static bool is_listed(const struct slot *slot, const struct attempt_row *a)
{
	return a->launcher != NULL && a->node != NULL &&
	    strings_count(plan_agent(slot_plan(slot), (enum role)a->role, a->agent)->hosts) > 0;
}

bool launcher_failed(const struct slot *slot, const struct attempt_row *a)
{
	return !slot->lost && slot->record.far == EXIT_FAR_NOT_STARTED && is_listed(slot, a);
}

static void leave_out(struct engine *engine, const struct attempt_row *a)
{
	struct node_fault *fault = fault_of_node(engine, a->launcher, a->node);

	if (fault == NULL) {
		engine->node_faults = xreallocarray(engine->node_faults, engine->nnode_faults + 1, sizeof(*fault));
		fault = &engine->node_faults[engine->nnode_faults++];
		*fault = (struct node_fault){ .launcher = xstrdup(a->launcher), .node = xstrdup(a->node) };
	}
	text_set(&fault->why, a->cause);
	fault->until = backoff_until(engine_now(engine), ++fault->tries, ROW_NONE, a->uuid);
}

static void fault_release(struct node_fault *fault)
{
	free(fault->launcher);
	free(fault->node);
	free(fault->why);
}

static void answers(struct engine *engine, const struct attempt_row *a)
{
	struct node_fault *fault = fault_of_node(engine, a->launcher, a->node);

	if (fault == NULL)
		return;
	fault_release(fault);
	*fault = engine->node_faults[--engine->nnode_faults];
}

void launcher_ended(struct txn *txn, const struct slot *slot, const struct attempt_row *a)
{
	const struct exit_record *r = &slot->record;

	if (a->launcher == NULL)
		return;
	txn_effect_cooling(txn);
	if (!is_listed(slot, a) || slot->lost)
		return;
	if (r->far == EXIT_FAR_NOT_STARTED || r->cancelled == EXIT_CANCEL_FAILED)
		leave_out(slot->run->engine, a);
	else if (r->far == EXIT_FAR_ENDED)
		answers(slot->run->engine, a);
}

void engine_left_out(struct engine *engine,
    void (*each)(void *arg, const char *launcher, const char *node, int64_t until, const char *why), void *arg)
{
	for (size_t i = 0; i < engine->nnode_faults; i++) {
		const struct node_fault *fault = &engine->node_faults[i];

		if (fault->until > engine_now(engine))
			each(arg, fault->launcher, fault->node, fault->until, fault->why);
	}
}

void launcher_slots_free(struct engine *engine)
{
	for (size_t i = 0; i < engine->nnode_faults; i++)
		fault_release(&engine->node_faults[i]);
	free(engine->node_faults);
}
