/* SPDX-License-Identifier: MIT */
/* Settings: one table of keys, filled from layers, each value with its origin. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/access.h"
#include "core/plan.h"
#include "core/retention.h"

struct config_error {
	char text[512];		/* a sentence with place and remedy: "/etc/rld/rld.toml:3:1:
				 * unknown key 'x' ..." */
	char field[64];		/* the submit parameter at fault, "" if none */
};

struct config;

/* path NULL or a missing file: defaults only (explicit = true makes a missing file an error).
 * Returns 0, or -1 with error. */
int config_load(struct config **out, const char *path, bool explicit_path, struct config_error *error);
void config_free(struct config *config);

/* The path of the file, NULL if there was none. */
const char *config_path(const struct config *config);

/* Distinguishes two states of a file. */
struct config_stamp {
	bool there;
	int64_t device, inode, size, changed_ns;
};

/* The stamp when the settings were read, and the current one; the latter blocks on the disk. */
struct config_stamp config_stamp(const struct config *config);
struct config_stamp config_stamp_of(const char *path);
bool config_stamp_equal(const struct config_stamp *a, const struct config_stamp *b);

/* number of slots of the daemon */
int64_t config_parallel(const struct config *config);

/* Limits of one attempt, from the kernel, in bytes and in processes; 0: none. */
int64_t config_attempt_memory(const struct config *config);
int64_t config_attempt_processes(const struct config *config);

/* The key that signs attestations, malloc'd; NULL: the one in the state directory. */
char *config_attest_key(const struct config *config);

/* The user as whom agents must work, malloc'd; NULL: as the service manager has it. */
char *config_agent_user(const struct config *config);

/* A name in [access]. */
struct config_principal {
	enum rank rank;
	const char *name;		/* valid as long as the config */
	unsigned line;			/* of the list; 0: a default */
};

/* Who may do what. system: the service of the whole host, where @ACCESS_GROUP may submit unless the
 * file says other. *count entries; free with free(). */
#define ACCESS_GROUP "rld"
struct config_principal *config_access(const struct config *config, bool system, size_t *count);

/* [keep]: what prune removes, and whether the daemon does it once a day. */
struct retention_policy config_keep(const struct config *config, bool *automatic);

/* The group of runs that name none. */
#define GROUP_DEFAULT "default"

/* "default" and every [group.NAME]: their names, NULL-terminated, and their slots. Free *names with
 * strings_free(), *slots with free(). */
void config_groups(const struct config *config, char ***names, int64_t **slots);

/* Settings of a provider account in rld.toml, per UTC day: NaN, ROW_NONE: no limit. */
struct config_account {
	const char *name;		/* valid as long as the config */
	int64_t cooldown_max_ms;
	double budget_day_usd;
	int64_t budget_day_tokens, budget_day_wall_ms;
};

/* Every [account.NAME], *count entries; free with free(). */
struct config_account *config_accounts(const struct config *config, size_t *count);

/* Whether a group may have this name. */
bool config_group_name(const char *name);

/* Names of the variables that any agent or reviewing program takes from the submitter's
 * environment, sorted and unique. Valid as long as config. */
char *const *config_agent_env(const struct config *config);

/* The value of a variable in [agent.NAME] or its preset. New; NULL: none, or no such agent. */
char *config_agent_set(const struct config *config, const char *agent, const char *name);

/* A setting given by a submit, "review.agent" = "\"claude\"" (JSON text of the value). */
struct config_override {
	const char *path;	/* a setting that a submit may use */
	const char *value;	/* JSON */
	const char *field;	/* the parameter it came from, for errors: "reviewer_agent" */
};

/* Content of the PROJECT_FILE of a workdir. */
struct project_text {
	char *workdir;
	char *text;
	size_t size;
	int error;		/* 0, or -errno if there is no text */
};

/* Blocks on the disk only: call it on a worker. The file is no link, and only a regular file is
 * read. read_as: see base/peer_file.h. Call project_text_release() in any case. */
void project_read(struct project_text *out, const char *workdir, char *const *read_as);
void project_text_release(struct project_text *text);

struct project;

/* *out NULL: no such file. Returns 0, or -1 with error, whose field is "workdir". */
int project_parse(struct project **out, const struct project_text *text, struct config_error *error);
void project_free(struct project *project);

/* The settings of a run: command line over project over [run] and [review] over profile over
 * default. project may be NULL. A reviewer among the overrides turns the review on, with a profile
 * that uses its exit status. Returns 0, or -1 with error. plan_release() frees the result. */
int config_resolve(const struct config *config, const struct project *project,
    const struct config_override *overrides, size_t count,
    struct plan *plan, struct config_error *error);

typedef void config_each_cb(void *arg, const char *path, const char *value, const char *from, const char *help);

/* Effective values in the order of the table, for a run with this project and these overrides:
 * called once per key. value is JSON; from, its origin, is "default", "profile verdict", "profile
 * mine (/etc/rld/rld.toml:12)", "/etc/rld/rld.toml:7", "/home/ann/w/.rld.toml:3" or "command line".
 * Returns 0, or -1 with error. */
int config_each(const struct config *config, const struct project *project,
    const struct config_override *overrides, size_t count,
    config_each_cb *each, void *arg, struct config_error *error);

#endif
