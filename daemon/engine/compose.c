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
	char *template, *task, *answer, *guidelines, *conventions;
	size_t template_size, task_size, answer_size, guidelines_size, conventions_size;
	struct buf diff, follow_up, stories;
	bool diff_dropped;
	struct prompt_review *history;
};

/* Where the attempt works, and the files it is given. Paths, NULL: none. */
struct places {
	char *dir;		/* its attempt directory */
	char *run_dir;
	char *cwd;
	char *prompt_file, *verdict_file, *findings_file;
	char *review_file;	/* carrier file */
	char *scratch;		/* of a reviewer that may write nowhere else */
};

static void sources_release(struct sources *s)
{
	free(s->template);
	free(s->task);
	free(s->answer);
	free(s->guidelines);
	free(s->conventions);
	buf_release(&s->diff);
	buf_release(&s->follow_up);
	buf_release(&s->stories);
	free(s->history);
}

static bool is_review(const struct compose_work *w)
{
	return w->attempt.role == ROLE_REVIEW;
}

static void places_init(struct places *p, const struct compose_work *w)
{
	const char *state_dir = w->work.state_dir;
	enum carrier carrier = w->plan->profile->carrier;

	p->dir = work_attempt_dir(state_dir, w->attempt.id);
	p->run_dir = work_run_dir(state_dir, w->run.id);
	p->cwd = is_review(w) ? work_review_dir(state_dir, &w->run, w->plan, w->slot.slot) : xstrdup(w->run.workdir);
	p->prompt_file = xasprintf("%s/" RECORD_PROMPT, p->dir);
	if (w->attempt.role == ROLE_FIX)
		p->findings_file = xasprintf("%s/" RECORD_FINDINGS, p->dir);
	if (!is_review(w))
		return;
	p->review_file = work_review_file(state_dir, &w->run, w->plan, w->slot.slot);
	if (carrier == CARRIER_COMMENTS)
		p->verdict_file = xstrdup(p->review_file);
	else if (carrier == CARRIER_VERDICT || carrier == CARRIER_DECISION)
		p->verdict_file = xasprintf("%s/" RECORD_VERDICT, p->dir);
	if (w->plan->read_only)
		p->scratch = xasprintf("%s/tmp-%lld", p->run_dir, (long long)w->attempt.id);
}

static void places_release(struct places *p)
{
	free(p->dir);
	free(p->run_dir);
	free(p->cwd);
	free(p->prompt_file);
	free(p->verdict_file);
	free(p->findings_file);
	free(p->review_file);
	free(p->scratch);
}

/* One stream of an attempt or step. Only as much of each end is read as a prompt can show. */
static bool read_output(struct buf *out, const char *state_dir, int64_t id, const char *stream)
{
	static const size_t keep = 4 * PROMPT_CAP;	/* a code point has at most four bytes */
	char *dir = work_attempt_dir(state_dir, id), *buffer = xcalloc(keep, 1);
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t start = out->size;
	struct output_chunk chunk = { 0 };
	bool dropped = false;
	uint64_t offset = 0;

	while (dirfd != -1 && output_read(dirfd, stream, offset, buffer, keep, &chunk) == 0 && chunk.size > 0) {
		dropped |= chunk.dropped > 0;
		buf_add(out, buffer, chunk.size);
		offset = chunk.offset + chunk.size;
		if (out->size - start >= keep && chunk.end > offset + keep) {
			dropped = true;
			offset = chunk.end - keep;
		}
	}
	if (dirfd != -1)
		close(dirfd);
	free(buffer);
	free(dir);
	return dropped;
}

/* 0 or -1 with error; a file that is not there is an error only when it must be. */
static int read_source(const char *dir, const char *name, size_t max, bool must, char **text, size_t *size, char **error)
{
	char *path = xasprintf("%s/%s", dir, name);
	int rv = file_read(AT_FDCWD, path, max, text, size);

	if (rv != 0 && (must || rv != -ENOENT)) {
		free(*error);
		*error = xasprintf("%s cannot be read: %s", path, strerror(-rv));
	}
	free(path);
	return *error == NULL ? 0 : -1;
}

static int read_template(const struct compose_work *w, const struct places *p, struct sources *s, char **error)
{
	bool developer = w->attempt.role == ROLE_IMPLEMENT || w->plan->fixer == FIXER_IMPLEMENTER;

	if (is_review(w))
		return read_source(p->run_dir, "reviewer.md", TASK_FILE_MAX, false, &s->template, &s->template_size, error);
	s->template = template_find(developer ? ROLE_IMPLEMENT : ROLE_FIX, developer ? w->plan->developer_prompt : NULL, w->run.workspace,
	    w->work.config_dir, &s->template_size, error);
	return *error == NULL ? 0 : -1;
}

