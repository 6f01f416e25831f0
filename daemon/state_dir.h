/* SPDX-License-Identifier: MIT */
/* The directories of an instance: created if missing, and refused if another user could change
 * their content. */
#ifndef DAEMON_STATE_DIR_H
#define DAEMON_STATE_DIR_H

#include "base/path.h"

/* Exits with a sentence that names the directory and the remedy if one cannot be created, or others
 * can write to it. */
void state_dir_make(struct places *places);

#endif
