/* SPDX-License-Identifier: MIT */
/* Launchers that rld knows: prefixes of an agent's argv that have an engine place it. */
#ifndef AGENT_LAUNCHER_H
#define AGENT_LAUNCHER_H

/* The name of no launcher: agents run here, under their shim. */
#define LAUNCHER_LOCAL "local"

struct launcher_preset {
	const char *name;
	/* NULL-terminated; {run}, {attempt}, {uuid}, {workdir} and {node} are replaced */
	const char *const *command, *const *cancel;
	const char *help;
};

/* Ends with a NULL name. */
extern const struct launcher_preset launcher_presets[];

/* NULL: none. */
const struct launcher_preset *launcher_preset_find(const char *name);

struct launcher_fill {
	const char *run, *attempt, *uuid, *workdir;
	const char *node;	/* NULL: the launcher has no list of machines */
};

/* The words with their placeholders replaced; new list. */
char **launcher_argv(char *const *words, const struct launcher_fill *fill);

#endif
