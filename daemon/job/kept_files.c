/* SPDX-License-Identifier: MIT */
#include "job/kept_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "core/state.h"
#include "model/dirs.h"
#include "proto/memory.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "record/output.h"

#define CHUNK (256 * 1024)

/* Whatever an agent has put there: links and pipes are not followed. 0 or -errno. */
static int hash_file(int dirfd, const char *name, char hex[DIGEST_HEX])
{
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rv;
	struct digest *digest;
	struct stat st;
	char *buffer;
	ssize_t n = 0;

	if (fd == -1)
		return -errno;
	rv = fstat(fd, &st) == -1 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	if (rv != 0) {
		close(fd);
		return rv;
	}
	digest = digest_new();
	buffer = xcalloc(CHUNK, 1);
	while ((n = read(fd, buffer, CHUNK)) > 0 || (n == -1 && errno == EINTR))
		if (n > 0)
			digest_add(digest, buffer, (size_t)n);
	rv = n == -1 ? -errno : 0;
	digest_end(digest, hex);
	free(buffer);
	close(fd);
	return rv;
}

int kept_output_hash(int dirfd, const char *stream, uint64_t size, char hex[DIGEST_HEX])
{
	struct digest *digest = digest_new();
	char *buffer = xcalloc(CHUNK, 1);
	uint64_t offset = 0;
	int rv = 0;

	while (offset < size) {
		struct output_chunk chunk = { 0 };

		rv = output_read(dirfd, stream, offset, buffer, CHUNK, &chunk);
		if (rv != 0 || chunk.size == 0 || chunk.offset >= size)
			break;
		digest_add(digest, buffer, size - chunk.offset < chunk.size ?
		    (size_t)(size - chunk.offset) : chunk.size);
		offset = chunk.offset + chunk.size;
	}
	digest_end(digest, hex);
	free(buffer);
	return rv == -ENOENT ? 0 : rv;
}

/* NULL: it is as recorded. */
static char *difference(int64_t id, int64_t number, const char *name, int rv, const char *hex, const char *recorded)
{
	if (rv == -ENOENT)
		return xasprintf("attempt %lld: its %s is gone from attempts/%lld", (long long)number, name,
		    (long long)id);
	if (rv != 0)
		return xasprintf("attempt %lld: its %s in attempts/%lld cannot be read: %s", (long long)number, name,
		    (long long)id, host_words(-rv));
	if (strcmp(hex, recorded) != 0)
		return xasprintf("attempt %lld: its %s in attempts/%lld was changed: its hash is %.12s, "
		    "the record has %.12s", (long long)number, name, (long long)id, hex, recorded);
	return NULL;
}

/* The diff that a reviewer was shown, in the output of the step that measured it. */
static char *measured_changed(const char *state_dir, const struct attempt_row *a, size_t *files)
{
	char hex[DIGEST_HEX], *fault = NULL;
	int dirfd, rv;

	if (a->diff == ROW_NONE || a->diff_hash == NULL)
		return NULL;
	dirfd = dirs_open_attempt(state_dir, a->diff);
	rv = dirfd < 0 ? dirfd : kept_output_hash(dirfd, RECORD_STDOUT, UINT64_MAX, hex);
	++*files;
	if (rv != 0 || strcmp(hex, a->diff_hash) != 0)
		fault = xasprintf("attempt %lld: the diff that was measured for it, in attempts/%lld, %s%s",
		    (long long)a->number, (long long)a->diff, rv == 0 ? "was changed" : rv == -ENOENT ?
		    "is gone" : "cannot be read: ", rv == 0 || rv == -ENOENT ? "" : host_words(-rv));
	if (dirfd >= 0)
		close(dirfd);
	return fault;
}

static char *attempt_changed(const char *state_dir, int dirfd, const struct attempt_row *a, size_t *files)
{
	const struct { const char *name, *file, *hash; } kept[] = {
		{ "prompt", RECORD_PROMPT, a->prompt_hash },
		{ "diff", RECORD_DIFF, a->diff_hash },
		{ "material", RECORD_GIVEN, a->given_hash },
		{ "answer", RECORD_ANSWER, a->answer_hash },
		{ "review file", RECORD_CARRIER, a->carrier_hash },
	};
	char *fault = NULL, hex[DIGEST_HEX];
	int rv;

	fault = measured_changed(state_dir, a, files);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]) && fault == NULL; i++) {
		if (kept[i].hash == NULL)
			continue;
		rv = hash_file(dirfd, kept[i].file, hex);
		fault = difference(a->id, a->number, kept[i].name, rv, hex, kept[i].hash);
		++*files;
	}
	if (fault != NULL || a->output_hash == NULL || a->output_size == ROW_NONE)
		return fault;
	rv = kept_output_hash(dirfd, RECORD_STDOUT, (uint64_t)a->output_size, hex);
	++*files;
	fault = difference(a->id, a->number, "output", rv, hex, a->output_hash);
	if (fault != NULL || a->stderr_hash == NULL)
		return fault;
	rv = kept_output_hash(dirfd, RECORD_STDERR, UINT64_MAX, hex);
	++*files;
	return difference(a->id, a->number, "standard error", rv, hex, a->stderr_hash);
}

char *kept_files_changed(const char *state_dir, const struct run_rows *rows, size_t *files)
{
	bool covered = rows->run.entry_count != ROW_NONE && rows->npruned == 0;
	char *fault = NULL;
	size_t count = 0;

	for (size_t i = 0; covered && i < rows->nattempts && fault == NULL; i++) {
		const struct attempt_row *a = rows->attempts[i];
		char *dir;
		int dirfd;

		if (a->state != ATTEMPT_S_EXITED || a->started_at == ROW_NONE)
			continue;
		dir = dirs_attempt(state_dir, a->id);
		dirfd = dirs_open_attempt(state_dir, a->id);
		if (dirfd < 0)
			fault = xasprintf("attempt %lld: its directory %s %s%s", (long long)a->number, dir,
			    dirfd == -ENOENT ? "is gone" : "cannot be read: ",
			    dirfd == -ENOENT ? "" : host_words(-dirfd));
		else
			fault = attempt_changed(state_dir, dirfd, a, &count);
		if (dirfd >= 0)
			close(dirfd);
		free(dir);
	}
	if (files != NULL)
		*files = count;
	return fault;
}
