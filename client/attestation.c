/* SPDX-License-Identifier: MIT */
#include "client/attestation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/field.h"
#include "client/message.h"
#include "client/spawn_program.h"
#include "proto/memory.h"

/* Names of the files in a scratch directory. */
static const char *const scratch_files[] = { "statement", "statement.sig", "note", "key", "key.pub" };

static char *scratch_make(const char *parent)
{
	const char *tmp = getenv("TMPDIR");
	char *path = xasprintf("%s/rlctl-attest.XXXXXX", parent != NULL ? parent :
	    tmp != NULL && *tmp == '/' ? tmp : "/tmp");

	if (mkdtemp(path) != NULL)
		return path;
	message_errno("%s", path);
	free(path);
	return NULL;
}

/* NULL is allowed. */
static void scratch_remove(char *path)
{
	for (size_t i = 0; path != NULL && i < ARRAY_SIZE(scratch_files); i++) {
		char *file = xasprintf("%s/%s", path, scratch_files[i]);

		unlink(file);
		free(file);
	}
	if (path != NULL && rmdir(path) == -1)
		message_note("%s stays: %s", path, strerror(errno));
	free(path);
}

static char *scratch_file(const char *scratch, const char *name)
{
	return xasprintf("%s/%s", scratch, name);
}

static int write_text(const char *path, const char *text)
{
	size_t size = strlen(text);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool written = fd != -1 && write(fd, text, size) == (ssize_t)size;

	if (!written)
		message_errno("%s", path);
	if (fd != -1)
		close(fd);
	return written ? 0 : -1;
}

/* All of a file, malloc'd; NULL: errno is set. */
static char *read_text(const char *path)
{
	struct buf text = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int failure = fd == -1 ? -errno : buf_read(&text, fd, 1 << 20);

	if (fd != -1)
		close(fd);
	if (failure == 0)
		return buf_take(&text, NULL);
	buf_release(&text);
	errno = -failure;
	return NULL;
}

/* A daemon does not start in a state directory with files of another user. */
static int is_ours(const char *directory)
{
	struct stat st;

	if (stat(directory, &st) == -1) {
		message_errno("%s", directory);
		return -1;
	}
	if (st.st_uid == geteuid())
		return 0;
	message_error("%s belongs to user %ld; attest as that user, or set attest_key in rld.toml", directory,
	    (long)st.st_uid);
	return -1;
}

int attestation_key_make(const char *key, const char *instance)
{
	char *parent = xasprintf("%.*s", (int)(strrchr(key, '/') - key), key), *scratch = NULL, *made = NULL;
	char *comment = xasprintf("rld %s", instance);
	int status = -1;

	if (access(key, F_OK) == 0) {
		status = 0;
	} else if (is_ours(parent) == 0 && (scratch = scratch_make(parent)) != NULL) {
		const char *argv[] = { "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", NULL, NULL };

		made = scratch_file(scratch, "key");
		argv[9] = made;
		/* linked when it is whole; another rlctl may have been first */
		if (start_program(&(struct program){ .argv = argv }) == 0 &&
		    (link(made, key) == 0 || errno == EEXIST))
			status = 0;
		else
			message_error("cannot make the key %s", key);
	}
	scratch_remove(scratch);
	free(made);
	free(comment);
	free(parent);
	return status;
}

int attestation_key_check(const char *key)
{
	char *text = read_text(key);
	bool private = text != NULL && strncmp(text, "-----BEGIN", 10) == 0;
	struct stat st;

	if (text == NULL || stat(key, &st) == -1) {
		message_errno("cannot read the key %s", key);
		free(text);
		return -1;
	}
	explicit_bzero(text, strlen(text));
	free(text);
	if (!private || (st.st_mode & 077) == 0)
		return 0;
	message_error("other users may read the key %s (mode %04o), so nothing is signed with it; see who had it, "
	    "then \"chmod 600\" it or remove it for a new one", key, (unsigned)(st.st_mode & 07777));
	return -1;
}

char *attestation_signer_line(const char *key)
{
	const char *const argv[] = { "ssh-keygen", "-y", "-f", key, NULL };
	char *text = read_text(key), *line = NULL;
	struct buf output = { 0 };

	if (text == NULL) {
		message_errno("%s", key);
	} else if (strncmp(text, "-----BEGIN", 10) != 0) {
		line = xasprintf("rld namespaces=\"" ATTESTATION_NAMESPACE "\" %.*s", (int)strcspn(text, "\n"), text);
	} else if (start_program(&(struct program){ .argv = argv, .output = &output }) == 0 && output.size > 0) {
		line = xasprintf("rld namespaces=\"" ATTESTATION_NAMESPACE "\" %.*s",
		    (int)strcspn(output.data, "\n"), output.data);
	}
	if (text != NULL)
		explicit_bzero(text, strlen(text));
	free(text);
	buf_release(&output);
	return line;
}

