/* SPDX-License-Identifier: MIT */
/* Launchers that rld knows: prefixes of an agent's argv that have an engine place it. */
#ifndef AGENT_LAUNCHER_H
#define AGENT_LAUNCHER_H

#include <stdbool.h>

#include "proto/state_names.h"

/* The name of no launcher: agents run here, under their shim. */
#define LAUNCHER_LOCAL "local"

struct launcher_preset {
	const char *name;
	/* NULL-terminated; the names of struct launcher_fill are replaced, and LAUNCHER_OPTIONS by
	 * the options of the user */
	const char *const *command, *const *cancel;
	const char *help;
};

/* Ends with a NULL name. */
extern const struct launcher_preset launcher_presets[];

/* Names of the presets. */
extern const struct state_names launcher_preset_names;

/* NULL: none. */
const struct launcher_preset *launcher_preset_find(const char *name);

/* How a machine gets the files of an attempt. */
enum launcher_files { LAUNCHER_SHARED, LAUNCHER_COPIED };
extern const struct state_names launcher_files_names;

struct launcher_fill {
	const char *run, *attempt, *uuid, *workdir;
	const char *node;	/* NULL: the launcher has no list of machines */
	const char *start, *end;	/* paths of scripts, as words of a shell */
};

/* The word in whose place options are; without it they follow the command. */
#define LAUNCHER_OPTIONS "{options}"

/* Whether a word has the placeholder, such as "{node}". */
bool launcher_names(char *const *words, const char *placeholder);

/* Whether the agent is started by a script, not by the words that follow. */
bool launcher_starts_script(char *const *words);

/* Whether the words before the last one execute any command line on the machine, as ssh does: the
 * last one starts that script. */
bool launcher_is_shell(char *const *words);

/* The words with their placeholders replaced; new list. */
char **launcher_argv(char *const *words, const struct launcher_fill *fill);

#endif
