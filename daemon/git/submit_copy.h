/* SPDX-License-Identifier: MIT */
/* Copies of the submitter's settings, made before any agent of the run has worked, in the evidence
 * repository: a product goes by them, whatever an agent sets later. */
#ifndef GIT_SUBMIT_COPY_H
#define GIT_SUBMIT_COPY_H

#include "git/git_run.h"

/* Make them: info/exclude, the file of core.excludesFile, and conversions. With spec.settings_kept,
 * those that are there stay. Without op->objects nothing is done. 0; -1 with result.error. */
int submit_copy_make(struct git_op *op);

#endif
