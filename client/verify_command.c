/* SPDX-License-Identifier: MIT */
/* rlctl verify: check the attestation of a commit, with git and ssh-keygen and no daemon. */
#include <stdlib.h>
#include <string.h>

#include "client/attestation.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/message.h"
#include "proto/memory.h"

/* Whether the statement is about this commit. Returns 0, or -1 after a message. */
static int check_statement(const json_t *statement, const char *commit)
{
	const json_t *subjects = field_array(statement, "subject");
	const json_t *predicate = json_object_get(statement, "predicate");
	const char *subject = field_text(json_object_get(json_array_get(subjects, 0), "digest"), "gitCommit");
	char *revision, *tree;
	int status = -1;

	if (!field_is(statement, "_type", ATTESTATION_STATEMENT) ||
	    !field_is(statement, "predicateType", ATTESTATION_PREDICATE) || json_array_size(subjects) != 1) {
		message_error("the note of %.12s is signed, but it is no statement about a pass", commit);
		return -1;
	}
	if (strcmp(subject, commit) != 0) {
		message_error("the attestation of %.12s is about another commit, %.12s", commit, subject);
		return -1;
	}
	revision = xasprintf("%s^{tree}", commit);
	tree = attestation_object(revision);
	if (tree == NULL || !field_is(predicate, "tree", tree))
		message_error("commit %.12s has tree %.12s, but %.12s passed", commit, tree != NULL ? tree : "",
		    field_text(predicate, "tree"));
	else
		status = 0;
	free(tree);
	free(revision);
	return status;
}

/* Ask the daemon whether its record still has the attested entry. Returns an exit code. */
static int check_record(struct client *c, const json_t *predicate)
{
	const json_t *record = json_object_get(predicate, "record");
	int64_t run = field_int(predicate, "run");
	json_t *result;
	int status = client_connect(c);

	if (status != 0)
		return status;
	if (!field_is(predicate, "instance", field_text(c->hello, "instance"))) {
		message_error("the attestation is of instance %s, but this daemon is %s; --socket names another",
		    field_text(predicate, "instance"), field_text(c->hello, "instance"));
		return EXIT_REFUSED;
	}
	result = client_call(c, "review.verify", json_pack("{s:I,s:I,s:s}", "run", (json_int_t)run, "entry",
	    (json_int_t)field_int(record, "entry"), "entry_hash", field_text(record, "hash")), &status);
	if (result != NULL && !field_true(result, "ok")) {
		message_error("the record of run %lld is not as attested: %s", (long long)run,
		    field_text(result, "message"));
		status = EXIT_REFUSED;
	}
	json_decref(result);
	return status;
}

static void print_verified(struct client *c, const char *commit, const char *signer, json_t *statement)
{
	const json_t *predicate = json_object_get(statement, "predicate");
	const json_t *evidence = field_array(predicate, "evidence");

	if (c->json) {
		json_t *json = json_pack("{s:s,s:s,s:O}", "commit", commit, "signer", signer, "statement", statement);

		print_json(&c->out, json);
		json_decref(json);
		return;
	}
	print_paintedf(&c->out, PAINT_NONE, "Commit %.12s passed in run %lld of instance %s, signed by %s.",
	    commit, field_count(predicate, "run"), field_text(predicate, "instance"), signer);
	fputc('\n', c->out.file);
	for (size_t i = 0; i < json_array_size(evidence); i++) {
		const json_t *row = json_array_get(evidence, i);

		print_paintedf(&c->out, PAINT_NONE, "  %s %s: %s", field_text(row, "kind"), field_text(row, "result"),
		    field_text(row, "subject"));
		fputc('\n', c->out.file);
	}
	if (options_given(&c->options, "record"))
		fputs("The record of the run is as attested.\n", c->out.file);
}

static int verify(struct client *c, const char *commit, const struct attestation *a)
{
	const char *allowed = options_text(&c->options, "allowed-signers");
	char *signer, *key;
	int status = EXIT_REFUSED;

	if (allowed == NULL) {
		key = attestation_key_name(a);
		message_error("no key is trusted; name a file of allowed signers with --allowed-signers");
		message_hint("The note is signed by the key %s. \"rlctl attest\" prints the line for that file; "
		    "take it from the host of the daemon, not from what it is to prove.",
		    key != NULL ? key : "(none fits)");
		free(key);
		return EXIT_REFUSED;
	}
	signer = attestation_signer(a, allowed);
	if (signer == NULL)
		message_error("commit %.12s is not proven", commit);
	else if (check_statement(a->statement, commit) == 0)
		status = options_given(&c->options, "record") ?
		    check_record(c, json_object_get(a->statement, "predicate")) : EXIT_DONE;
	if (status == EXIT_DONE)
		print_verified(c, commit, signer, a->statement);
	free(signer);
	return status;
}

int verify_command(struct client *c)
{
	const char *notes = options_text(&c->options, "notes"), *name = c->options.arguments[0];
	char *revision = xasprintf("%s^{commit}", name), *commit = attestation_object(revision);
	struct attestation a = { 0 };
	int status = EXIT_REFUSED;

	if (commit == NULL)
		message_error("%s is no commit of the repository here; run rlctl verify in a clone that has it", name);
	else if (attestation_read(&a, notes != NULL ? notes : ATTESTATION_NOTES, commit) == 0)
		status = verify(c, commit, &a);
	attestation_release(&a);
	free(commit);
	free(revision);
	return status;
}
