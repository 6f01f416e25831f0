/* SPDX-License-Identifier: MIT */
/* Members of the daemon's documents as text, for tables and sentences: new strings that the caller
 * frees, "" for missing members. All have the type of table_column.text; those whose key is NULL in
 * a table use several members. */
#ifndef CLIENT_CELL_H
#define CLIENT_CELL_H

#include <jansson.h>

char *cell_text(const json_t *object, const char *key);
char *cell_line(const json_t *object, const char *key);		/* its first line */
char *cell_texts(const json_t *object, const char *key);	/* of an array of texts: "a, b" */
char *cell_number(const json_t *object, const char *key);
char *cell_some(const json_t *object, const char *key);		/* a number above 0 */
char *cell_size(const json_t *object, const char *key);		/* a size: "1.2 MiB" */
char *cell_duration(const json_t *object, const char *key);	/* of milliseconds */
char *cell_cost(const json_t *object, const char *key);
/* "2026-11-21 22:05:57 (3m 05s ago)" */
char *cell_when(const json_t *object, const char *key);
char *cell_age(const json_t *object, const char *key);
/* "2026-11-21 22:05:57 (in 3m 05s)" */
char *cell_until(const json_t *object, const char *key);

char *cell_why(const json_t *object, const char *key);		/* its cause, or else its reason */
/* ": " and the first of two members that is there; "": none is */
char *cell_because(const json_t *object, const char *first, const char *second);
/* why it waits, and when it will be tried again */
char *cell_reason(const json_t *run, const char *key);
/* the name of a user of this host, other than the caller */
char *cell_other_user(const json_t *object, const char *key);
/* its member "tokens": a number, or numbers by kind */
char *cell_tokens(const json_t *object, const char *key);
/* from its start to its end, or until now */
char *cell_took(const json_t *attempt, const char *key);
char *cell_exit(const json_t *attempt, const char *key);	/* "0", "3", "signal 9" */
/* the result that made it fail: "provider: limit", "process" */
char *cell_fault(const json_t *attempt, const char *key);
char *cell_place(const json_t *finding, const char *key);	/* "src/a.c:12" */
char *cell_finding(const json_t *finding, const char *key);	/* "resolved: src/a.c:12 text" */

/* Number of the attempt whose conversation it resumes. key: the member of attempts with their
 * ids. */
char *cell_resumed(const json_t *attempt, const json_t *attempts, const char *key);

#endif
