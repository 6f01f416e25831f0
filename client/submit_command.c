/* SPDX-License-Identifier: MIT */
#include "client/submit_command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/commands.h"
#include "client/field.h"
#include "client/group_check.h"
#include "client/host.h"
#include "client/message.h"
#include "proto/call.h"
#include "proto/clock.h"
#include "proto/escape.h"
#include "proto/memory.h"

#define WAIT_KNOWN_MS 500
#define TASK_MAX (16 << 20)
/* in JSON; longer text is uploaded in pieces before the request */
#define INLINE_MAX (512 * 1024)
#define PIECE_MAX (256 * 1024)
/* control characters take six bytes in JSON; a frame has 1 MiB */
#define PIECE_JSON_MAX (768 * 1024)

/* Task sources; a run has one of them. */
static const char *const sources[] = { "file", "beads", "stories", "workflow" };

/* *source NULL: the task is the argument or standard input. Returns 0, or an exit code after a
 * message. */
static int find_source(const struct client *c, const char **source)
{
	*source = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		if (!options_given(&c->options, sources[i]))
			continue;
		if (*source != NULL) {
			message_error("a run has one task source: give --%s or --%s, not both", *source, sources[i]);
			return EXIT_USAGE;
		}
		*source = sources[i];
	}
	if (*source == NULL || c->options.count == 0)
		return 0;
	message_error("a run has one task source: give a task or --%s, not both%s", *source,
		strcmp(*source, "beads") == 0 ? "; give a directory of beads as --beads=DIR" : "");
	return EXIT_USAGE;
}

static int read_file(const char *path, struct buf *text)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), failure;

	if (fd == -1) {
		message_errno("%s", path);
		return EXIT_REFUSED;
	}
	failure = buf_read(text, fd, TASK_MAX);
	if (!is_stdin)
		close(fd);
	if (failure == -EFBIG)
		message_error("%s: longer than %d MiB", is_stdin ? "standard input" : path, TASK_MAX >> 20);
	else if (failure != 0)
		message_error("%s: %s", is_stdin ? "standard input" : path, strerror(-failure));
	return failure == 0 ? 0 : EXIT_REFUSED;
}

/* The words of TASK, otherwise --file, otherwise standard input; "-" alone is that, too. */
static int read_task(const struct client *c, struct buf *text)
{
	const char *file = options_text(&c->options, "file");

	if (c->options.count == 1 && strcmp(c->options.arguments[0], "-") == 0)
		return read_file("-", text);
	for (int i = 0; i < c->options.count; i++)
		buf_addf(text, "%s%s", i > 0 ? " " : "", c->options.arguments[i]);
	if (c->options.count > 0)
		return 0;
	if (file == NULL && isatty(STDIN_FILENO)) {
		message_error("missing task: give it as an argument, with --file, or on standard input");
		return EXIT_USAGE;
	}
	return read_file(file == NULL ? "-" : file, text);
}

/* what: "the task"; if_empty: the message for an empty text */
static int check_text(const char *what, const char *if_empty, const struct buf *text)
{
	const char *data = text->data == NULL ? "" : text->data, *fault = NULL;

	if (strspn(data, " \t\r\n\f\v") == text->size)
		fault = if_empty;
	else if (memchr(data, '\0', text->size) != NULL)
		fault = "it contains a NUL byte";
	else if (!text_is_utf8(data, text->size))
		fault = "it is not UTF-8; convert it, for example with iconv(1)";
	else if (text->size > TASK_MAX)
		fault = "it is longer than 16 MiB";
	if (fault != NULL)
		message_error("cannot accept %s: %s", what, fault);
	return fault == NULL ? 0 : EXIT_REFUSED;
}

static size_t json_size(const json_t *value)
{
	return json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);
}

