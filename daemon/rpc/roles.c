/* SPDX-License-Identifier: MIT */
#include "rpc/roles.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agent_user.h"
#include "base/log.h"
#include "base/offload.h"
#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/run_load.h"

#define ENTRY_SIZE (64 * 1024)	/* of a user or group with its members; more: ERANGE */
#define ENTRY_SIZE_MAX (16 * 1024 * 1024)
/* names that were unknown are looked up again after this time, when a client is refused */
#define LATE_MS 10000

static const char *const caller_names[] = { "agent", "read", "submit", "admin" };

const struct state_names caller_role_names = { "role", caller_names, sizeof(caller_names) / sizeof(caller_names[0]),
    NULL };

/* ---- names to numbers ---- */

/* A look-up in progress: of copies, because a reload may come. */
struct lookup {
	struct rpc *rpc;
	char *file;
	struct config_principal *list;
	size_t count;
	uint64_t number;	/* of the look-up */
	struct roles roles;	/* result */
	void (*done)(void *arg);
	void *arg;
};

static bool read_number(const char *text, unsigned *id)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	*id = (unsigned)n;
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && n < (uid_t)-1;
}

static int find_user(const char *name, char *text, size_t size, unsigned *id)
{
	struct passwd entry, *found = NULL;
	int error = getpwnam_r(name, &entry, text, size, &found);

	*id = found != NULL ? entry.pw_uid : 0;
	return found != NULL ? 0 : error == ERANGE ? ERANGE : ENOENT;
}

static int find_group(const char *name, char *text, size_t size, unsigned *id)
{
	struct group entry, *found = NULL;
	int error = getgrnam_r(name, &entry, text, size, &found);

	*id = found != NULL ? entry.gr_gid : 0;
	return found != NULL ? 0 : error == ERANGE ? ERANGE : ENOENT;
}

static bool find_id(const char *name, unsigned *id)
{
	bool group = name[0] == '@';
	int error = ERANGE;

	if (read_number(name + group, id))
		return true;
	for (size_t size = ENTRY_SIZE; error == ERANGE && size <= ENTRY_SIZE_MAX; size *= 4) {
		char *text = xcalloc(1, size);

		error = (group ? find_group : find_user)(name + group, text, size, id);
		free(text);
	}
	return error == 0;
}

static void add_principal(struct access_list *list, bool group, unsigned id)
{
	if (group) {
		list->groups = xreallocarray(list->groups, list->ngroups + 1, sizeof(*list->groups));
		list->groups[list->ngroups++] = id;
	} else {
		list->uids = xreallocarray(list->uids, list->nuids + 1, sizeof(*list->uids));
		list->uids[list->nuids++] = id;
	}
}

static void add_unknown(struct lookup *lookup, const struct config_principal *who)
{
	bool group = who->name[0] == '@';
	char *place = who->line == 0 ? xstrdup("by default") : xasprintf("%s:%u", lookup->file, who->line);
	char *text = xasprintf("%s: access.%s names the %s '%s', which this host does not know", place,
	    state_name(&rank_names, (int)who->rank), group ? "group" : "user", who->name + group);

	strings_append(&lookup->roles.unknown, text);
	free(text);
	free(place);
}

static void lookup_run(void *arg)
{
	struct lookup *lookup = arg;

	for (size_t i = 0; i < lookup->count; i++) {
		const struct config_principal *who = &lookup->list[i];
		unsigned id;

		if (find_id(who->name, &id))
			add_principal(&lookup->roles.table.lists[who->rank], who->name[0] == '@', id);
		else
			add_unknown(lookup, who);
	}
}

void roles_release(struct roles *roles)
{
	for (int i = 0; i < RANKS; i++)
		access_list_release(&roles->table.lists[i]);
	strings_free(roles->unknown);
	*roles = (struct roles){ 0 };
}

static struct lookup *lookup_new(struct rpc *rpc)
{
	struct lookup *lookup = xcalloc(1, sizeof(*lookup));

