/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/offload.h"
#include "config/config.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/slot.h"
#include "job/host_refusal.h"
#include "job/prompt_preview.h"
#include "model/model.h"
#include "model/row_json.h"
#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/path_access.h"

/* A prompt.show: the project file is read, the settings are resolved, then the prompt is made. */
struct prompt_call {
	struct rpc *rpc;
	struct call *call;
	struct project_text text;
	struct plan plan;
	struct plan own_plan;		/* what the daemon's settings alone make of it */
	struct path_access access;
	struct prompt_preview preview;
};

static void prompt_free(struct prompt_call *p)
{
	prompt_preview_release(&p->preview);
	project_text_release(&p->text);
	plan_release(&p->plan);
	plan_release(&p->own_plan);
	free(p->access.text);
	free(p);
}

static void refuse_access(const struct prompt_call *p)
{
	call_error(p->call, RPC_NOT_PERMITTED, "workdir", PATH_ACCESS_HINT, "%s", p->access.text);
}

static void made_done(void *arg)
{
	struct prompt_call *p = arg;
	const struct prompt_preview *made = &p->preview;
	json_t *warnings = json_array();

	for (size_t i = 0; made->warnings != NULL && made->warnings[i] != NULL; i++)
		json_array_append_new(warnings, json_text(made->warnings[i]));
	if (p->access.text != NULL)
		refuse_access(p);
	else if (made->error != NULL)
		call_error(p->call, RPC_INVALID_PARAMS, made->field, NULL, "%s", made->error);
	else
		call_ok(p->call, json_pack("{s:o,s:O}", "prompt", json_text(made->prompt), "warnings", warnings));
	json_decref(warnings);
	prompt_free(p);
}

static void made_run(void *arg)
{
	struct prompt_call *p = arg;

	if (path_access_plan(&p->access, &p->plan, &p->own_plan, p->preview.workdir))
		prompt_preview_make(&p->preview);
}

/* Frees p, or passes it on. */
static void resolve(struct prompt_call *p, const struct project *project)
{
	json_t *review = call_param(p->call, "review");
	char *profile = json_dumps(review, JSON_COMPACT | JSON_ENCODE_ANY);
	const struct config_override overrides[] = {
		{ "review.enabled", "true", "review" },
		{ "review.profile", profile, "review" },
	};
	struct config_error error;
	int role = state_value(&role_names, call_text(p->call, "role"));
	int rv = config_resolve(rpc_config(p->rpc), project, overrides, review == NULL ? 1 : 2, &p->plan, &error);

	if (rv == 0 && p->access.peer != NULL)
		(void)config_resolve(rpc_config(p->rpc), NULL, overrides, review == NULL ? 1 : 2, &p->own_plan, &error);
	free(profile);
	if (rv == -1) {
		call_error(p->call, RPC_INVALID_PARAMS, error.field[0] != '\0' ? error.field : NULL, NULL,
		    "%s", error.text);
		prompt_free(p);
		return;
	}
	if (role == ROLE_REVIEW && p->plan.profile->carrier == CARRIER_EXIT) {
		call_error(p->call, RPC_INVALID_PARAMS, "role", "name another profile",
		    "the reviewer of profile %s is a program: it gets the answer, and no prompt", p->plan.profile_name);
		prompt_free(p);
		return;
	}
	p->plan.read_as = path_access_read_as(&p->access, &p->own_plan);
	p->preview = (struct prompt_preview){
		.plan = &p->plan,
		.role = (enum role)role,
		.task = call_text(p->call, "task") != NULL ? call_text(p->call, "task") : "(the task)",
		.workdir = call_text(p->call, "workdir"),
		.config_dir = p->rpc->options.engine->config_dir,
	};
	offload(p->rpc->options.loop, made_run, made_done, p);
}

static void read_run(void *arg)
{
	struct prompt_call *p = arg;

	if (path_access_project(&p->access, call_text(p->call, "workdir")))
		path_access_read(&p->access, &p->text, call_text(p->call, "workdir"));
}

static void read_done(void *arg)
{
	struct prompt_call *p = arg;
	struct project *project = NULL;
	struct config_error error;

	if (p->access.text != NULL) {
		refuse_access(p);
		prompt_free(p);
	} else if (project_parse(&project, &p->text, &error) == 0) {
		resolve(p, project);
	} else {
		call_error(p->call, host_refusal_code(-p->text.error, RPC_INVALID_PARAMS), error.field,
		    host_refusal_hint(-p->text.error, NULL), "%s", error.text);
		prompt_free(p);
	}
	project_free(project);
}

static struct reply prompt_show(struct rpc *rpc, struct call *call)
{
	const char *workdir = call_text(call, "workdir");
	struct prompt_call *p;

	if (workdir[0] != '/')
		return reply_error(call, RPC_INVALID_PARAMS, "workdir", "use an absolute path",
		    "workdir '%s' is not absolute", workdir);
	p = xcalloc(1, sizeof(*p));
	p->rpc = rpc;
	p->call = call;
	p->access.peer = path_access_peer(call);
	offload(rpc->options.loop, read_run, read_done, p);
	return reply_later(call);
}

static const char *const roles[] = { "implement", "review", "fix", "commit" };
static const struct state_names prompted_roles = { "role", roles, sizeof(roles) / sizeof(roles[0]), NULL };

static const struct schema show_params[] = {
	{ "workdir", SCHEMA_TEXT, .min = 1, .max = PATH_MAX, .required = true,
	    .help = "absolute path of the directory where the run would work" },
	{ "role", SCHEMA_TEXT, .max = 16, .required = true, .choices = &prompted_roles,
	    .help = "of the attempt that would get it" },
	{ "task", SCHEMA_TEXT, .min = 1, .max = INT_MAX, .help = "text of the task" },
	{ "review", SCHEMA_ANY, .path = "review.profile", .help = "review profile; default: as configured" },
	{ 0 },
};
static const struct result_field show_results[] = {
	{ "prompt", "string", "the prompt; the nonce of a review is XXXXXXXX" },
	{ "warnings", "[string]", "files that are missing or empty" },
	{ 0 },
};
static const int show_errors[] = { RPC_NO_SPACE, RPC_UNAVAILABLE, RPC_BUSY, 0 };

const struct method prompt_methods[] = {
	{ "prompt.show", ACCESS_SUBMIT, false, show_params, show_results, show_errors, prompt_show,
	    "return the prompt that a role would get, before anything is paid" },
	{ 0 },
};