/* Feedback, and the output it speaks of. */
static void gather_follow_up(const struct compose_work *w, struct sources *s)
{
	if (w->follow_up == NULL)
		return;
	buf_adds(&s->follow_up, w->follow_up);
	if (w->follow_up_output == ROW_NONE)
		return;
	buf_adds(&s->follow_up, "\n\nIts output:\n\n");
	read_output(&s->follow_up, w->work.state_dir, w->follow_up_output, RECORD_STDOUT);
	read_output(&s->follow_up, w->work.state_dir, w->follow_up_output, RECORD_STDERR);
}

static void gather_history(const struct compose_work *w, struct sources *s)
{
	s->history = xcalloc(w->nhistory, sizeof(*s->history));
	for (size_t i = 0; i < w->nhistory; i++)
		s->history[i] = (struct prompt_review){
			.round = w->history[i].iteration,
			.decision = w->history[i].decision,
			.feedback = w->history[i].feedback,
			.by = w->history[i].reviewer_agent,
		};
}

static int read_sources(const struct compose_work *w, const struct places *p, struct sources *s, char **error)
{
	const char *state_dir = w->work.state_dir;
	char *dir;
	int rv;

	if (read_source(p->run_dir, "task", TASK_FILE_MAX, true, &s->task, &s->task_size, error) == -1 ||
	    read_source(p->run_dir, "guidelines.md", TASK_FILE_MAX, false, &s->guidelines, &s->guidelines_size, error) == -1 ||
	    read_source(p->run_dir, "conventions.md", TASK_FILE_MAX, false, &s->conventions, &s->conventions_size, error) == -1)
		return -1;
	buf_addf(&s->stories, "- %s: %s\n\n", w->task.id, w->task.title != NULL ? w->task.title : "");
	buf_add(&s->stories, s->task, s->task_size);
	gather_follow_up(w, s);
	gather_history(w, s);
	if (w->attempt.role != ROLE_CHECK && read_template(w, p, s, error) == -1)
		return -1;
	if (w->slot.answer != ROW_NONE) {
		dir = work_attempt_dir(state_dir, w->slot.answer);
		rv = read_source(dir, RECORD_ANSWER, AGENT_TEXT_MAX + 1, false, &s->answer, &s->answer_size, error);
		free(dir);
		if (rv == -1)
			return -1;
	}
	if (is_review(w) && w->slot.diff != ROW_NONE)
		s->diff_dropped = read_output(&s->diff, state_dir, w->slot.diff, RECORD_STDOUT);
	return 0;
}

