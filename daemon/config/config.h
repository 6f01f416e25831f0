/* SPDX-License-Identifier: MIT */
/* Settings: one table of keys, filled from layers, each value with its origin. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"

struct config_error {
	char text[512];		/* a sentence with place and remedy: "/etc/rld/rld.toml:3:1:
				 * unknown key 'x' ..." */
	char field[64];		/* the submit parameter at fault, "" when it is none */
};

struct config;

/* path NULL or a file that does not exist: defaults only (explicit = true makes a missing file an
 * error). 0, or -1 with error. */
int config_load(struct config **out, const char *path, bool explicit_path, struct config_error *error);
void config_free(struct config *config);

/* The path it was read from, NULL when there was no file. */
const char *config_path(const struct config *config);

/* What tells one state of a file from another. */
struct config_stamp {
	bool there;
	int64_t device, inode, size, changed_ns;
};

/* As it was when the settings were read, and as it is now, which blocks on the disk. */
struct config_stamp config_stamp(const struct config *config);
struct config_stamp config_stamp_of(const char *path);
bool config_stamp_equal(const struct config_stamp *a, const struct config_stamp *b);

/* slots of the whole daemon */
int64_t config_parallel(const struct config *config);

/* The group of runs that name none. */
#define GROUP_DEFAULT "default"

/* "default" and every [group.NAME]: their names, NULL-terminated, and beside them how many slots
 * each has. Free *names with strings_free(), *slots with free(). */
void config_groups(const struct config *config, char ***names, int64_t **slots);

/* What rld.toml says of a provider account; of a day of UTC: NaN, ROW_NONE: no limit. */
struct config_account {
	const char *name;		/* as long as the config */
	int64_t cooldown_max_ms;
	double budget_day_usd;
	int64_t budget_day_tokens, budget_day_wall_ms;
};

/* Every [account.NAME]; *count of them, free with free(). */
struct config_account *config_accounts(const struct config *config, size_t *count);

/* What a group may be called. */
bool config_group_name(const char *name);

/* Names of the variables that any agent, or program that reviews, takes from the submitter's
 * environment, sorted, each once. They live as long as config. */
char *const *config_agent_env(const struct config *config);

/* What [agent.NAME] sets for the variable of that name, with what its preset sets. New; NULL:
 * nothing, or there is no such agent. */
char *config_agent_set(const struct config *config, const char *agent, const char *name);

/* One setting that a submit names, "review.agent" = "\"claude\"" (JSON text of the value). */
struct config_override {
	const char *path;	/* a row of the settings table that a submit may set */
	const char *value;	/* JSON */
	const char *field;	/* the parameter it came from, for errors: "reviewer_agent" */
};

/* What was found in the PROJECT_FILE of a workdir. */
struct project_text {
	char *workdir;
	char *text;
	size_t size;
	int error;		/* 0, or the -errno why there is no text */
};

/* Blocks on the disk, and on nothing else: a worker thread's work. A link is not followed, what is
 * no regular file is not read. project_text_release() in any case. */
void project_read(struct project_text *out, const char *workdir);
void project_text_release(struct project_text *text);

struct project;

/* *out NULL: there is no such file. 0, or -1 with error, whose field is "workdir". */
int project_parse(struct project **out, const struct project_text *text, struct config_error *error);
void project_free(struct project *project);

/* The settings of one run: command line over project over [run] and [review] over profile over
 * default. project may be NULL. A reviewer among the overrides turns the review on, with a profile
 * that goes by its exit status. 0, or -1 with error. plan_release() frees what it filled. */
int config_resolve(const struct config *config, const struct project *project,
    const struct config_override *overrides, size_t count,
    struct plan *plan, struct config_error *error);

typedef void config_each_cb(void *arg, const char *path, const char *value, const char *from, const char *help);

/* Effective values in the order of the table, for a run with this project and these overrides:
 * called once per key. value is JSON, from "default", "profile verdict", "profile mine
 * (/etc/rld/rld.toml:12)", "/etc/rld/rld.toml:7", "/home/ann/w/.rld.toml:3", "command line". 0,
 * or -1 with error. */
int config_each(const struct config *config, const struct project *project,
    const struct config_override *overrides, size_t count,
    config_each_cb *each, void *arg, struct config_error *error);

#endif
