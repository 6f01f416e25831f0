/* SPDX-License-Identifier: MIT */
/* A ref of a repository, found by reading its files, without running git. Blocking: off the loop
 * only. */
#ifndef GIT_READ_REF_H
#define GIT_READ_REF_H

/* common: from git_dir_common(). 0 and *value, malloc'd: an id, or "ref: NAME"; *value NULL: there
 * is no such ref. -errno: it cannot be read; -ENOTSUP: refs are not stored as files. */
int read_ref(const char *common, const char *ref, char **value);

#endif