static const char *project_name(const char *workdir)
{
	const char *slash = strrchr(workdir, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : workdir;
}

static char *make_prompt(const struct compose_work *w, const struct sources *s, const struct places *p, size_t *size)
{
	char priority[16];
	/* a reviewer is told that there is no answer or no change; the others get neither part */
	const char *nothing = is_review(w) ? "" : NULL;
	bool answer = is_review(w) || w->attempt.role == ROLE_FIX;
	struct prompt_parts parts = {
		.template = { s->template, s->template_size },
		.project = project_name(w->run.workdir),
		.feature = w->task.title,
		.stories = { s->stories.data, s->stories.size },
		.task_id = w->task.id,
		.task_title = w->task.title,
		.task_status = state_name(&task_state_names, w->task.state),
		.task_priority = priority,
		.task = { s->task, s->task_size },
		.round = w->attempt.round,
		.max_reviews = w->slot.fixes + 1,
		.strictness = w->plan->strictness,
		.follow_up = { s->follow_up.data, s->follow_up.size },
		.follow_up_from = w->follow_up_from,
		.guidelines = { s->guidelines, s->guidelines_size },
		.conventions = { s->conventions, s->conventions_size },
		.history = s->history,
		.nhistory = w->nhistory,
		.answer = { answer && s->answer != NULL ? s->answer : nothing, answer ? s->answer_size : 0 },
		.diff = { s->diff.data != NULL ? s->diff.data : nothing, s->diff.size },
		.diff_dropped = s->diff_dropped,
		.interrupted = w->slot.interrupted > 0,
		.verdict_file = p->verdict_file,
		.review_file = w->plan->review_file,
		.read_only = w->plan->read_only,
		.resumed = w->session != NULL,
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

/* A text as a variable, cut where the kernel would refuse it. */
static void set_long(char ***env, const char *name, const char *text, size_t size)
{
	size_t cut = TASK_VARIABLE_MAX;
	char *head;

	if (size <= TASK_VARIABLE_MAX) {
		environment_set(env, name, text);
		return;
	}
	while (cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80)
		cut--;
	head = xmemdup0(text, cut);
	environment_set(env, name, head);
	free(head);
}

static void set_task(const struct compose_work *w, const struct places *p, const struct sources *s, char ***env)
{
	char *path;

	if (w->plan->profile->no_task && w->plan->review && (is_review(w) || w->attempt.role == ROLE_FIX))
		return;
	path = xasprintf("%s/task", p->run_dir);
	environment_set(env, "RL_TASK_ID", w->task.id);
	set_long(env, "RL_TASK", s->task, s->task_size);
	environment_set(env, "RL_TASK_FILE", path);
	free(path);
}

/* What scripts written for requirement 003 look at. */
static void set_swival(const struct compose_work *w, const struct sources *s, char ***env)
{
	const char *model = w->plan->agents[ROLE_IMPLEMENT].model;

	if (!is_review(w) || w->plan->profile->carrier != CARRIER_EXIT)
		return;
	set_long(env, "SWIVAL_TASK", s->task, s->task_size);
	set_number(env, "SWIVAL_REVIEW_ROUND", w->attempt.round);
	if (model != NULL)
		environment_set(env, "SWIVAL_MODEL", model);
}

/* Agent's set, then --env, then ours, which win. */
static void set_variables(const struct compose_work *w, const struct agent_plan *agent, const struct sources *s, const struct places *p, char ***env)
{
	environment_set_all(env, (const char *const *)agent->set);
	environment_set_all(env, (const char *const *)w->plan->env);
	set_number(env, "RL_RUN", w->run.id);
	set_number(env, "RL_ATTEMPT", w->attempt.id);
	environment_set(env, "RL_ATTEMPT_UUID", w->attempt.uuid);
	environment_set(env, "RL_ROLE", state_name(&role_names, w->attempt.role));
	set_number(env, "RL_SLOT", w->attempt.slot);
	set_task(w, p, s, env);
	set_swival(w, s, env);
	set_number(env, "RL_ITERATION", w->attempt.iteration);
	set_number(env, "RL_REVIEW_ROUND", w->attempt.round);
	set_number(env, "RL_MAX_REVIEWS", w->slot.fixes + 1);
	environment_set(env, "RL_MODEL", agent->model != NULL ? agent->model : "");
	environment_set(env, "RL_WORKDIR", p->cwd);
	environment_set(env, "RL_BASE_REF", w->run.base_tree != NULL ? w->run.base_tree : "");
	if (p->verdict_file != NULL)
		environment_set(env, "RL_VERDICT_FILE", p->verdict_file);
	if (p->findings_file != NULL)
		environment_set(env, "RL_FINDINGS_FILE", p->findings_file);
	if (p->scratch != NULL)
		environment_set(env, "TMPDIR", p->scratch);
}

/* argv of a check, of a reviewer that is a program, of an agent. */
static char **make_argv(const struct compose_work *w, const struct agent_plan *agent, const char *prompt, const struct places *p)
{
	char **argv = NULL;

	if (w->attempt.role == ROLE_CHECK) {
		strings_append(&argv, "sh");
		strings_append(&argv, "-c");
		strings_append(&argv, w->attempt.agent);
		return argv;
	}
	argv = agent_argv(agent, prompt, p->prompt_file, w->session);
	if (is_review(w) && w->plan->profile->carrier == CARRIER_EXIT)
		strings_append(&argv, p->cwd);
	return argv;
}

/* Its own files, and what its agent keeps for itself. */
static char **make_writable(const struct agent_plan *agent, const struct places *p, char *const *env)
{
	const char *const own[] = { p->scratch, p->verdict_file, p->review_file };
	const char *home = NULL;
	char **list = NULL;

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (own[i] != NULL)
			strings_append(&list, own[i]);
	for (size_t i = 0; env[i] != NULL; i++)
		if (strncmp(env[i], "HOME=/", 6) == 0)
			home = env[i] + 5;
	for (char *const *path = agent->writable; path != NULL && *path != NULL; path++) {
		bool in_home = strncmp(*path, "~/", 2) == 0;
		char *full = in_home ? xasprintf("%s/%s", home != NULL ? home : "", *path + 2) : xstrdup(*path);

		if (!in_home || home != NULL)
			strings_append(&list, full);
		free(full);
	}
	return list;
}

static void add_file(struct launch *launch, const char *name, char *data, size_t size)
{
	launch->files[launch->nfiles++] = (struct launch_file){ .name = name, .data = data, .size = size, .mode = 0600 };
}

/* Takes env and prompt; prompt NULL: nothing on stdin. */
static struct launch *make_launch(const struct compose_work *w, const struct agent_plan *agent, const struct places *p, char **env, char *prompt, size_t size)
{
	static const enum job_sandbox levels[SANDBOXES] = {
		[SANDBOX_OFF] = JOB_OPEN,
		[SANDBOX_TRY] = JOB_TRY,
		[SANDBOX_REQUIRE] = JOB_REQUIRE,
	};
	struct launch *launch = xcalloc(1, sizeof(*launch));

	launch->id = w->attempt.id;
	launch->envp = env;
	launch->job = (struct job){
		.argv = make_argv(w, agent, prompt, p),
		.cwd = xstrdup(p->cwd),
		.input = prompt != NULL && agent->prompt == PROMPT_STDIN ? xstrdup(RECORD_PROMPT) : NULL,
		.uuid = xstrdup(w->attempt.uuid),
		.wall_ms = is_review(w) ? w->plan->review_timeout_ms : w->plan->timeout_ms,
		.idle_ms = w->plan->idle_timeout_ms,
		.grace_ms = w->plan->grace_ms,
		.output_bytes = w->plan->output_bytes,
		.durable = true,
	};
	if (is_review(w) && w->plan->read_only && w->plan->sandbox != SANDBOX_OFF) {
		launch->job.sandbox = (int)levels[w->plan->sandbox];
		launch->job.writable = make_writable(agent, p, env);
	}
	if (prompt != NULL)
		add_file(launch, RECORD_PROMPT, prompt, size);
	if (p->verdict_file != NULL && w->plan->profile->carrier != CARRIER_COMMENTS)
		add_file(launch, RECORD_VERDICT, xstrdup(""), 0);
	if (p->findings_file != NULL && w->findings != NULL)
		add_file(launch, RECORD_FINDINGS, xstrdup(w->findings), strlen(w->findings));
	return launch;
}

/* Its scratch, and where it works in a checkout: git lays out no directory that has nothing in it. */
static int make_directories(const struct compose_work *w, const struct places *p, char **error)
{
	const char *const dirs[] = { strcmp(p->cwd, w->run.workdir) != 0 ? p->cwd : NULL, p->scratch };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		int rv = dirs[i] != NULL ? file_mkdirs(dirs[i], 0700) : 0;

		if (rv != 0) {
			*error = xasprintf("%s: %s", dirs[i], strerror(-rv));
			return -1;
		}
	}
	return 0;
}

/* A file of an earlier review must not be taken for this one's. One that may write nothing else finds it there, empty. */
static int clear_review_file(const struct compose_work *w, const struct places *p, char **error)
{
	int fd;

	if (make_directories(w, p, error) == -1)
		return -1;
	if (p->review_file == NULL)
		return 0;
	if (unlink(p->review_file) == -1 && errno != ENOENT) {
		*error = xasprintf("%s of an earlier review cannot be removed: %s", p->review_file, strerror(errno));
		return -1;
	}
	if (!w->plan->read_only)
		return 0;
	fd = open(p->review_file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1) {
		*error = xasprintf("%s cannot be made: %s", p->review_file, strerror(errno));
		return -1;
	}
	close(fd);
	return 0;
}

/* The answer as it is for a program that judges it, a prompt for an agent, nothing for a check. */
static char *make_input(const struct compose_work *w, const struct sources *s, const struct places *p, size_t *size)
{
	if (w->attempt.role == ROLE_CHECK)
		return NULL;
	if (is_review(w) && w->plan->profile->carrier == CARRIER_EXIT) {
		*size = s->answer_size;
		return xmemdup0(s->answer != NULL ? s->answer : "", s->answer_size);
	}
	return make_prompt(w, s, p, size);
}

void compose_run(struct compose_work *w)
{
	const struct agent_plan *agent = &w->plan->agents[w->attempt.role];
	struct places p = { 0 };
	struct sources s = { 0 };
	char *prompt = NULL, **env;
	size_t size = 0;

	places_init(&p, w);
	if (read_sources(w, &p, &s, &w->error) == -1 || (is_review(w) && clear_review_file(w, &p, &w->error) == -1))
		goto out;
	prompt = make_input(w, &s, &p, &size);
	if (prompt != NULL && agent->prompt == PROMPT_ARG && size > AGENT_ARG_MAX) {
		w->error = xasprintf("the prompt has %zu bytes, but agent '%s' takes it as an argument, which is limited to %d; "
		    "set prompt = \"stdin\" or \"file\" for this agent", size, agent->name, AGENT_ARG_MAX);
		goto out;
	}
	env = environment_load(w->work.state_dir, w->run.environment, w->attempt.role == ROLE_CHECK ? NULL : agent, &w->error);
	if (env == NULL)
		goto out;
	set_variables(w, agent, &s, &p, &env);
	w->launch = make_launch(w, agent, &p, env, prompt, size);
	prompt = NULL;
out:
	free(prompt);
	places_release(&p);
	sources_release(&s);
}
