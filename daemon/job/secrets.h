/* SPDX-License-Identifier: MIT */
/* What agents are given and nobody else may see: kept with the environment, and out of every text
 * that is written down.
 *
 * A value of `set` of [agent.NAME] is in no row. The plan has "NAME:KEY" in its place, and the kept
 * environment the entry "rld:set:NAME:KEY=value", which only environment_load() puts together
 * again. "rld:own=" there: with those of the daemon's own environment. */
#ifndef JOB_SECRETS_H
#define JOB_SECRETS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/redact.h"
#include "core/plan.h"

#define SECRETS_OURS "rld:"		/* no variable of anybody else begins so */
#define SECRETS_SET "rld:set:"
#define SECRETS_OWN "rld:own="

/* Where a run's secrets are. All owned. */
struct secrets {
	char *environment;	/* hash of the kept environment; NULL: the daemon's own */
	char **pairs;		/* "K=V" of --env */
};

struct secrets secrets_new(const char *environment, const struct plan *plan);
void secrets_release(struct secrets *secrets);

/* Off the loop, for as long as a text is masked: redact_free() it at once. An environment that is
 * gone is no error: patterns are masked always. */
struct redactor *secrets_redactor(const char *state_dir, const struct secrets *secrets);

/* Masks every text in the document, names of members too, in place. True when
 * something was changed. */
bool secrets_redact_json(const struct redactor *redactor, json_t *json);

/* Take the values of `set` out of a plan, and put them into the environment that is kept:
 * *environment NULL is the daemon's own. A short value whose name says nothing stays in the
 * plan: it is a switch. */
void secrets_hide(struct plan *plan, char ***environment);

/* What an agent sets now, new; NULL: nothing of that name. */
typedef char *secrets_find(void *arg, const char *agent, const char *name);

/* The same for a plan that was hidden before, and whose environment is gone: its values as they are
 * now. NULL, or a sentence that says which is not there any more, new. */
char *secrets_hide_again(const struct plan *plan, secrets_find *find, void *arg, char ***environment);

#endif
