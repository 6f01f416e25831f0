/* SPDX-License-Identifier: MIT */
#include "startup.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/agent_user.h"
#include "base/log.h"
#include "base/offload.h"
#include "numbers.h"
#include "proc/starter.h"
#include "proto/memory.h"

/* created by the migration that introduced it */
char *startup_instance(struct store *store, const char *state_dir)
{
	const struct query_bind binds[] = { { ":name", 0, "instance" }, { NULL, 0, NULL } };
	struct rowset set = { 0 };
	char *instance = NULL;

	store_read_now(store, "setting.get", ROW_SETTING, binds, &set);
	if (set.count > 0)
		instance = xstrdup(((const struct setting_row *)set.rows[0])->value);
	rowset_release(&set);
	if (instance == NULL || strlen(instance) != 8 || strspn(instance, "0123456789abcdef") != 8)
		log_fatal("%s/rld.db: the setting \"instance\" is missing or damaged; restore a backup", state_dir);
	return instance;
}

char *startup_rows(struct store *store, struct engine *engine, const char *state_dir)
{
	static const struct {
		const char *statement;
		enum row_kind kind;
	} tables[] = {
		{ "run.unfinished", ROW_RUN },
		{ "task.unfinished", ROW_TASK },
		{ "iteration.unfinished", ROW_ITERATION },
		{ "slot.unfinished", ROW_SLOT },
		{ "attempt.unfinished", ROW_ATTEMPT },
		{ "step.unfinished", ROW_STEP },
		{ "review.unfinished", ROW_REVIEW },
		{ "finding.unfinished", ROW_FINDING },
		{ "product.unfinished", ROW_PRODUCT },
		{ "evidence.unfinished", ROW_EVIDENCE },
		{ "entry.unfinished", ROW_ENTRY },
		{ "hold.unfinished", ROW_HOLD },
		{ "hook.unfinished", ROW_HOOK },
		{ "claim.all", ROW_CLAIM },
		{ "group.all", ROW_GROUP },
		{ "cooldown.all", ROW_COOLDOWN },
		{ "spend.recent", ROW_SPEND },
	};
	struct rowset set = { 0 };
	struct numbers last = { 0 };
	int64_t hold = 0;
	char *unknown;

	store_read_now(store, "counters", ROW_SETTING, NULL, &set);
	for (size_t i = 0; i < set.count; i++) {
		const struct setting_row *row = set.rows[i];

		if (strcmp(row->name, "last_run") == 0)
			last.run = strtoll(row->value, NULL, 10);
		else if (strcmp(row->name, "last_hold") == 0)
			hold = strtoll(row->value, NULL, 10);
		else
			last.attempt = strtoll(row->value, NULL, 10);
	}
	rowset_release(&set);
	unknown = numbers_raise(state_dir, &last);
	if (unknown != NULL)
		log_warn("%s", unknown);
	engine_load_counters(engine, last.run, last.attempt, hold);
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		store_read_now(store, tables[t].statement, tables[t].kind, NULL, &set);
		for (size_t i = 0; i < set.count; i++)
			engine_load_row(engine, tables[t].kind, set.rows[i]);
		set.count = 0;
		rowset_release(&set);
	}
	return unknown;
}

static void configure_groups(struct engine *engine, const struct config *config)
{
	char **names;
	int64_t *slots;

	config_groups(config, &names, &slots);
	engine_configure_groups(engine, (const char *const *)names, slots);
	strings_free(names);
	free(slots);
}

static void configure_accounts(struct engine *engine, const struct config *config)
{
	size_t count;
	struct config_account *accounts = config_accounts(config, &count);
	const char **names = xcalloc(count + 1, sizeof(*names));
	struct account_limits *limits = xcalloc(count, sizeof(*limits));

	for (size_t i = 0; i < count; i++) {
		names[i] = accounts[i].name;
		limits[i] = (struct account_limits){
			.cooldown_max_ms = accounts[i].cooldown_max_ms,
			.budget_day_usd = accounts[i].budget_day_usd,
			.budget_day_tokens = accounts[i].budget_day_tokens,
			.budget_day_wall_ms = accounts[i].budget_day_wall_ms,
		};
	}
	engine_configure_accounts(engine, names, limits);
	free(names);
	free(limits);
	free(accounts);
}