/* The note in a file of the scratch directory. Returns 0, or -1 after a message. */
static int sign(const char *scratch, const char *key, const json_t *statement)
{
	char *line = json_dumps(statement, JSON_COMPACT | JSON_SORT_KEYS), *path = scratch_file(scratch, "statement"),
	     *signature_path = scratch_file(scratch, "statement.sig"), *note_path = scratch_file(scratch, "note");
	const char *const argv[] = {
		"ssh-keygen", "-q", "-Y", "sign", "-n", ATTESTATION_NAMESPACE, "-f", key, path, NULL
	};
	char *signature = NULL, *note;
	int status = write_text(path, line);

	if (status == 0 && start_program(&(struct program){ .argv = argv }) != 0)
		status = -1;
	if (status == 0 && (signature = read_text(signature_path)) == NULL) {
		message_errno("%s", signature_path);
		status = -1;
	}
	if (status == 0) {
		note = xasprintf("%s\n%s", line, signature);
		status = write_text(note_path, note);
		free(note);
	} else {
		message_error("nothing was signed with %s; if it is a public key, its agent must be running", key);
	}
	free(signature);
	free(note_path);
	free(signature_path);
	free(path);
	free(line);
	return status;
}

#define GIT_IN(workspace) "git", "--no-pager", "-C", workspace, "-c", "core.hooksPath=/dev/null", \
	"-c", "core.fsmonitor=false", "-c", "user.name=rld", "-c", "user.email=rld@localhost"

int attestation_write(const char *workspace, const char *key, const char *commit, const json_t *statement)
{
	char *scratch = scratch_make(NULL), *note = NULL;
	struct buf blob = { 0 };
	int status = scratch == NULL ? -1 : sign(scratch, key, statement);

	if (status == 0) {
		const char *argv[] = { GIT_IN(workspace), "hash-object", "-w", "--no-filters", "--", NULL, NULL };

		note = scratch_file(scratch, "note");
		argv[ARRAY_SIZE(argv) - 2] = note;
		status = start_git(argv, (const char *const[]){ NULL }, &blob) == 0 && blob.size > 1 ? 0 : -1;
	}
	if (status == 0) {
		const char *argv[] = {
			GIT_IN(workspace), "notes", "--ref=" ATTESTATION_NOTES, "add", "-f", "-C", NULL, NULL, NULL
		};

		blob.data[strcspn(blob.data, "\n")] = '\0';
		argv[ARRAY_SIZE(argv) - 3] = blob.data;
		argv[ARRAY_SIZE(argv) - 2] = commit;
		status = start_git(argv, (const char *const[]){ NULL }, NULL) == 0 ? 0 : -1;
	}
	if (status != 0)
		message_error("no attestation of %.12s was written to %s of %s", commit, ATTESTATION_NOTES, workspace);
	buf_release(&blob);
	free(note);
	scratch_remove(scratch);
	return status;
}

/* What is pushed may bring replacements: only the object itself counts. */
static const char *const as_it_is[] = { "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", NULL };

char *attestation_object(const char *revision)
{
	const char *const argv[] = {
		"git", "--no-pager", "-c", "core.hooksPath=/dev/null", "rev-parse", "--verify", "--quiet",
		"--end-of-options", revision, NULL
	};
	struct buf output = { 0 };
	int status = start_program(&(struct program){ .argv = argv, .more = as_it_is, .output = &output });
	char *id = NULL;

	if (status == 0 && output.size > 1)
		id = xasprintf("%.*s", (int)strcspn(output.data, "\n"), output.data);

	buf_release(&output);
	return id;
}

/* Notes are files named by the commit, below more and more directories of two digits. */
static char *note_find(const char *notes, const char *commit)
{
	struct buf path = { 0 };
	char *found = NULL;

	for (size_t depth = 0; depth < 5 && found == NULL; depth++) {
		char *revision;

		path.size = 0;
		for (size_t i = 0; i < depth; i++)
			buf_addf(&path, "%.2s/", commit + 2 * i);
		revision = xasprintf("%s:%.*s%s", notes, (int)path.size, path.data != NULL ? path.data : "",
		    commit + 2 * depth);
		found = attestation_object(revision);
		free(revision);
	}
	buf_release(&path);
	return found;
}

