/* SPDX-License-Identifier: MIT */
/* What can stand at a place of a command line of rlctl. */
#ifndef CLIENT_COMPLETION_WORDS_H
#define CLIENT_COMPLETION_WORDS_H

#include <stddef.h>

struct client;

/* Print what the last of the words after "rlctl" can become, one a line: the word, a tab, and what
 * it means; or ":files", or ":directories". "=" may be a word of its own, as in bash. */
void completion_words(struct client *c, char **words, size_t count);

#endif
