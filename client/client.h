/* SPDX-License-Identifier: MIT */
/* An invocation of rlctl: its command, options, streams and connection. */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/command_options.h"
#include "client/exit.h"
#include "client/print.h"
#include "proto/call.h"

struct client;
struct host;

struct command {
	const char *name;
	int (*run)(struct client *c);	/* returns the exit code */
	const char *usage;		/* what follows the name */
	const char *help;		/* one line */
	const struct option_row *options;	/* its options, NULL: none */
	int least, most;		/* number of arguments */
	bool no_start;			/* a daemon started for this command would be of no use */
};

/* An action of a command, chosen by the first argument. */
struct client_action {
	const char *name;
	int least, most;		/* number of arguments, including the name */
	int (*run)(struct client *c);	/* returns the exit code */
};


struct client {
	const struct command *commands;	/* all; ends with a row without name */
	const struct command *command;
	struct options options;
	struct print out, talk;		/* data goes to stdout, messages to stderr */
	bool json;
	struct call_trust trust;
	struct call_conn *conn;		/* NULL before the first call */
	json_t *hello;
	char *socket;			/* path of conn's socket; of another machine: its URL */
	struct host *host;		/* NULL: this machine */
};

/* Set host from --host or RLD_HOST. Returns 0, or an exit code after a message. */
int client_set_host(struct client *c);

/* Returns 0, or an exit code after a message. */
int client_connect(struct client *c);

/* Close the connection. */
void client_hang_up(struct client *c);

/* Whether a daemon runs; then the client is connected. Without messages, and without a start. */
bool client_running(struct client *c);

/* Returns the result, to be decref'd by the caller; or NULL after a message, with the exit code.
 * Takes ownership of params. */
json_t *client_call(struct client *c, const char *method, json_t *params, int *status);

/* The same for all pages of a list, whose rows are in the member called rows; all rows of a run. */
json_t *client_list(struct client *c, const char *method, const char *rows, json_t *params, int *status);
json_t *client_list_of_run(struct client *c, const char *method, const char *rows, int64_t run, int *status);

/* As client_call(), and print the result if --json was given. */
json_t *client_call_json(struct client *c, const char *method, json_t *params, int *status);

/* The same two for a method with a single, numeric parameter. */
json_t *client_get(struct client *c, const char *method, const char *param, int64_t number, int *status);
json_t *client_get_json(struct client *c, const char *method, const char *param, int64_t number, int *status);

/* Print what the daemon refused, or that it is gone. Returns the exit code. */
int client_refused(const struct client *c, const struct call_error *error);

/* Run the action named by the first argument. Returns its exit code, or EXIT_USAGE after a usage
 * message. */
int client_act(struct client *c, const struct client_action *actions, size_t count);

/* Parse "42" or "42/3" (attempt NULL: not allowed; *attempt FIELD_NONE: not given). Returns 0, or
 * EXIT_USAGE after a message. */
int client_parse_run(const char *text, int64_t *run, int64_t *attempt);

/* Parse a number from 1 up. Returns 0 or -1. */
int client_parse_id(const char *text, int64_t *id);

/* The variables that agents get from the caller. Those of this machine mean nothing on another:
 * then null, and none is put. */
json_t *client_environment(const struct client *c, const json_t *hello);
void client_put_environment(const struct client *c, json_t *params);

/* Follow the events of one run, or of all (FIELD_NONE), from a sequence number. Returns 0 or an
 * exit code, after a message. */
int client_subscribe(struct client *c, int64_t run, int64_t since);

#endif
