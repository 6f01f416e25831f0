/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "core/profile.h"
#include "engine/template.h"
#include "engine/work.h"
#include "prompt/prompt.h"
#include "record/layout.h"
#include "record/output.h"

#define TASK_VARIABLE_MAX (64 * 1024)
#define TASK_FILE_MAX (16 * 1024 * 1024)

/* Texts that a prompt is made of, as read from disk. */
struct sources {
	char *template, *task, *answer;
	size_t template_size, task_size, answer_size;
	struct buf diff;
	bool diff_dropped;
};

static void sources_release(struct sources *s)
{
	free(s->template);
	free(s->task);
	free(s->answer);
	buf_release(&s->diff);
}

/* The diff is the measuring step's stdout. Only as much of each end is read as the prompt can show. */
static void read_diff(struct sources *s, const char *state_dir, int64_t step)
{
	static const size_t keep = 4 * PROMPT_CAP;	/* a code point has at most four bytes */
	char *dir = work_attempt_dir(state_dir, step), *buffer = xcalloc(keep, 1);
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct output_chunk chunk = { 0 };
	uint64_t offset = 0;

	while (dirfd != -1 && output_read(dirfd, RECORD_STDOUT, offset, buffer, keep, &chunk) == 0 && chunk.size > 0) {
		s->diff_dropped |= chunk.dropped > 0;
		buf_add(&s->diff, buffer, chunk.size);
		offset = chunk.offset + chunk.size;
		if (s->diff.size >= keep && chunk.end > offset + keep) {
			s->diff_dropped = true;
			offset = chunk.end - keep;
		}
	}
	if (dirfd != -1)
		close(dirfd);
	free(buffer);
	free(dir);
}

static int read_sources(const struct compose_work *w, struct sources *s, char **error)
{
	const char *state_dir = w->work.state_dir;
	char *dir = work_run_dir(state_dir, w->run.id), *path;
	int rv;

	path = xasprintf("%s/task", dir);
	rv = file_read(AT_FDCWD, path, TASK_FILE_MAX, &s->task, &s->task_size);
	if (rv != 0)
		*error = xasprintf("the task cannot be read: %s: %s", path, strerror(-rv));
	free(path);
	switch (w->attempt.role) {
	case ROLE_REVIEW:
		path = xasprintf("%s/reviewer.md", dir);
		rv = file_read(AT_FDCWD, path, TASK_FILE_MAX, &s->template, &s->template_size);
		if (rv != 0 && rv != -ENOENT)
			*error = xasprintf("the reviewer's prompt cannot be read: %s: %s", path, strerror(-rv));
		free(path);
		break;
	case ROLE_IMPLEMENT:
		s->template = template_find(ROLE_IMPLEMENT, w->plan->developer_prompt, w->run.workspace, w->work.config_dir, &s->template_size, error);
		break;
	case ROLE_FIX:
		s->template = template_find(ROLE_FIX, NULL, w->run.workspace, w->work.config_dir, &s->template_size, error);
		break;
	}
	free(dir);
	if (w->attempt.role == ROLE_REVIEW && w->slot.answer != ROW_NONE) {
		dir = work_attempt_dir(state_dir, w->slot.answer);
		path = xasprintf("%s/" RECORD_ANSWER, dir);
		rv = file_read(AT_FDCWD, path, AGENT_TEXT_MAX + 1, &s->answer, &s->answer_size);
		if (rv != 0 && rv != -ENOENT)
			*error = xasprintf("the answer under review cannot be read: %s: %s", path, strerror(-rv));
		free(path);
		free(dir);
	}
	if (w->attempt.role == ROLE_REVIEW && w->slot.diff != ROW_NONE)
		read_diff(s, state_dir, w->slot.diff);
	return *error == NULL ? 0 : -1;
}

static char *make_prompt(const struct compose_work *w, const struct sources *s, const char *verdict_file, size_t *size)
{
	char priority[16];
	/* a reviewer is told that there is no answer or no change; the others get neither part */
	const char *nothing = w->attempt.role == ROLE_REVIEW ? "" : NULL;
	struct prompt_parts parts = {
		.template = { s->template, s->template_size },
		.task_id = w->task.id,
		.task_title = w->task.title,
		.task_status = state_name(&task_state_names, w->task.state),
		.task_priority = priority,
		.task = { s->task, s->task_size },
		.round = w->attempt.round,
		.max_reviews = w->plan->max_fixes + 1,
		.follow_up = { w->follow_up, w->follow_up != NULL ? strlen(w->follow_up) : 0 },
		.answer = { s->answer != NULL ? s->answer : nothing, s->answer_size },
		.diff = { s->diff.data != NULL ? s->diff.data : nothing, s->diff.size },
		.diff_dropped = s->diff_dropped,
		.interrupted = w->slot.interrupted > 0,
		.verdict_file = verdict_file,
	};

	snprintf(priority, sizeof(priority), "%lld", (long long)w->run.priority);
	return prompt_build(w->plan->profile, (enum role)w->attempt.role, &parts, size);
}

static void set_number(char ***env, const char *name, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	environment_set(env, name, text);
}

