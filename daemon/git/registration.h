/* SPDX-License-Identifier: MIT */
/* What a repository knows of one of its work trees: the directory worktrees/NAME that has its HEAD and index. Found and
 * removed by its files, as git itself does it, for a tree whose .git is broken too. Blocking: off the loop only. */
#ifndef GIT_REGISTRATION_H
#define GIT_REGISTRATION_H

#include <stdbool.h>

/* That of the work tree dir, absolute; common: the repository's common directory. malloc'd; NULL: there is none. */
char *registration_find(const char *common, const char *dir);

/* Does it lead back to common? An agent may have made it lead elsewhere. */
bool registration_leads_to(const char *registration, const char *common);

/* The first line of one of its files; malloc'd, NULL: it cannot be read. */
char *registration_line(const char *registration, const char *file);

/* 0 or -errno. */
int registration_remove(const char *common, const char *registration);

/* Those that a git has left behind that was killed while it began to make one for dir: they name no work tree, and git itself never takes
 * them away. damaged: whatever else is in it; a power cut leaves such ones, too. One that is younger than a second may be somebody's who
 * makes it now, and stays. */
void registration_sweep(const char *common, const char *dir, bool damaged);

#endif
