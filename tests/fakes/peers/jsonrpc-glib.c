/* SPDX-License-Identifier: MIT */
/* jsonrpc-glib SOCKET, see test_peers.py */
#include <gio/gunixsocketaddress.h>
#include <jsonrpc-glib.h>

static GVariant *called(JsonrpcClient *peer, const char *method, const char *params)
{
	GVariant *given = params != NULL ? g_variant_parse(NULL, params, NULL, NULL, NULL) : NULL, *result = NULL;
	GError *error = NULL;
	gint64 code = 0;

	if (!jsonrpc_client_call(peer, method, given, NULL, &result, &error)) {
		/* this library gives the whole error as text */
		g_variant_lookup(g_variant_parse(NULL, error->message, NULL, NULL, NULL), "code", "x", &code);
		g_print("%d\n", (int)code);
	}
	return result;
}

int main(int argc, char **argv)
{
	GSocketAddress *address = g_unix_socket_address_new(argv[argc - 1]);
	GSocketClient *client = g_socket_client_new();
	GSocketConnection *stream = g_socket_client_connect(client, G_SOCKET_CONNECTABLE(address), NULL, NULL);
	JsonrpcClient *peer = jsonrpc_client_new(G_IO_STREAM(stream));
	gint64 id;
	gboolean timed_out;
	const char *state;

	g_variant_lookup(called(peer, "daemon.status", NULL), "state", "&s", &state);
	g_variant_lookup(called(peer, "run.get", "{'id': <int64 1>}"), "id", "x", &id);
	g_variant_lookup(called(peer, "run.wait", "[<[int64 1]>]"), "timed_out", "b", &timed_out);
	g_print("%s\n%d\n%s\n", state, (int)id, timed_out ? "true" : "false");
	called(peer, "run.get", "{'id': <int64 99>}");
	return 0;
}