int attestation_read(struct attestation *a, const char *notes, const char *commit)
{
	char *id = note_find(notes, commit), *end;
	const char *const argv[] = { "git", "--no-pager", "cat-file", "blob", id, NULL };
	struct buf text = { 0 };
	json_error_t error;

	*a = (struct attestation){ 0 };
	if (id == NULL) {
		message_error("commit %.12s has no attestation in %s", commit, notes);
		message_hint("\"rlctl attest RUN\" writes it; then push it with the commit, or fetch it:");
		message_hint("git fetch REMOTE %s:%s", ATTESTATION_NOTES, ATTESTATION_NOTES);
		return -1;
	}
	if (start_program(&(struct program){ .argv = argv, .more = as_it_is, .output = &text }) != 0 ||
	    text.size == 0 || strlen(text.data) != text.size || (end = strchr(text.data, '\n')) == NULL) {
		message_error("the note of %.12s in %s is no attestation", commit, notes);
		buf_release(&text);
		free(id);
		return -1;
	}
	free(id);
	a->signature = xstrdup(end + 1);
	*end = '\0';
	a->text = xstrdup(text.data);
	buf_release(&text);
	a->statement = json_loads(a->text, JSON_REJECT_DUPLICATES, &error);
	return 0;
}

void attestation_release(struct attestation *a)
{
	free(a->text);
	free(a->signature);
	json_decref(a->statement);
}

/* Run ssh-keygen with the signature and the signed bytes in files. words: up to "-s". Returns the
 * exit code. */
static int keygen(const struct attestation *a, const char *const *words, struct buf *output, bool quiet)
{
	char *scratch = scratch_make(NULL), *signature = NULL, *text = NULL;
	const char *argv[16] = { "ssh-keygen" };
	size_t n = 1;
	int status = -1;

	if (scratch == NULL)
		return -1;
	signature = scratch_file(scratch, "statement.sig");
	text = scratch_file(scratch, "statement");
	while (words[n - 1] != NULL && n < ARRAY_SIZE(argv) - 3) {
		argv[n] = words[n - 1];
		n++;
	}
	argv[n++] = "-s";
	argv[n++] = signature;
	argv[n] = NULL;
	if (write_text(signature, a->signature) == 0 && write_text(text, a->text) == 0)
		status = start_program(&(struct program){
		    .argv = argv, .input = text, .output = output, .quiet = quiet });
	free(text);
	free(signature);
	scratch_remove(scratch);
	return status;
}

char *attestation_key_name(const struct attestation *a)
{
	const char *const words[] = { "-Y", "check-novalidate", "-n", ATTESTATION_NAMESPACE, NULL };
	struct buf output = { 0 };
	char *at, *name = NULL;

	/* Good "rld" signature with ED25519 key SHA256:... */
	if (keygen(a, words, &output, true) == 0 && output.size > 0 && (at = strstr(output.data, "SHA256:")) != NULL)
		name = xasprintf("%.*s", (int)strcspn(at, "\n"), at);
	buf_release(&output);
	return name;
}

char *attestation_signer(const struct attestation *a, const char *allowed_signers)
{
	const char *const find[] = { "-Y", "find-principals", "-f", allowed_signers, NULL };
	struct buf names = { 0 };
	char *rest, *name, *signer = NULL, *key;
	int status;

	if (access(allowed_signers, R_OK) == -1) {
		message_errno("%s", allowed_signers);
		return NULL;
	}
	status = keygen(a, find, &names, true);
	rest = names.data;
	while (status == 0 && signer == NULL && (name = strsep(&rest, "\n")) != NULL) {
		const char *const verify[] = {
			"-Y", "verify", "-n", ATTESTATION_NAMESPACE, "-f", allowed_signers, "-I", name, NULL
		};
		struct buf said = { 0 };

		if (*name != '\0' && keygen(a, verify, &said, true) == 0)
			signer = xstrdup(name);
		buf_release(&said);
	}
	buf_release(&names);
	if (signer != NULL || status == -1)
		return signer;
	key = attestation_key_name(a);
	if (key != NULL)
		message_error("it was signed by the key %s, which %s does not allow to sign for rld", key,
		    allowed_signers);
	else
		message_error("its signature does not fit: the statement, or the signature, was changed");
	free(key);
	return NULL;
}
