/* SPDX-License-Identifier: MIT */
/* Who may use the server: a token that opens one session, and the sessions that are open. */
#ifndef CLIENT_WEB_SESSION_H
#define CLIENT_WEB_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#define COOKIE "rlctl"
#define SECRET_SIZE 33		/* 128 random bits in hex digits, and a NUL */
#define SESSIONS_MAX 8		/* beyond it, the one that was used least recently ends */

struct session {
	char id[SECRET_SIZE];	/* the cookie; "": free */
	char form[SECRET_SIZE];	/* what each form has to carry */
	uint64_t used;
};

struct sessions {
	/* All addresses begin with it, and the cookie is sent for these only: the browser shows it
	 * to no other server of this host, whatever its port. */
	char place[SECRET_SIZE];
	char token[SECRET_SIZE];	/* "": spent */
	struct session all[SESSIONS_MAX];
	uint64_t uses;
};

/* A place and a token. */
void sessions_init(struct sessions *s);

/* A new token instead of the last one. */
void sessions_renew(struct sessions *s);

/* Spend the token. Returns the new session, or NULL: it is not the token, or spent. */
struct session *sessions_open(struct sessions *s, const char *token);

/* The session of a cookie; NULL: none. */
struct session *sessions_find(struct sessions *s, const char *id);

/* Compare secrets in a time that does not depend on their content. NULL and "" equal nothing. */
bool secret_equal(const char *secret, const char *given);

#endif
