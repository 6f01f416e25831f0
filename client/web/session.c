/* SPDX-License-Identifier: MIT */
#include "client/web/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void secret_make(char secret[SECRET_SIZE])
{
	unsigned char bytes[SECRET_SIZE / 2];

	arc4random_buf(bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
}

bool secret_equal(const char *secret, const char *given)
{
	volatile unsigned char differs = 0;

	if (given == NULL || *secret == '\0' || strlen(given) != SECRET_SIZE - 1)
		return false;
	for (size_t i = 0; i < SECRET_SIZE - 1; i++)
		differs |= (unsigned char)(secret[i] ^ given[i]);
	return differs == 0;
}

void sessions_init(struct sessions *s)
{
	*s = (struct sessions){ .uses = 0 };
	secret_make(s->place);
	sessions_renew(s);
}

void sessions_renew(struct sessions *s)
{
	secret_make(s->token);
}

struct session *sessions_open(struct sessions *s, const char *token)
{
	struct session *oldest = &s->all[0];

	if (!secret_equal(s->token, token))
		return NULL;
	explicit_bzero(s->token, sizeof(s->token));
	for (size_t i = 1; i < SESSIONS_MAX; i++)
		if (s->all[i].used < oldest->used)
			oldest = &s->all[i];
	secret_make(oldest->id);
	secret_make(oldest->form);
	oldest->used = ++s->uses;
	return oldest;
}

struct session *sessions_find(struct sessions *s, const char *id)
{
	struct session *found = NULL;

	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (secret_equal(s->all[i].id, id))
			found = &s->all[i];
	if (found != NULL)
		found->used = ++s->uses;
	return found;
}
