/* SPDX-License-Identifier: MIT */
/* A statement and its signature, as the note of a commit has them: the statement as one line of
 * JSON, then the signature of that line, without its end, as ssh-keygen -Y sign makes it. Needs git
 * and ssh-keygen. */
#ifndef CLIENT_ATTESTATION_H
#define CLIENT_ATTESTATION_H

#include <jansson.h>
#include <stdbool.h>

#define ATTESTATION_NOTES "refs/notes/rld"
#define ATTESTATION_NAMESPACE "rld"
#define ATTESTATION_STATEMENT "https://in-toto.io/Statement/v1"
#define ATTESTATION_PREDICATE "urn:rld:pass:v1"

/* Make the key unless it exists; instance is its comment. Returns 0, or -1 after a message. */
int attestation_key_make(const char *key, const char *instance);

/* Whether key can sign: a private key of ours that no other user can read, or a public key. Returns
 * 0, or -1 after a message. */
int attestation_key_check(const char *key);

/* "rld namespaces="rld" ssh-ed25519 AAAA...", the line for an allowed signers file. malloc'd; NULL
 * after a message. */
char *attestation_signer_line(const char *key);

/* Sign the statement, and make that the note of the commit, in place of an earlier one. Returns 0,
 * or -1 after a message. */
int attestation_write(const char *workspace, const char *key, const char *commit, const json_t *statement);

/* A note that was read. */
struct attestation {
	char *text;		/* the signed bytes */
	char *signature;
	json_t *statement;	/* an object; NULL: the text is no JSON */
};

/* The note of the commit (a full id) in the repository of the current directory and of git's
 * variables, as they stood in notes, a revision. Returns 0, or -1 after a message. */
int attestation_read(struct attestation *a, const char *notes, const char *commit);
void attestation_release(struct attestation *a);

/* Who of the file has signed it, malloc'd; NULL after a message. */
char *attestation_signer(const struct attestation *a, const char *allowed_signers);

/* "SHA256:... (ED25519)": the key that signed it, malloc'd; NULL: no signature, or of other
 * bytes. */
char *attestation_key_name(const struct attestation *a);

/* The object that a revision names in that repository, malloc'd; NULL: there is none. */
char *attestation_object(const char *revision);

#endif
