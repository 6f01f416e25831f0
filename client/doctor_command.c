/* SPDX-License-Identifier: MIT */
/* rlctl doctor: check the host, with remedies. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/check_list.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/host.h"
#include "client/program_check.h"
#include "proto/memory.h"
#include "proto/units.h"

#define VERSION_MS 20000

static size_t count_state(const json_t *checks, const char *state)
{
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(checks); i++)
		count += field_is(json_array_get(checks, i), "state", state);
	return count;
}

/* Number of checks in this state, of the daemon, the client and all agents. */
static size_t count_all(const json_t *report, const char *state)
{
	const json_t *client = json_object_get(report, "client"), *agents = field_array(client, "agents");
	size_t count = count_state(field_array(report, "checks"), state) +
	    count_state(field_array(client, "checks"), state);

	for (size_t i = 0; i < json_array_size(agents); i++)
		count += count_state(field_array(json_array_get(agents, i), "checks"), state);
	return count;
}

static void print_report(const struct print *p, const json_t *report)
{
	const json_t *client = json_object_get(report, "client"), *agents = field_array(client, "agents");
	size_t width = check_widest(field_array(client, "checks"), check_widest(field_array(report, "checks"), 0));
	size_t warnings = count_all(report, "warning"), failed = count_all(report, "failed");

	for (size_t i = 0; i < json_array_size(agents); i++)
		width = check_widest(field_array(json_array_get(agents, i), "checks"), width);
	check_print_section(p, "The daemon", field_array(report, "checks"), width);
	check_print_section(p, "You", field_array(client, "checks"), width);
	check_print_agents(p, agents, width);
	if (failed == 0 && warnings == 0)
		fputs("No problems found.\n", p->file);
	else
		fprintf(p->file, "%zu failed, %zu warning%s.\n", failed, warnings, warnings == 1 ? "" : "s");
}

/* Agents have the rights of the daemon's user, and the environment of the submitter. */
static void add_user(json_t *checks, const json_t *report)
{
	int64_t uid = field_int(report, "uid");

	if (uid != FIELD_NONE && uid != (int64_t)geteuid())
		program_check_add(checks, "user", "warning",
		    xasprintf(
		        "the daemon is uid %lld, you are uid %u: agents have the HOME, PATH and rights of that user",
		        (long long)uid, (unsigned)geteuid()),
		    "use a daemon of your own, or make sure that this user may read and write there");
	if (getenv("HOME") == NULL)
		program_check_add(checks, "HOME", "warning",
		    xstrdup("not set: agents cannot find their login or settings"),
		    "export HOME");
	if (getenv("PATH") == NULL)
		program_check_add(checks, "PATH", "failed", xstrdup("not set: no agent can be found"), "export PATH");
}

/* Works without a daemon, too: then only the client's checks are made. */
static json_t *doctor_examine(struct client *c, int64_t ms)
{
	json_t *params = options_given(&c->options, "deep") ? json_pack("{s:b}", "deep", 1) : NULL,
	       *checks = json_array(), *agents, *report;
	int status;

	report = client_call(c, "daemon.doctor", params, &status);
	if (report == NULL) {
		report = json_object();
		program_check_add(checks, "daemon", "failed", xstrdup(status == EXIT_NO_DAEMON ?
			"no daemon answers: its view of the host and its agents were not checked" :
			    "the daemon does not support this request"),
			status == EXIT_NO_DAEMON ? "start one with rld" :
			    "make sure that rld and rlctl have the same version");
	}
	if (c->host != NULL) {
		char *remedy = xasprintf("ssh %s rlctl doctor", c->host->target);

		program_check_add(checks, "programs", "warning",
		    xstrdup("programs and agents of the other machine were not checked from here"), remedy);
		free(remedy);
		agents = json_array();
	} else {
		add_user(checks, report);
		program_check_tools(checks, ms);
		agents = program_check_agents(field_array(report, "agents"), ms);
	}
	json_object_set_new(report, "client", json_pack("{s:o,s:o}", "checks", checks, "agents", agents));
	return report;
}

int doctor_command(struct client *c)
{
	const char *timeout = options_text(&c->options, "timeout");
	int64_t ms = VERSION_MS;
	json_t *report;
	size_t failed;

	/* the value was validated with the options */
	if (timeout != NULL)
		duration_parse(timeout, &ms);
	report = doctor_examine(c, ms);
	failed = count_all(report, "failed");
	if (c->json)
		print_json(&c->out, report);
	else
		print_report(&c->out, report);
	json_decref(report);
	return failed > 0 ? EXIT_REFUSED : EXIT_DONE;
}
