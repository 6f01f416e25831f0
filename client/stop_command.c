/* SPDX-License-Identifier: MIT */
/* rlctl stop: stop the daemon and wait for its exit. */
#include "client/client.h"
#include "client/commands.h"
#include "proto/call.h"

int stop_command(struct client *c)
{
	bool drain = options_given(&c->options, "drain");
	json_t *result, *message;
	int status, got;

	result = client_call_json(c, "daemon.stop", json_pack("{s:b}", "drain", drain), &status);
	if (result == NULL)
		return status;
	json_decref(result);
	if (drain) {
		fputs("Waiting for running agents; no new work is accepted.\n", c->talk.file);
		fflush(c->talk.file);
	}
	/* the connection lasts as long as the daemon */
	while ((got = call_notification(c->conn, -1, &message)) != -1)
		if (got == 1)
			json_decref(message);
	if (!c->json)
		fputs(drain
		        ? "The daemon has stopped.\n"
		        :
		            "The daemon has stopped; running agents continue, and the next daemon "
		            "adopts them.\n",
		    c->talk.file);
	return EXIT_DONE;
}
