/* SPDX-License-Identifier: MIT */
/* Members of a run, an attempt or a hold as people read them: new strings that the caller frees, "" for what is not there. */
#ifndef CLIENT_SHOW_H
#define CLIENT_SHOW_H

#include <jansson.h>

char *show_number(const json_t *object, const char *key);
char *show_when(const json_t *object, const char *key);	/* "2026-11-21 22:05:57 (3m 05s ago)" */
char *show_reason(const json_t *run);			/* why it waits, and when it will be tried again */
char *show_tokens(const json_t *object);			/* of its member "tokens": a number, or numbers by kind */
char *show_took(const json_t *attempt);
char *show_exit(const json_t *attempt);			/* "0", "3", "signal 9" */
char *show_fault(const json_t *attempt);		/* which of its results made it no success: "provider: limit", "process" */
char *show_some(const json_t *object, const char *key);	/* a number above 0 */
/* The number of the attempt whose conversation it goes on with; key: the member of attempts that has their ids. */
char *show_resumed(const json_t *attempt, const json_t *attempts, const char *key);

#endif