/* The longest piece at offset that ends with a complete character and fits into a frame. */
static json_t *piece_at(const struct buf *text, size_t offset, size_t *size)
{
	for (*size = text->size - offset < PIECE_MAX ? text->size - offset : PIECE_MAX;; *size /= 2) {
		json_t *piece;

		while (offset + *size < text->size && ((unsigned char)text->data[offset + *size] & 0xc0) == 0x80)
			--*size;
		piece = json_stringn(text->data + offset, *size);
		if (json_size(piece) <= PIECE_JSON_MAX)
			return piece;
		json_decref(piece);
	}
}

/* Upload the text under a unique name. */
static int send_blob(struct client *c, const struct buf *text, json_t *params)
{
	char *name = xasprintf("rlctl-%08x%08x%08x%08x", arc4random(), arc4random(), arc4random(), arc4random());
	int status = 0;

	for (size_t offset = 0, size; offset < text->size && status == 0; offset += size) {
		json_t *piece = piece_at(text, offset, &size);

		json_decref(client_call(c, "blob.put",
		    json_pack("{s:s, s:I, s:o}", "blob", name, "offset", (json_int_t)offset, "data",
		        piece),
		    &status));
	}
	json_object_set_new(params, "task_blob", json_string(name));
	free(name);
	return status;
}

static int put_task(struct client *c, json_t *params)
{
	struct buf text = { 0 };
	json_t *task;
	int status = read_task(c, &text);

	if (status == 0)
		status = check_text("the task",
		    "it is empty; give it as an argument, with --file, or on standard input", &text);
	if (status == 0) {
		task = json_stringn(text.data, text.size);
		if (json_size(task) > INLINE_MAX) {
			json_decref(task);
			status = send_blob(c, &text, params);
		} else {
			json_object_set_new(params, "task", task);
		}
	}
	free(text.data);
	return status;
}

int submit_put_file(const struct client *c, const char *source, json_t *params)
{
	char *name = xasprintf("%s_path", source);
	const char *path = field_text(params, name);
	struct buf text = { 0 };
	int status = read_file(path, &text);
	json_t *value;

	if (status == 0)
		status = check_text(path, "it is empty", &text);
	if (status == 0) {
		value = json_stringn(text.data, text.size);
		if (json_size(value) > INLINE_MAX) {
			message_error("%s: too long; split it into files of at most %d KiB", path, INLINE_MAX >> 10);
			status = EXIT_REFUSED;
		}
		json_object_set_new(params, source, value);
	}
	if (c->host != NULL)	/* there it is another file, or none */
		json_object_del(params, name);
	free(text.data);
	free(name);
	return status;
}

/* The daemon checks it, too. */
static int check_beads(const struct client *c, const json_t *params)
{
	const json_t *beads = json_object_get(params, "beads");
	const char *dir = json_is_string(beads) ? json_string_value(beads) : field_text(params, "workdir");
	char *path = xasprintf("%s/.beads", dir);
	struct stat st;
	int failure = c->host != NULL ? 0 : stat(path, &st) == -1 ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;

	if (failure != 0)
		message_error("--beads: %s: %s; name the directory that contains .beads as --beads=DIR, or "
		    "create it with \"bd init\"",
		    path, strerror(failure));
	free(path);
	return failure == 0 ? 0 : EXIT_REFUSED;
}

static int put_source(struct client *c, json_t *params)
{
	const char *source;
	int status = find_source(c, &source);

	if (status != 0)
		return status;
	if (source != NULL && strcmp(source, "workflow") == 0 && !options_given(&c->options, "quiet") &&
	    (options_given(&c->options, "review") || options_given(&c->options, "reviewer")))
		message_note("warning: --review and --reviewer have no effect on a workflow; its "
		    "agentic_review decides");
	if (source == NULL || strcmp(source, "file") == 0)
		return put_task(c, params);
	return strcmp(source, "beads") == 0 ? check_beads(c, params) : submit_put_file(c, source, params);
}