	lookup->rpc = rpc;
	lookup->file = xstrdup(config_path(rpc_config(rpc)));
	lookup->list = config_access(rpc_config(rpc), rpc->options.system, &lookup->count);
	for (size_t i = 0; i < lookup->count; i++)
		lookup->list[i].name = xstrdup(lookup->list[i].name);
	lookup->number = ++rpc->roles_asked;
	lookup->roles.table.own = geteuid();
	lookup->roles.open = rpc->options.system || lookup->count > 0 || agent_user()->apart;
	/* agents of another user connect, too; what they may is in rpc/agent_access.c */
	if (agent_user()->apart)
		add_principal(&lookup->roles.table.lists[RANK_READ], false, agent_user()->is.uid);
	rpc->roles_at = uv_now(rpc->options.loop);
	return lookup;
}

static void lookup_free(struct lookup *lookup)
{
	for (size_t i = 0; i < lookup->count; i++)
		free((char *)lookup->list[i].name);
	free(lookup->list);
	free(lookup->file);
	roles_release(&lookup->roles);
	free(lookup);
}

/* Frees lookup. */
static void lookup_install(struct lookup *lookup)
{
	struct rpc *rpc = lookup->rpc;
	struct roles old = rpc->roles;

	/* each name is told once */
	for (char **text = lookup->roles.unknown; text != NULL && *text != NULL; text++)
		if (old.unknown == NULL || !strings_contain(old.unknown, *text))
			log_warn("%s: it gives no user a role; correct the name, or reload when it is known", *text);
	rpc->roles = lookup->roles;
	lookup->roles = old;
	lookup_free(lookup);
}

void roles_init(struct rpc *rpc)
{
	struct lookup *lookup = lookup_new(rpc);

	lookup_run(lookup);
	lookup_install(lookup);
}

static char *roles_review(void *arg, struct caller *caller)
{
	return roles_admit(arg, caller);
}

static void lookup_done(void *arg)
{
	struct lookup *lookup = arg;
	struct rpc *rpc = lookup->rpc;
	void (*done)(void *arg) = lookup->done;
	void *done_arg = lookup->arg;

	/* a reload may have come since: its look-up counts */
	if (lookup->number == rpc->roles_asked && rpc->server != NULL) {
		lookup_install(lookup);
		server_set_open(rpc->server, rpc->roles.open);
		server_review(rpc->server, roles_review);
	} else {
		lookup_free(lookup);
	}
	if (done != NULL)
		done(done_arg);
	tally_drop(&rpc->tally);
}

void roles_refresh(struct rpc *rpc, void (*done)(void *arg), void *arg)
{
	struct lookup *lookup = lookup_new(rpc);

	lookup->done = done;
	lookup->arg = arg;
	tally_add(&rpc->tally);
	offload(rpc->options.loop, lookup_run, lookup_done, lookup);
}

/* ---- who may connect ---- */

char *roles_admit(struct rpc *rpc, struct caller *caller)
{
	unsigned uid = (unsigned)caller->peer.uid;

	caller->rank = access_rank(&rpc->roles.table, &caller->peer);
	if (caller->rank != RANK_NONE)
		return NULL;
	/* the directory service may have come after us */
	if (rpc->roles.unknown != NULL && uv_now(rpc->options.loop) - rpc->roles_at >= LATE_MS)
		roles_refresh(rpc, NULL, NULL);
	if (refusals_of_user(&rpc->refusals, caller->peer.uid, ""))
		log_warn("a connection of uid %u was refused: [access] gives it no role", uid);
	return xasprintf("this daemon serves uid %u, root, and who has a role in it; uid %u has none",
	    (unsigned)geteuid(), uid);
}

const char *roles_name(const struct caller *caller)
{
	return caller->is_agent ? "agent" : state_name(&rank_names, (int)caller->rank);
}

/* ---- what each may call ---- */

/* The parameter that names what a method of ACCESS_OWNER changes. A method without a row is left to
 * administrators. */
