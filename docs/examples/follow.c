/* SPDX-License-Identifier: MIT */
/* follow SOCKET WORKDIR TASK: submit a task and print each event of its run once, in order, also
 * over restarts and crashes of the daemon. Exits with 0 when the run has succeeded.
 * cc -o follow follow.c $(pkg-config --cflags --libs libuv jansson) */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

static uv_pipe_t to_daemon;
static char **args, key[40], input[1 << 21], output[1 << 20];
static json_int_t since = -1, seq, run, size;	/* size: of what has arrived */

/* Requests of this program fit into the buffer of the socket. */
static void call(const char *method, json_t *params)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:o}", "jsonrpc", "2.0", "id", method, "method", method, "params", params);
	uv_buf_t text[] = { uv_buf_init(output, json_dumpb(json, output, sizeof(output), 0)), uv_buf_init("\n", 1) };
	uv_try_write((uv_stream_t *)&to_daemon, text, 2);
	json_decref(json);
}

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *room)
{
	*room = uv_buf_init(input + size, handle != NULL && wanted > 0 ? sizeof(input) - size : 0);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
	json_t *json;
	int retry = -1;		/* of an error */
	size += bytes != NULL && n > 0 ? n : 0;
	for (json_error_t end; (json = json_loadb(input, size, JSON_DISABLE_EOF_CHECK, &end)) != NULL; json_decref(json)) {
		const char *id = "", *why = "", *type = "", *state = "";
		json_unpack(json, "{s?s, s?{s?I, s?I}, s?{s?I, s?s, s?s}, s?{s:s, s:{s:b}}}", "id", &id, "result", "id", &run, "seq",
		    &seq, "params", "seq", &seq, "type", &type, "state", &state, "error", "message", &why, "data", "retryable", &retry);
		if (retry == 0)
			exit(fprintf(stderr, "%s\n", why) > 0);
		if (retry < 0 && strcmp(id, "run.submit") == 0)
			call("event.subscribe", json_pack("{s:I, s:I}", "run", run, "since", since = since < 0 ? seq : since));
		if (*type != '\0' && printf("%lld %s %s\n", since = seq, type, state) > 0 && fflush(stdout) == 0 &&
		    strcmp(type, "run.state") == 0 && strstr("succeeded failed cancelled", state) != NULL)
			exit(strcmp(state, "succeeded") != 0);
		memmove(input, input + end.position, size -= end.position);
	}
	if (n < 0 || retry == 1)
		uv_close((uv_handle_t *)stream, NULL);
}

static void on_connect(uv_connect_t *connected, int failure)
{
	call("run.submit", json_pack("{s:s, s:s, s:s, s:{s:s, s:s}}", "workdir", args[2], "task", args[3], "key", key,
	    "environment", "PATH", getenv("PATH"), "HOME", getenv("HOME")));
	if (failure != 0 || uv_read_start(connected->handle, on_room, on_read) != 0)
		uv_close((uv_handle_t *)connected->handle, NULL);
}

int main(int argc, char **argv)
{
	snprintf(key, sizeof(key), "follow-%d-%llx", (int)uv_os_getpid(), (long long)uv_hrtime());
	for (args = argv; argc == 4; size = 0, uv_sleep(200)) {
		uv_pipe_init(uv_default_loop(), &to_daemon, 0);
		uv_pipe_connect(&(uv_connect_t){ .data = NULL }, &to_daemon, args[1], on_connect);
		uv_run(uv_default_loop(), UV_RUN_DEFAULT);
	}
	return 2;
}
