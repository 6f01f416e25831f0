/* SPDX-License-Identifier: MIT */
#include "store/shared_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "proto/memory.h"

#define KNOWN 16	/* a host has few sorts of runs at a time */

/* The hashes of the newest texts. That they are stored is not remembered: the transaction may have
 * been rolled back. */
struct shared_texts {
	sqlite3_stmt *add, *get;	/* parameters 1: hash, 2: text */
	struct {
		char *text;	/* NULL: unused */
		size_t size;
		char hash[DIGEST_HEX];
	} known[KNOWN];
	size_t next;		/* the oldest one */
};

struct shared_texts *shared_texts_new(sqlite3_stmt *add, sqlite3_stmt *get)
{
	struct shared_texts *texts = xcalloc(1, sizeof(*texts));

	texts->add = add;
	texts->get = get;
	return texts;
}

void shared_texts_free(struct shared_texts *texts)
{
	if (texts == NULL)
		return;
	for (size_t i = 0; i < KNOWN; i++)
		free(texts->known[i].text);
	free(texts);
}

bool shared_text_is_hash(const char *column)
{
	return column[0] != '{' && strlen(column) == DIGEST_HEX - 1;
}

static const char *hash_of(struct shared_texts *texts, const char *text)
{
	size_t size = strlen(text), at = texts->next;

	for (size_t i = 0; i < KNOWN; i++)
		if (texts->known[i].text != NULL && texts->known[i].size == size &&
		    memcmp(texts->known[i].text, text, size) == 0)
			return texts->known[i].hash;
	free(texts->known[at].text);
	texts->known[at].text = xmemdup0(text, size);
	texts->known[at].size = size;
	digest_hex(text, size, texts->known[at].hash);
	texts->next = (at + 1) % KNOWN;
	return texts->known[at].hash;
}

/* SQLITE_STATIC: both outlive the step. */
static int add(struct shared_texts *texts, const char *hash, const char *text)
{
	int rc = sqlite3_bind_text(texts->add, 1, hash, -1, SQLITE_STATIC);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(texts->add, 2, text, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(texts->add);
	sqlite3_reset(texts->add);
	return rc;
}

int shared_text_put(struct shared_texts *texts, const char *text, const char **column)
{
	const char *hash = hash_of(texts, text);

	*column = hash;
	return add(texts, hash, text);
}

int shared_text_get(struct shared_texts *texts, const char *hash, char **text)
{
	int rc;

	for (size_t i = 0; i < KNOWN; i++)
		if (texts->known[i].text != NULL && strcmp(texts->known[i].hash, hash) == 0) {
			*text = xmemdup0(texts->known[i].text, texts->known[i].size);
			return SQLITE_ROW;
		}
	rc = sqlite3_bind_text(texts->get, 1, hash, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(texts->get);
	if (rc == SQLITE_ROW)
		*text = xstrdup((const char *)sqlite3_column_text(texts->get, 0));
	sqlite3_reset(texts->get);
	return rc;
}
