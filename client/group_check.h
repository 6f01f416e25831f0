/* SPDX-License-Identifier: MIT */
/* A group is made by its first use, so that a mistyped name is no error for the daemon. */
#ifndef CLIENT_GROUP_CHECK_H
#define CLIENT_GROUP_CHECK_H

#include <stdbool.h>

struct client;

/* Whether the daemon knows a group of this name: it has settings, or a run. True as well if the
 * daemon does not say. *near: the name that is meant, malloc'd; NULL: unknown. */
bool group_is_known(struct client *c, const char *name, char **near);

#endif