int submit_put_workdir(const struct client *c, json_t *params)
{
	char here[4096];

	if (json_object_get(params, "workdir") != NULL)
		return 0;
	if (c->host != NULL) {
		message_error("name a directory of %s with -C: the current one is on this machine", c->host->target);
		return EXIT_USAGE;
	}
	if (getcwd(here, sizeof(here)) == NULL) {
		message_errno("the current directory; name another with --workdir");
		return EXIT_REFUSED;
	}
	if (json_object_set_new(params, "workdir", json_string(here)) == -1) {
		message_error("the path of the current directory is not UTF-8; name another with --workdir");
		return EXIT_REFUSED;
	}
	return 0;
}

void submit_print_warnings(const json_t *result)
{
	const json_t *warnings = field_array(result, "warnings");

	for (size_t i = 0; i < json_array_size(warnings); i++)
		message_note("warning: %s", json_string_value(json_array_get(warnings, i)));
}

/* A mistyped group has no limit, and no pause either. */
static void note_new_group(struct client *c)
{
	const char *name = options_text(&c->options, "group");
	char *near;

	if (name == NULL || options_given(&c->options, "quiet") || group_is_known(c, name, &near))
		return;
	message_note("warning: group %s is new, and has no limit of its own%s%s%s", name,
	    near != NULL ? "; did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
	free(near);
}

json_t *submit_send(struct client *c, int *status)
{
	const char *key = options_text(&c->options, "key");
	json_t *params, *result = NULL;

	if (key != NULL && *key == '\0') {
		message_error("--key must not be empty");
		*status = EXIT_USAGE;
		return NULL;
	}
	params = json_deep_copy(c->options.params);
	*status = submit_put_workdir(c, params);
	if (*status == 0)
		*status = put_source(c, params);
	if (*status == 0)
		*status = client_connect(c);
	if (*status == 0) {
		note_new_group(c);
		client_put_environment(c, params);
		result = client_call(c, "run.submit", json_incref(params), status);
	}
	json_decref(params);
	return result;
}

bool submit_is_blocked(const json_t *event)
{
	static const bool blocked[WAITS] = { [WAIT_WORKSPACE] = true, [WAIT_AFTER] = true, [WAIT_PAUSED] = true,
		[WAIT_GROUP_PAUSED] = true, [WAIT_DRAINING] = true };

	return blocked[field_wait_kind(event)];
}

/* Say why the run does not begin: the daemon knows it a moment after the submit. */
static void submit_print_wait(struct client *c, int64_t id)
{
	int64_t end = clock_steady() + WAIT_KNOWN_MS, left;
	struct call_error error;
	json_t *message = NULL;
	json_t *run;

	json_decref(call_method(c->conn, "event.subscribe", json_pack("{s:I}", "run", (json_int_t)id), &error));
	run = call_method(c->conn, "run.get", json_pack("{s:I}", "id", (json_int_t)id), &error);
	while (field_is(run, "state", "queued") && field_wait_kind(run) == WAIT_NOTHING &&
	    (left = end - clock_steady()) > 0 && call_notification(c->conn, (int)left, &message) == 1) {
		if (field_is(json_object_get(message, "params"), "type", "run.state")) {
			json_decref(run);
			run = json_incref(json_object_get(message, "params"));
		}
		json_decref(message);
	}
	if (submit_is_blocked(run))
		message_note("run %lld waits: %s", (long long)id, field_text(run, "reason"));
	json_decref(run);
}

int submit_command(struct client *c)
{
	bool quiet = options_given(&c->options, "quiet"), dry = options_given(&c->options, "dry-run");
	int status;
	json_t *result = submit_send(c, &status);

	if (result == NULL)
		return status;
	if (!quiet)
		submit_print_warnings(result);
	if (c->json)
		print_json(&c->out, result);
	else if (!dry)
		fprintf(c->out.file, "%lld\n", field_count(result, "id"));
	else if (!quiet)
		fputs("The run is valid; nothing was submitted.\n", c->talk.file);
	if (!quiet && !dry && !c->json && fflush(c->out.file) == 0)
		submit_print_wait(c, field_int(result, "id"));
	json_decref(result);
	return EXIT_DONE;
}
