/* SPDX-License-Identifier: MIT */
/* Where a role's prompt template comes from: explicit path, the repository's .ai_agents/prompts,
 * the configuration's prompts, else the built-in one. */
#ifndef JOB_TEMPLATE_SEARCH_H
#define JOB_TEMPLATE_SEARCH_H

#include <stddef.h>

#include "core/state.h"

/* The file's text (malloc'd), or NULL: use the built-in one, unless *error was set (malloc'd).
 * path, config_dir may be NULL. */
char *template_find(enum role role, const char *path, const char *workspace, const char *config_dir,
    size_t *size, char **error);

#endif