struct limits_look {
	struct start_limits limits;
	char *unmet;		/* NULL: all are kept */
	const char *remedy;
};

static void limits_run(void *arg)
{
	struct limits_look *look = arg;

	look->unmet = starter_limits_unmet(&look->limits, &look->remedy);
}

static void limits_done(void *arg)
{
	struct limits_look *look = arg;

	if (look->unmet != NULL)
		log_warn("%s; %s", look->unmet, look->remedy);
	free(look->unmet);
	free(look);
}

void startup_limits(uv_loop_t *loop, struct proc *proc, const struct config *config)
{
	struct limits_look *look = xcalloc(1, sizeof(*look));

	look->limits = (struct start_limits){ config_attempt_memory(config), config_attempt_processes(config) };
	proc_set_limits(proc, &look->limits);
	offload(loop, limits_run, limits_done, look);
}

void startup_configure(struct engine *engine, const struct config *config)
{
	configure_groups(engine, config);
	configure_accounts(engine, config);
}

#define STARTER_UNIT "rld-start.socket"

static void refuse_agents(char *error)
{
	log_error("fatal: %s", error);
	free(error);
	exit(EX_CONFIG);
}

/* What the environment says of the user of rld, it must say of that of the agents: rld gives it to
 * the programs that it starts. */
static void take_environment(const struct agent_user *agents)
{
	static const char *const of_a_login[] = {
		"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
		"SSH_AUTH_SOCK", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS", "STATE_DIRECTORY", "RUNTIME_DIRECTORY",
		"CONFIGURATION_DIRECTORY", "LOGS_DIRECTORY", "CACHE_DIRECTORY", "RLD_STARTER",
	};
	const struct { const char *name, *value; } own[] = {
		{ "HOME", agents->home }, { "USER", agents->name }, { "LOGNAME", agents->name },
		{ "SHELL", agents->shell },
	};

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (own[i].value != NULL)
			setenv(own[i].name, own[i].value, 1);
		else
			unsetenv(own[i].name);
	for (size_t i = 0; i < ARRAY_SIZE(of_a_login); i++)
		unsetenv(of_a_login[i]);
}

void startup_agents(const struct config *config)
{
	const char *variable = getenv("RLD_STARTER");
	char *wanted = config_agent_user(config), *path;
	const struct agent_user *agents = agent_user();
	uid_t uid;
	gid_t gid;
	int rv;

	if (variable == NULL || variable[0] == '\0') {
		if (wanted != NULL)
			refuse_agents(xasprintf("agent_user = \"%s\": there is no rl-start, which could start "
			    "agents as that user; enable " STARTER_UNIT " and start rld.service, or remove the key",
			    wanted));
		return;
	}
	path = xstrdup(variable);	/* valid to the end */
	rv = starter_use(path, &uid, &gid);
	if (rv == 0)
		rv = agent_user_set(uid, gid);
	if (rv != 0)
		log_fatal("rl-start at %s: %s; see `systemctl status " STARTER_UNIT " rld-start.service`", path,
		    rv == -EHOSTDOWN ? "it does not answer" : strerror(-rv));
	if (wanted != NULL && !text_equal(wanted, agents->name))
		refuse_agents(xasprintf("agent_user = \"%s\", but rl-start has agents work as %s (uid %d); change "
		    "the key, or the unit rld-start.service", wanted,
		    agents->name != NULL ? agents->name : "another user", (int)uid));
	if (!agents->apart)
		log_fatal("rl-start at %s has agents work as the user of rld itself; see rld-start.service", path);
	take_environment(agents);
	log_info("agents work as %s (uid %d)", agents->name != NULL ? agents->name : "a user without a name", (int)uid);
	free(wanted);
}
