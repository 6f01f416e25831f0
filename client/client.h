/* SPDX-License-Identifier: MIT */
/* One invocation of rlctl: its command, its options, its streams, its connection. */
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

struct command {
	const char *name;
	int (*run)(struct client *c);	/* returns the exit code */
	const char *usage;		/* what follows the name */
	const char *help;		/* one line */
	const struct option_row *options;	/* own ones, NULL: none */
	int least, most;		/* arguments */
	bool no_start;			/* there is nothing to be done with a daemon that
					 * had to be started */
};

/* What a command does is said by its first argument. */
struct client_action {
	const char *name;
	int least, most;		/* arguments, with the name */
	int (*run)(struct client *c);	/* returns the exit code */
};

/* Ends with a row without name. */
extern const struct command commands[];

struct client {
	const struct command *command;
	struct options options;
	struct print out, talk;		/* data goes to stdout, talk to stderr */
	bool json;
	struct call_trust trust;
	struct call_conn *conn;		/* NULL before the first call */
	json_t *hello;
	char *socket;			/* where conn leads */
};

/* 0, or an exit code after telling. */
int client_connect(struct client *c);

/* The result, the caller's to decref; or NULL after telling, with the exit code.
 * params is consumed. */
json_t *client_call(struct client *c, const char *method, json_t *params, int *status);

/* The same for the common case: print the result when --json was given. */
json_t *client_call_json(struct client *c, const char *method, json_t *params, int *status);

/* The same two for a method with one parameter that is a number. */
json_t *client_get(struct client *c, const char *method, const char *param, int64_t number, int *status);
json_t *client_get_json(struct client *c, const char *method, const char *param, int64_t number, int *status);

/* Do the action that the first argument names. Its exit code, or EXIT_USAGE after telling how the
 * command is used. */
int client_act(struct client *c, const struct client_action *actions, size_t count);

/* "42" or "42/3" (attempt NULL: not allowed; *attempt FIELD_NONE: not given). 0, or
 * EXIT_USAGE after telling. */
int client_parse_run(const char *text, int64_t *run, int64_t *attempt);

/* A number from 1 on. 0 or -1. */
int client_parse_id(const char *text, int64_t *id);

/* Follow the events of one run, or of all (FIELD_NONE), from a sequence number. 0 or an exit
 * code after telling. */
int client_subscribe(struct client *c, int64_t run, int64_t since);

#endif