/* Agent's set, then --env, then ours, which win. */
static void set_variables(const struct compose_work *w, const struct agent_plan *agent, const struct sources *s, const char *verdict_file,
    const char *findings_file, char ***env)
{
	char *dir = work_run_dir(w->work.state_dir, w->run.id), *path = xasprintf("%s/task", dir);

	environment_set_all(env, (const char *const *)agent->set);
	environment_set_all(env, (const char *const *)w->plan->env);
	set_number(env, "RL_RUN", w->run.id);
	set_number(env, "RL_ATTEMPT", w->attempt.id);
	environment_set(env, "RL_ATTEMPT_UUID", w->attempt.uuid);
	environment_set(env, "RL_ROLE", state_name(&role_names, w->attempt.role));
	set_number(env, "RL_SLOT", w->attempt.slot);
	environment_set(env, "RL_TASK_ID", w->task.id);
	if (s->task_size > TASK_VARIABLE_MAX) {
		size_t cut = TASK_VARIABLE_MAX;
		char *head;

		while (cut > 0 && ((unsigned char)s->task[cut] & 0xc0) == 0x80)
			cut--;
		head = xmemdup0(s->task, cut);
		environment_set(env, "RL_TASK", head);
		free(head);
	} else {
		environment_set(env, "RL_TASK", s->task);
	}
	environment_set(env, "RL_TASK_FILE", path);
	set_number(env, "RL_ITERATION", w->attempt.iteration);
	set_number(env, "RL_REVIEW_ROUND", w->attempt.round);
	set_number(env, "RL_MAX_REVIEWS", w->plan->max_fixes + 1);
	environment_set(env, "RL_MODEL", agent->model != NULL ? agent->model : "");
	environment_set(env, "RL_WORKDIR", w->run.workdir);
	environment_set(env, "RL_BASE_REF", w->run.base_tree != NULL ? w->run.base_tree : "");
	if (verdict_file != NULL)
		environment_set(env, "RL_VERDICT_FILE", verdict_file);
	if (findings_file != NULL)
		environment_set(env, "RL_FINDINGS_FILE", findings_file);
	free(path);
	free(dir);
}

static void add_file(struct launch *launch, const char *name, char *data, size_t size)
{
	launch->files[launch->nfiles++] = (struct launch_file){ .name = name, .data = data, .size = size, .mode = 0600 };
}

static struct launch *make_launch(const struct compose_work *w, const struct agent_plan *agent, char **env, char **argv, char *prompt, size_t size)
{
	struct launch *launch = xcalloc(1, sizeof(*launch));

	launch->id = w->attempt.id;
	launch->envp = env;
	launch->job = (struct job){
		.argv = argv,
		.cwd = xstrdup(w->run.workdir),
		.input = agent->prompt == PROMPT_STDIN ? xstrdup(RECORD_PROMPT) : NULL,
		.uuid = xstrdup(w->attempt.uuid),
		.wall_ms = w->attempt.role == ROLE_REVIEW ? w->plan->review_timeout_ms : w->plan->timeout_ms,
		.idle_ms = w->plan->idle_timeout_ms,
		.grace_ms = w->plan->grace_ms,
		.output_bytes = w->plan->output_bytes,
		.durable = true,
	};
	add_file(launch, RECORD_PROMPT, prompt, size);
	if (w->attempt.role == ROLE_REVIEW)
		add_file(launch, RECORD_VERDICT, xstrdup(""), 0);
	if (w->attempt.role == ROLE_FIX && w->findings != NULL)
		add_file(launch, RECORD_FINDINGS, xstrdup(w->findings), strlen(w->findings));
	return launch;
}

void compose_run(struct compose_work *w)
{
	const struct agent_plan *agent = &w->plan->agents[w->attempt.role];
	char *dir = work_attempt_dir(w->work.state_dir, w->attempt.id);
	char *prompt_file = xasprintf("%s/" RECORD_PROMPT, dir), *prompt = NULL, **env = NULL, **argv;
	char *verdict_file = w->attempt.role == ROLE_REVIEW ? xasprintf("%s/" RECORD_VERDICT, dir) : NULL;
	char *findings_file = w->attempt.role == ROLE_FIX ? xasprintf("%s/" RECORD_FINDINGS, dir) : NULL;
	struct sources s = { 0 };
	size_t size = 0;

	if (read_sources(w, &s, &w->error) == -1)
		goto out;
	prompt = make_prompt(w, &s, verdict_file, &size);
	if (agent->prompt == PROMPT_ARG && size > AGENT_ARG_MAX) {
		w->error = xasprintf("the prompt has %zu bytes, but agent '%s' takes it as an argument, which is limited to %d; "
		    "set prompt = \"stdin\" or \"file\" for this agent", size, agent->name, AGENT_ARG_MAX);
		goto out;
	}
	env = environment_load(w->work.state_dir, w->run.environment, agent, &w->error);
	if (env == NULL)
		goto out;
	set_variables(w, agent, &s, verdict_file, findings_file, &env);
	argv = agent_argv(agent, prompt, prompt_file, w->attempt.session);
	w->launch = make_launch(w, agent, env, argv, prompt, size);
	prompt = NULL;
	env = NULL;
out:
	free(prompt);
	strings_free(env);
	free(findings_file);
	free(verdict_file);
	free(prompt_file);
	free(dir);
	sources_release(&s);
}
