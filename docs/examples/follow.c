/* SPDX-License-Identifier: MIT */
/* follow SOCKET WORKDIR TASK: submit a task and print each event of its run once, in order, also
 * over restarts and crashes of the daemon. Exits with 0 when the run has succeeded.
 * cc -o follow follow.c $(pkg-config --cflags --libs libuv jansson) */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

static uv_pipe_t to_daemon;
static uv_timer_t timer;
static uv_connect_t request;
static char **args, key[40], input[1 << 21], output[1 << 20];	/* input: the line that is arriving */
static size_t size;
static json_int_t since = -1;

/* Requests of this program fit into the buffer of the socket. */
static void call(const char *method, json_t *params)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:o}", "jsonrpc", "2.0", "id", method, "method", method, "params", params);
	uv_buf_t text = uv_buf_init(output, (unsigned)json_dumpb(json, output, sizeof(output) - 1, JSON_COMPACT));
	text.base[text.len++] = '\n';
	uv_try_write((uv_stream_t *)&to_daemon, &text, 1);
	json_decref(json);
}

static void take(json_t *message)
{
	const char *why = "", *type = "", *state = "";
	json_int_t run = 0, seq = 0;
	int again = 1;
	json_unpack(message, "{s?{s?I, s?I}, s?{s?I, s?s, s?s}, s?{s:s, s:{s:b}}}", "result", "id", &run, "seq", &seq,
	    "params", "seq", &seq, "type", &type, "state", &state, "error", "message", &why, "data", "retryable", &again);
	if (!again)
		exit(fprintf(stderr, "%s\n", why) > 0);
	if (run > 0)	/* the answer of run.submit */
		call("event.subscribe", json_pack("{s:I, s:I}", "run", run, "since", since = since < 0 ? seq : since));
	if (*type != '\0' && printf("%lld %s %s\n", (long long)(since = seq), type, state) > 0 && fflush(stdout) == 0 &&
	    strcmp(type, "run.state") == 0 && strstr("succeeded failed cancelled", state) != NULL)
		exit(strcmp(state, "succeeded") != 0);
}

static void start(uv_timer_t *handle);

static void again(uv_handle_t *handle)
{
	uv_timer_start(&timer, start, handle != NULL ? 200 : 0, 0);
}

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *room)
{
	*room = uv_buf_init(input + size, handle != NULL && wanted > 0 ? (unsigned)(sizeof(input) - size) : 0);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
	size += bytes != NULL && n > 0 ? (size_t)n : 0;
	for (char *end; (end = memchr(input, '\n', size)) != NULL; memmove(input, end + 1, size)) {
		json_t *message = json_loadb(input, (size_t)(end - input), 0, NULL);
		take(message);
		json_decref(message);
		size -= (size_t)(end + 1 - input);
	}
	if (n < 0)
		uv_close((uv_handle_t *)stream, again);
}

static void on_connect(uv_connect_t *connected, int failure)
{
	size = 0;
	if (failure != 0 || uv_read_start(connected->handle, on_room, on_read) != 0)
		uv_close((uv_handle_t *)connected->handle, again);
	else
		call("run.submit", json_pack("{s:s, s:s, s:s, s:{s:s, s:s}}", "workdir", args[2], "task", args[3], "key", key,
		    "environment", "PATH", getenv("PATH"), "HOME", getenv("HOME")));
}

static void start(uv_timer_t *handle)
{
	uv_pipe_init(handle->loop, &to_daemon, 0);
	uv_pipe_connect(&request, &to_daemon, args[1], on_connect);
}

int main(int argc, char **argv)
{
	args = argv;
	snprintf(key, sizeof(key), "follow-%d-%llx", (int)uv_os_getpid(), (long long)uv_hrtime());
	uv_timer_init(uv_default_loop(), &timer);
	again(NULL);
	return argc == 4 ? uv_run(uv_default_loop(), UV_RUN_DEFAULT) : 2;
}
