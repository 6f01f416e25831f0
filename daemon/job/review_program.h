/* SPDX-License-Identifier: MIT */
/* The program that reviews in profile "exit". It runs in place, by its own path, where a coder may
 * be able to write: the SHA-256 of its file is recorded at submit and compared before each
 * review. */
#ifndef JOB_REVIEW_PROGRAM_H
#define JOB_REVIEW_PROGRAM_H

#include "base/digest.h"

/* The file of reviewer, a path or a name to look up in env's PATH: *path, malloc'd. 0; or the errno
 * that tells why it cannot be executed, and *path is NULL. */
int review_program_find(const char *reviewer, char *const *env, char **path);

/* The SHA-256 of the file that review_program_find() gives. 0 or an errno. */
int review_program_digest(const char *reviewer, char *const *env, char hex[DIGEST_HEX]);

/* The SHA-256 of the file of a program, kept for as long as its inode does not change: a program
 * may have hundreds of megabytes. From any thread. 0 or an errno. */
int program_digest(const char *path, char hex[DIGEST_HEX]);

#endif
