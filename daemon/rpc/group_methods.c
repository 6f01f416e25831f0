/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "model/row_json.h"
#include "proto/memory.h"
#include "rpc/context.h"

#define SLOTS_MAX 1000
#define NAME_MAX_BYTES 64

static json_t *group_document(const struct group_info *group)
{
	return json_pack("{s:o,s:o,s:b,s:I,s:I,s:b}", "name", json_text(group->name), "slots",
	    json_int(group->slots), "live", group->live,
	    "used", (json_int_t)group->used, "queued", (json_int_t)group->queued, "paused", group->paused);
}

static void add_group(void *arg, const struct group_info *group)
{
	json_array_append_new(arg, group_document(group));
}

static struct reply group_list(struct rpc *rpc, struct call *call)
{
	json_t *groups = json_array();

	engine_groups(rpc->options.engine, add_group, groups);
	return reply_ok(call, json_pack("{s:o}", "groups", groups));
}

struct setting {
	struct rpc *rpc;
	struct call *call;
	json_t *json;		/* the group that was set, NULL until found */
};

static void find_group(void *arg, const struct group_info *group)
{
	struct setting *s = arg;

	if (strcmp(group->name, call_text(s->call, "name")) == 0)
		s->json = group_document(group);
}

static void set_reply(void *arg, const struct engine_reply *reply)
{
	struct setting *s = arg;

	if (reply->code != RPC_OK) {
		call_error(s->call, reply->code, reply->field, reply->hint, "%s", reply->message);
		free(s);
		return;
	}
	engine_groups(s->rpc->options.engine, find_group, s);
	if (s->json == NULL)	/* the group is unused, and equal to rld.toml */
		s->json = group_document(&(struct group_info){ .name = call_text(s->call, "name"), .slots = ROW_NONE });
	call_ok(s->call, s->json);
	free(s);
}

/* slots, paused: as for engine_group_set(). */
static struct reply change(struct rpc *rpc, struct call *call, int64_t slots, int paused)
{
	const char *name = call_text(call, "name");
	struct setting *s;

	if (!config_group_name(name))
		return reply_error(call, RPC_INVALID_PARAMS, "name",
		    "letters, digits, '_' and '-', at most 64, starting with a letter or a digit",
		    "'%s' is not a valid group name", name);
	s = xcalloc(1, sizeof(*s));
	*s = (struct setting){ rpc, call, NULL };
	engine_group_set(rpc->options.engine, name, slots, paused, call_flag(call, "check"), set_reply, s);
	return reply_later(call);
}

static struct reply group_set(struct rpc *rpc, struct call *call)
{
	return change(rpc, call, call_int(call, "slots", ROW_NONE), -1);
}

static struct reply pause_group(struct rpc *rpc, struct call *call)
{
	return change(rpc, call, -1, 1);
}

static struct reply group_resume(struct rpc *rpc, struct call *call)
{
	return change(rpc, call, -1, 0);
}

#define NAME_PARAM \
	{ "name", SCHEMA_TEXT, .required = true, .min = 1, .max = NAME_MAX_BYTES, .help = "name of the group" }
#define CHECK_PARAM { "check", SCHEMA_BOOL, .help = "validate only; make no changes (dry run)" }

static const struct schema set_params[] = {
	NAME_PARAM,
	{ "slots", SCHEMA_INT, .min = 1, .max = SLOTS_MAX,
	    .help =
	        "maximum number of attempts at a time, over all its runs; default: from rld.toml" },
	CHECK_PARAM,
	{ 0 },
};
static const struct schema pause_params[] = { NAME_PARAM, CHECK_PARAM, { 0 } };

static const struct result_field list_results[] = {
	{ "groups", "[Group]",
	    "by name: groups in rld.toml, groups that were set, and groups of unfinished runs" },
	{ 0 },
};
static const struct result_field group_results[] = {
	RESULT_TYPE("Group"),
	{ 0 },
};
static const int change_errors[] = { RPC_NO_SPACE, 0 };

const struct method group_methods[] = {
	{ "group.list", ACCESS_READ, true, NULL, list_results, NULL, group_list,
	    "list groups of runs and their slots" },
	{ "group.set", ACCESS_ADMIN, false, set_params, group_results, change_errors, group_set,
	    "set the number of slots of a group" },
	{ "group.pause", ACCESS_ADMIN, false, pause_params, group_results, change_errors,
	    pause_group, "finish running attempts of a group, start no new ones" },
	{ "group.resume", ACCESS_ADMIN, false, pause_params, group_results, change_errors,
	    group_resume, "undo group.pause" },
	{ 0 },
};
