/* SPDX-License-Identifier: MIT */
#include "client/client.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/connect.h"
#include "client/environment_capture.h"
#include "client/field.h"
#include "client/host.h"
#include "client/host_connection.h"
#include "client/message.h"
#include "client/sockets.h"
#include "client/user_text.h"
#include "proto/call.h"
#include "proto/error.h"
#include "proto/memory.h"
#include "proto/near.h"

/* The environment contains secrets and the daemon asks for them by name, so only trusted daemons
 * may ask. */
static void set_trust(struct client *c)
{
	const json_t *named = json_object_get(c->options.values, "trust-uid");
	struct call_trust *trust = &c->trust;

	trust->count = 0;
	trust->uids[trust->count++] = geteuid();
	trust->uids[trust->count++] = 0;
	if (sockets_system_owner(&trust->uids[trust->count]))
		trust->count++;
	if (named != NULL)
		trust->uids[trust->count++] = (uid_t)json_integer_value(named);
}

static enum connect_start start_policy(const struct client *c)
{
	if (c->command->no_start || options_given(&c->options, "no-start"))
		return CONNECT_START_NEVER;
	return options_given(&c->options, "start") ? CONNECT_START_ASKED : CONNECT_START_DEMAND;
}

/* NULL: the socket is searched for. */
static const char *named_socket(const struct client *c)
{
	const char *named = options_text(&c->options, "socket");

	if (named == NULL)	/* an empty variable is an unset one */
		named = getenv("RLD_SOCKET");
	return named != NULL && *named != '\0' ? named : NULL;
}

/* What ssh runs there: with the options that say which daemon is meant. */
static char *host_words(const struct client *c, enum connect_start start)
{
	const char *words[8], *socket = options_text(&c->options, "socket");
	const json_t *uid = json_object_get(c->options.values, "trust-uid");
	char number[24];
	size_t n = 0;

	if (socket != NULL) {
		words[n++] = "--socket";
		words[n++] = socket;
	}
	if (uid != NULL) {
		snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(uid));
		words[n++] = "--trust-uid";
		words[n++] = number;
	}
	if (start != CONNECT_START_DEMAND)
		words[n++] = start == CONNECT_START_ASKED ? "--start" : "--no-start";
	words[n++] = "relay";
	words[n] = NULL;
	return host_command(words);
}

int client_set_host(struct client *c)
{
	const char *url = options_text(&c->options, "host"), *why;
	bool variable = url == NULL;

	if (variable)	/* an empty variable is an unset one */
		url = getenv("RLD_HOST");
	if (url == NULL || (variable && *url == '\0'))
		return 0;
	c->host = host_new(url, &why);
	if (c->host == NULL) {
		message_error("%s: %s: %s", variable ? "RLD_HOST" : "--host", url, why);
		return EXIT_USAGE;
	}
	user_text_elsewhere();
	c->host->command = host_words(c, start_policy(c));
	c->host->again = host_words(c, CONNECT_START_NEVER);
	return 0;
}

static int connect_host(struct client *c, const char *command, bool quiet)
{
	int status = host_connect(c->host, command, quiet, &c->conn, &c->hello);

	if (status == 0)
		c->socket = xstrdup(c->host->url);
	return status;
}

bool client_running(struct client *c)
{
	if (c->conn != NULL)
		return true;
	if (c->host != NULL)
		return connect_host(c, c->host->again, true) == 0;
	set_trust(c);
	return connect_running(named_socket(c), &c->trust, &c->conn, &c->hello, &c->socket);
}

void client_hang_up(struct client *c)
{
	call_close(c->conn);
	json_decref(c->hello);
	c->conn = NULL;
	c->hello = NULL;
}

int client_connect(struct client *c)
{
	if (c->conn != NULL)
		return 0;
	if (c->host != NULL)
		return connect_host(c, c->host->command, false);
	set_trust(c);
	return connect_daemon(named_socket(c), start_policy(c), &c->trust, &c->conn, &c->hello, &c->socket);
}

int client_refused(const struct client *c, const struct call_error *error)
{
	message_refused(error, options_for_param(c->command->options, error->field), c->command->options != NULL);
	return error->code == 0 ? EXIT_NO_DAEMON
	    : error->code == RPC_INVALID_PARAMS && options_is_number(c->command->options, error->field)
	        ? EXIT_USAGE : EXIT_REFUSED;
}

