/* SPDX-License-Identifier: MIT */
/* Values that only agents may see: saved with the environment, and redacted in every
 * text that is written down.
 *
 * A value of `set` of [agent.NAME] is in no row. The plan contains "NAME:KEY" instead, and the
 * saved environment the entry "rld:set:NAME:KEY=value", which only environment_load() resolves.
 * "rld:own=" there means: together with the daemon's own environment. */
#ifndef JOB_SECRETS_H
#define JOB_SECRETS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/redact.h"
#include "core/plan.h"

#define SECRETS_OURS "rld:"		/* no other variable has this prefix */
#define SECRETS_SET "rld:set:"
#define SECRETS_OWN "rld:own="

/* Where the secrets of a run are. All owned. */
struct secrets {
	char *environment;	/* hash of the saved environment; NULL: the daemon's own */
	char **pairs;		/* "K=V" of --env */
};

struct secrets secrets_new(const char *environment, const struct plan *plan);
void secrets_release(struct secrets *secrets);

/* Off the loop. Call redact_free() as soon as the text is redacted. A missing environment is no
 * error: patterns are always redacted. */
struct redactor *secrets_redactor(const char *state_dir, const struct secrets *secrets);

/* Redact every text in the document in place, including member names. Returns whether anything
 * changed. */
bool secrets_redact_json(const struct redactor *redactor, json_t *json);

/* Move the values of `set` from a plan to the environment that is saved: *environment NULL is the
 * daemon's own. A short value with a harmless name stays in the plan: it is a switch. */
void secrets_hide(struct plan *plan, char ***environment);

/* Value of an agent's variable now, new; NULL: not set. */
typedef char *secrets_find(void *arg, const char *agent, const char *name);

/* Like secrets_hide(), for a plan processed before, whose environment was deleted: use the current
 * values. Returns NULL, or a sentence that names a missing one, new. */
char *secrets_hide_again(const struct plan *plan, secrets_find *find, void *arg, char ***environment);

#endif
