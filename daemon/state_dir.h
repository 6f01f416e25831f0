/* SPDX-License-Identifier: MIT */
/* The directories of an instance: made when they are missing, and refused when another user could
 * change what is in them. */
#ifndef DAEMON_STATE_DIR_H
#define DAEMON_STATE_DIR_H

#include "base/path.h"

/* Ends the program with a sentence that names the directory and the remedy, where one cannot be
 * made or is not the daemon's alone to write. */
void state_dir_make(const struct places *places);

#endif
