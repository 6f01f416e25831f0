/* SPDX-License-Identifier: MIT */
#ifndef JOB_REMOVE_THEIRS_H
#define JOB_REMOVE_THEIRS_H

/* Remove a directory that was given to agents, with what they made in it. Another user's agents may
 * be at work there: no link of theirs is followed. 0 or -errno. Blocking. */
int remove_theirs(const char *path);

#endif
