/* SPDX-License-Identifier: MIT */
/* Texts that many rows have, such as the settings of runs. Each is stored once, in the table plan,
 * and columns have its SHA-256. Rows in memory have the text: only this room knows of it. */
#ifndef STORE_SHARED_TEXT_H
#define STORE_SHARED_TEXT_H

#include <sqlite3.h>
#include <stdbool.h>

struct shared_texts;

/* The statements plan.add and plan.text, prepared; borrowed. */
struct shared_texts *shared_texts_new(sqlite3_stmt *add, sqlite3_stmt *get);
void shared_texts_free(struct shared_texts *texts);

/* Whether it is a hash: the texts are JSON objects, also in columns of earlier versions. */
bool shared_text_is_hash(const char *column);

/* Store a text, if it is not yet, in the transaction that is open. Returns SQLITE_DONE, with its
 * hash in *column, valid until the next call; or another code of SQLite. */
int shared_text_put(struct shared_texts *texts, const char *text, const char **column);

/* Find the text of a hash. Returns SQLITE_ROW with *text, malloc'd; SQLITE_DONE: there is none; or
 * another code of SQLite. */
int shared_text_get(struct shared_texts *texts, const char *hash, char **text);

#endif
