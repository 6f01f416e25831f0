/* SPDX-License-Identifier: MIT */
/* The signs in a project's directory. Its files are hostile: only regular ones are read, no link is
 * followed, and neither many nor large ones take long. */
#ifndef CLIENT_INIT_SURVEY_H
#define CLIENT_INIT_SURVEY_H

#include "client/init/proposal.h"
#include "proto/memory.h"

/* Adds to signs. Returns 0, or -errno if the directory cannot be read. */
int survey_make(const char *directory, struct signs *signs);

/* The text of a regular file of at most 1 MiB. directory: as for openat(2). Returns 0 or -errno. */
int survey_text(int directory, const char *name, struct buf *text);

#endif