static const struct owned {
	const char *method, *param;
	bool hold;		/* it names a hold of the run */
} owned[] = {
	{ "run.cancel", "id", false },
	{ "run.pause", "id", false },
	{ "run.resume", "id", false },
	{ "run.change", "id", false },
	{ "run.retry", "id", false },
	{ "review.again", "run", false },
	{ "finding.dismiss", "run", false },
	{ "hold.approve", "id", true },
	{ "hold.reject", "id", true },
	{ "hold.rework", "id", true },
	{ "hold.answer", "id", true },
	{ NULL, NULL, false },
};

static void refuse(const struct roles_check *check, const char *needed, const char *hint)
{
	const char *method = check->method->name;
	unsigned uid = (unsigned)check->caller->peer.uid;
	char *text = xasprintf("%s: takes %s; uid %u has the role %s", method, needed, uid,
	    state_name(&rank_names, (int)check->caller->rank));

	if (refusals_of_user(&check->rpc->refusals, check->caller->peer.uid, method))
		log_warn("%s was refused: it takes %s, and uid %u has the role %s", method, needed, uid,
		    state_name(&rank_names, (int)check->caller->rank));
	check->refuse(check->arg, text, hint);
	free(text);
}

static void refuse_role(const struct roles_check *check)
{
	if (check->method->access == ACCESS_ADMIN)
		refuse(check, "the role admin",
		    "ask an administrator to do it, or to list you in access.admin of rld.toml");
	else
		refuse(check, "the role submit", "ask an administrator to list you in access.submit of rld.toml, or "
		    "to add you to a group that stands there");
}

static void refuse_stranger(const struct roles_check *check, const struct run_row *run)
{
	char *needed = xasprintf("the owner of run %lld, uid %lld, or an administrator",
	    (long long)run->id, (long long)run->owner);

	refuse(check, needed, "ask one of them");
	free(needed);
}

/* Frees check. rows NULL: there is no such run, as the method will say. */
static void owner_cb(void *arg, const struct run_rows *rows)
{
	struct roles_check *check = arg;

	if (rows == NULL || access_permits(check->caller->rank, check->method->access,
	    rows->run.owner == (int64_t)check->caller->peer.uid))
		check->go(check->arg);
	else
		refuse_stranger(check, &rows->run);
	free(check);
}

static void hold_cb(void *arg, struct rowset *set)
{
	struct roles_check *check = arg;

	if (set->count > 0)
		load_run(check->rpc, ((const struct hold_row *)set->rows[0])->run, 0, owner_cb, check);
	else
		owner_cb(check, NULL);
	rowset_release(set);
}

static void ask_owner(struct roles_check *check, const struct owned *row)
{
	int64_t id = json_integer_value(json_object_get(check->params, row->param));
	const struct query_bind binds[] = { { ":id", id, NULL }, { NULL, 0, NULL } };
	const struct run_rows *rows;

	if (!row->hold)
		load_run(check->rpc, id, 0, owner_cb, check);
	else if ((rows = view_run_of_hold(engine_view(check->rpc->options.engine), id)) != NULL)
		owner_cb(check, rows);
	else
		rpc_read(check->rpc, "hold.get", ROW_HOLD, binds, hold_cb, check);
}

void roles_check(const struct roles_check *check)
{
	enum access needed = check->method->access;
	const struct owned *row = owned;
	struct roles_check *copy;

	if (!access_asks_owner(check->caller->rank, needed)) {
		if (access_permits(check->caller->rank, needed, false))
			check->go(check->arg);
		else
			refuse_role(check);
		return;
	}
	while (row->method != NULL && strcmp(row->method, check->method->name) != 0)
		row++;
	if (row->method == NULL) {
		log_bug("%s names no run whose owner may call it", check->method->name);
		refuse_role(check);
		return;
	}
	copy = xcalloc(1, sizeof(*copy));
	*copy = *check;
	ask_owner(copy, row);
}
