/* SPDX-License-Identifier: MIT */
/* Patterns of secrets in text: keys of known services, values of names that mean a secret, headers,
 * key files, URLs. Pure.
 *
 *   sk-ant-api03-Ab..  ghp_Ab..  github_pat_..  glpat-..  AKIA..  AIza..  xoxb-..  npm_..
 *                                   and others: secret_patterns.c has the table
 *   eyJ.. . .. . ..                 a JSON web token
 *   -----BEGIN .. PRIVATE KEY-----  up to its end
 *   https://user:SECRET@host
 *   Bearer SECRET; Authorization: Basic SECRET
 *   API_KEY=SECRET, "password": "SECRET", x-api-key: SECRET
 *
 * Text that only has many letters and digits is not a secret: git ids, uuids, digests, base64 and
 * long identifiers stay. */
#ifndef BASE_SECRET_PATTERNS_H
#define BASE_SECRET_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

/* The replacement of a secret, after the beginning that shows its kind, if any:
 * "sk-ant-[secret]". */
#define SECRET_MARK "[secret]"

/* The bytes from..to are secret. */
struct secret_match {
	size_t from, to;
};

/* A pass over a text from beginning to end: nothing is examined twice, so it is linear. */
struct secret_scan {
	const char *text;
	size_t size;
	size_t named;		/* names before this offset were examined */
	size_t key_end;		/* begin of the next END line of a private key; valid
				 * from key_from on */
	size_t key_from;
	bool key_known;
	struct secret_match words[3];	/* last results for each part of a token */
};

/* Whether a secret begins at byte `at`, with its value or its name. `at` must grow from call to
 * call. */
bool secret_find(struct secret_scan *scan, size_t at, struct secret_match *hit);

/* A name whose value is usually secret: ANTHROPIC_API_KEY, dbPassword, x-auth-token; not
 * MAX_TOKENS, SSH_AUTH_SOCK, AUTHOR. */
bool secret_is_name(const char *name, size_t size);

/* A value that looks like a key whatever its name: at least 16 bytes with letters and digits, and
 * not a word, path, URL or sentence. */
bool secret_is_key(const char *value, size_t size);

/* A placeholder for a value: "none", "required", "changeme". */
bool secret_is_placeholder(const char *value, size_t size);

#endif