/* rows: of all pages of a list, NULL: it is none. */
static json_t *ask(struct client *c, const char *method, const char *rows, json_t *params, int *status)
{
	struct call_error error;
	json_t *result;

	*status = client_connect(c);
	if (*status != 0) {
		json_decref(params);
		return NULL;
	}
	result = rows != NULL ? call_pages(c->conn, method, rows, params, &error) :
	    call_method(c->conn, method, params, &error);
	if (result == NULL)
		*status = client_refused(c, &error);
	return result;
}

json_t *client_call(struct client *c, const char *method, json_t *params, int *status)
{
	return ask(c, method, NULL, params, status);
}

json_t *client_list(struct client *c, const char *method, const char *rows, json_t *params, int *status)
{
	return ask(c, method, rows, params, status);
}

json_t *client_list_of_run(struct client *c, const char *method, const char *rows, int64_t run, int *status)
{
	return ask(c, method, rows, json_pack("{s:I}", "run", (json_int_t)run), status);
}

json_t *client_call_json(struct client *c, const char *method, json_t *params, int *status)
{
	json_t *result = client_call(c, method, params, status);

	if (result != NULL && c->json)
		print_json(&c->out, result);
	return result;
}

json_t *client_get(struct client *c, const char *method, const char *param, int64_t number, int *status)
{
	return client_call(c, method, json_pack("{s:I}", param, (json_int_t)number), status);
}

json_t *client_get_json(struct client *c, const char *method, const char *param, int64_t number, int *status)
{
	return client_call_json(c, method, json_pack("{s:I}", param, (json_int_t)number), status);
}

int client_act(struct client *c, const struct client_action *actions, size_t count)
{
	struct near near = { .word = c->options.arguments[0] };

	for (size_t i = 0; i < count; i++)
		if (strcmp(actions[i].name, c->options.arguments[0]) == 0 && c->options.count >= actions[i].least &&
		    c->options.count <= actions[i].most)
			return actions[i].run(c);
	for (size_t i = 0; i < count; i++)
		near_offer(&near, actions[i].name);
	message_error("usage: rlctl %s %s", c->command->name, c->command->usage);
	if (near.best != NULL && strcmp(near.best, near.word) != 0)
		message_hint("did you mean \"rlctl %s %s\"?", c->command->name, near.best);
	return EXIT_USAGE;
}

static int parse_id(const char *text, size_t length, int64_t *id)
{
	char digits[24] = "";
	const char *fault;

	if (length == 0 || length >= sizeof(digits))
		return -1;
	memcpy(digits, text, length);
	if (strspn(digits, "0123456789") != length)
		return -1;
	*id = strtonum(digits, 1, INT64_MAX, &fault);
	return fault == NULL ? 0 : -1;
}

int client_parse_id(const char *text, int64_t *id)
{
	return parse_id(text, strlen(text), id);
}

int client_parse_run(const char *text, int64_t *run, int64_t *attempt)
{
	size_t length = strcspn(text, "/");

	if (attempt != NULL)
		*attempt = FIELD_NONE;
	if (parse_id(text, length, run) == 0 &&
	    (text[length] == '\0' ||
	        (attempt != NULL &&
	            parse_id(text + length + 1, strlen(text + length + 1), attempt) == 0)))
		return 0;
	message_error("%s is not a %s; \"rlctl list\" shows the runs", text,
	    attempt == NULL ? "run number" : "run number (42) or attempt number (42/3)");
	return EXIT_USAGE;
}

json_t *client_environment(const struct client *c, const json_t *hello)
{
	return c->host != NULL ? json_null() : environment_capture(json_object_get(hello, "agent_env"));
}

void client_put_environment(const struct client *c, json_t *params)
{
	json_t *environment = client_environment(c, c->hello);

	if (json_is_array(environment))
		json_object_set_new(params, "environment", environment);
}

int client_subscribe(struct client *c, int64_t run, int64_t since)
{
	json_t *params = json_pack("{s:I}", "since", (json_int_t)since), *result;
	int status;

	if (run != FIELD_NONE)
		json_object_set_new(params, "run", json_integer(run));
	result = client_call(c, "event.subscribe", params, &status);
	json_decref(result);
	return status;
}
