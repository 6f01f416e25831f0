/* SPDX-License-Identifier: MIT */
/* rlctl stop: end the daemon and see it gone. */
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
		fputs("Waiting for the agents that run; no new work is taken.\n", c->talk.file);
		fflush(c->talk.file);
	}
	/* The connection lives as long as the daemon. */
	while ((got = call_notification(c->conn, -1, &message)) != -1)
		if (got == 1)
			json_decref(message);
	if (!c->json)
		fputs(drain
		        ? "The daemon has stopped.\n"
		        : "The daemon has stopped; agents that ran go on, and the next daemon takes them back.\n",
		    c->talk.file);
	return EXIT_DONE;
}
