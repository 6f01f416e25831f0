/* SPDX-License-Identifier: MIT */
/* Search for a role's prompt template: explicit path, the repository's .ai_agents/prompts, the
 * configuration's prompts, otherwise the built-in one. */
#ifndef JOB_TEMPLATE_SEARCH_H
#define JOB_TEMPLATE_SEARCH_H

#include <stddef.h>

#include "core/state.h"

/* The file's text (malloc'd), or NULL: use the built-in one, unless *error was set (malloc'd).
 * read_as: see base/peer_file.h; path, config_dir may be NULL. */
char *template_find(enum role role, const char *path, const char *workspace, const char *config_dir,
    char *const *read_as, size_t *size, char **error);

#endif
