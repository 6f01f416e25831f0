/* SPDX-License-Identifier: MIT */
/* rlctl attest: sign what passed in a run, and keep it as notes of its commits. */
#include <stdlib.h>
#include <string.h>

#include "client/attestation.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/message.h"
#include "client/spawn_program.h"
#include "proto/memory.h"

static const char *subject(const json_t *statement)
{
	const json_t *first = json_array_get(field_array(statement, "subject"), 0);

	return field_text(json_object_get(first, "digest"), "gitCommit");
}

/* Whether the commit has the tree that passed, and nothing that git has converted. */
static bool has_tree(const char *workspace, const char *commit, const char *tree)
{
	char *revision = xasprintf("%s^{tree}", commit);
	const char *const argv[] = {
		"git", "--no-pager", "-C", workspace, "-c", "core.hooksPath=/dev/null", "rev-parse", "--verify",
		"--end-of-options", revision, NULL
	};
	struct buf output = { 0 };
	bool same = start_git(argv, (const char *const[]){ "GIT_NO_REPLACE_OBJECTS=1", NULL }, &output) == 0 &&
	    output.size > 1 && strlen(tree) == output.size - 1 && strncmp(output.data, tree, output.size - 1) == 0;

	if (!same)
		message_error("commit %.12s is not attested: its tree is not %.12s, which passed, because git converts "
		    "files of this repository when they are committed, or the commit is gone", commit, tree);
	buf_release(&output);
	free(revision);
	return same;
}

/* Sign all. Returns how many are written, or -1 after a message. */
static long sign_all(const json_t *result)
{
	const json_t *statements = field_array(result, "statements");
	const char *workspace = field_text(result, "workspace"), *key = field_text(result, "key");
	long written = 0;

	for (size_t i = 0; i < json_array_size(statements); i++) {
		const json_t *statement = json_array_get(statements, i);
		const char *tree = field_text(json_object_get(statement, "predicate"), "tree");

		if (!has_tree(workspace, subject(statement), tree))
			continue;
		if (attestation_write(workspace, key, subject(statement), statement) != 0)
			return -1;
		written++;
	}
	return written;
}

static int print_signed(struct client *c, int64_t run, json_t *result, long written)
{
	const json_t *statements = field_array(result, "statements"), *left = field_array(result, "left_out");
	char *line = written > 0 ? attestation_signer_line(field_text(result, "key")) : NULL;

	for (size_t i = 0; i < json_array_size(left); i++)
		message_error("commit %.12s is not attested: %s", field_text(json_array_get(left, i), "commit"),
		    field_text(json_array_get(left, i), "reason"));
	if (c->json) {
		json_object_set_new(result, "allowed_signers", line != NULL ? json_string(line) : json_null());
		json_object_set_new(result, "written", json_integer(written));
		print_json(&c->out, result);
	} else if (written > 0) {
		fprintf(c->out.file, "Signed %ld commit%s of run %lld, in %s of %s.\n", written,
		    written == 1 ? "" : "s", (long long)run, ATTESTATION_NOTES, field_text(result, "workspace"));
		if (line != NULL)
			fprintf(c->out.file, "Push it with the commits. To check them, others need this line in a "
			    "file of allowed signers:\n%s\n", line);
	}
	if (written == 0 && json_array_size(statements) + json_array_size(left) == 0)
		message_error("run %lld has no commit to attest; --commit=auto makes commits of what passes",
		    (long long)run);
	free(line);
	return written > 0 && (size_t)written == json_array_size(statements) ? EXIT_DONE : EXIT_REFUSED;
}

int attest_command(struct client *c)
{
	json_t *result;
	const char *key;
	int64_t run;
	long written = 0;
	int status;

	if (client_parse_run(c->options.arguments[0], &run, NULL) != 0)
		return EXIT_USAGE;
	result = client_call(c, "run.attest", json_pack("{s:I}", "id", (json_int_t)run), &status);
	if (result == NULL)
		return status;
	key = field_text(result, "key");
	if (json_array_size(field_array(result, "statements")) > 0) {
		bool usable = (field_true(result, "key_is_set") ||
		    attestation_key_make(key, field_text(c->hello, "instance")) == 0) &&
		    attestation_key_check(key) == 0;

		written = usable ? sign_all(result) : -1;
	}
	status = written == -1 ? EXIT_REFUSED : print_signed(c, run, result, written);
	json_decref(result);
	return status;
}
