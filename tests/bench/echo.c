/* SPDX-License-Identifier: MIT */
/* echo SOCKET RESULT: the least that a JSON-RPC server on libuv and jansson does. It parses each
 * line, and answers with the id of the request and the object in the file RESULT, read once. Prints
 * "ready" when it listens; ends with its parent. */
#include <err.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <uv.h>

struct client {
	uv_pipe_t pipe;
	json_t *result;		/* borrowed */
	char data[65536];
	size_t size;
};

static void closed_cb(uv_handle_t *handle)
{
	free(handle->data);
}

static void alloc_cb(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct client *client = handle->data;

	(void)suggested;
	*buf = uv_buf_init(client->data + client->size, (unsigned)(sizeof(client->data) - client->size));
}

static void answer(struct client *client, const char *line, size_t size)
{
	json_t *request = json_loadb(line, size, 0, NULL), *reply;
	uv_buf_t buf;
	char *text;

	if (request == NULL)
		errx(1, "the request does not parse");
	reply = json_pack("{s:s,s:O,s:O}", "jsonrpc", "2.0", "id", json_object_get(request, "id"),
	    "result", client->result);
	text = json_dumps(reply, JSON_COMPACT);
	if (text == NULL)
		errx(1, "the request has no id");
	size = strlen(text);
	text[size++] = '\n';	/* in place of its NUL */
	buf = uv_buf_init(text, (unsigned)size);
	/* One request at a time: the socket's buffer is empty. */
	if (uv_try_write((uv_stream_t *)&client->pipe, &buf, 1) != (int)size)
		errx(1, "the client does not read");
	free(text);
	json_decref(reply);
	json_decref(request);
}

static void read_cb(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct client *client = stream->data;
	char *begin = client->data, *lf;

	(void)buf;
	if (n < 0) {
		uv_close((uv_handle_t *)stream, closed_cb);
		return;
	}
	client->size += (size_t)n;
	while ((lf = memchr(begin, '\n', client->size)) != NULL) {
		answer(client, begin, (size_t)(lf - begin));
		client->size -= (size_t)(lf + 1 - begin);
		begin = lf + 1;
	}
	memmove(client->data, begin, client->size);
}

static void connection_cb(uv_stream_t *server, int status)
{
	struct client *client = calloc(1, sizeof(*client));

	if (client == NULL || status != 0)
		errx(1, "no connection");
	uv_pipe_init(server->loop, &client->pipe, 0);
	client->pipe.data = client;
	client->result = server->data;
	if (uv_accept(server, (uv_stream_t *)&client->pipe) != 0)
		errx(1, "no connection");
	uv_read_start((uv_stream_t *)&client->pipe, alloc_cb, read_cb);
}

int main(int argc, char **argv)
{
	uv_loop_t *loop = uv_default_loop();
	uv_pipe_t server;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc != 3)
		errx(2, "usage: echo SOCKET RESULT");
	uv_pipe_init(loop, &server, 0);
	server.data = json_load_file(argv[2], 0, NULL);
	if (server.data == NULL)
		errx(1, "%s: no JSON document", argv[2]);
	if (uv_pipe_bind(&server, argv[1]) != 0 || uv_listen((uv_stream_t *)&server, 8, connection_cb) != 0)
		errx(1, "%s: cannot listen", argv[1]);
	puts("ready");
	fflush(stdout);
	return uv_run(loop, UV_RUN_DEFAULT);
}
