/* SPDX-License-Identifier: MIT */
/* The conversions between files and what a repository has of them: line endings, encodings,
 * filters such as LFS. They are copied at submit, so that a filter or an attribute that an agent
 * sets has no effect on a commit. For .gitattributes files the base counts: those of the work are
 * committed, but convert nothing of it, so that the commit has the bytes that were judged. */
#ifndef GIT_CONVERSIONS_H
#define GIT_CONVERSIONS_H

#include "git/git_run.h"

/* Copy those in force into the directory dir. 0; -1 with result.error. */
int conversions_copy(struct git_op *op, const char *dir);

/* Whether dir has them. */
bool conversions_are_in(const char *dir);

/* A program of a filter may be a file of the tree, and runs at its top: in the copy, where this
 * variable says; the program does not see it. LFS needs no file of it. */
#define CONVERSIONS_TOP "RLD_FILTER_TOP"
#define CONVERSIONS_CD "cd \"${" CONVERSIONS_TOP ":-.}\" && unset " CONVERSIONS_TOP " && "
bool conversions_have_own_filter(const char *dir);

/* Make the git directory git with those in from. 0; -1 with result.error. */
int conversions_git_dir(struct git_op *op, const char *git, const char *from, bool sha256);

/* Copy a file of the user's; a missing one as an empty one. git follows a link. */
int conversions_copy_file(struct git_op *op, const char *from, const char *to);
/* The file that a setting names, else the user's default of that name, as git finds it: malloc'd,
 * *path NULL: there is none. */
int conversions_user_file(struct git_op *op, const char *setting, const char *name, char **path);

/* Put the files of tree that are wanted into the private index, as the user's repository has them:
 * converted, and with their objects there. Files on the disk are not read. Without an evidence
 * repository, the conversions are those of now, and of tree. In convert.c. 0; -1 with
 * result.error. */
int conversions_stage(struct git_op *op, const char *tree, const struct changes *wanted);

#endif
