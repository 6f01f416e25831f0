/* SPDX-License-Identifier: MIT */
/* Builds an attempt: argv, environment, files, prompt, and the places it may write to. */
#include "job/build.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/agent_user.h"
#include "base/digest.h"
#include "base/file.h"
#include "core/clocks.h"
#include "core/nonce.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "job/build_int.h"
#include "job/carrier_copy.h"
#include "job/disk_floor.h"
#include "job/filler.h"
#include "job/kept_environment.h"
#include "job/misnamed.h"
#include "job/package_version.h"
#include "job/placed.h"
#include "job/remove_theirs.h"
#include "job/review_program.h"
#include "job/secrets.h"
#include "model/briefing.h"
#include "model/dirs.h"
#include "model/job.h"
#include "proc/launch.h"
#include "prompt/shown.h"
#include "proto/escape.h"
#include "proto/units.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "task/task_op.h"

static void add_text(struct buf *out, const char *text, size_t size)
{
	if (text != NULL && size > 0)
		buf_add(out, text, size);
	buf_adds(out, "\n");
}

/* What a resumed conversation was given before, with this attempt's nonce: its prompt is only the
 * question. */
static void add_whole_prompt(struct buf *out, const struct build_job *w, const struct prompt_parts *parts)
{
	struct prompt_parts whole = *parts;
	size_t size;
	char *prompt;

	if (w->session == NULL && w->asked == NULL)
		return;
	whole.asked = NULL;
	whole.resumed = false;
	prompt = prompt_build(w->plan->profile, ROLE_REVIEW, &whole, &size);
	add_text(out, prompt, size);
	free(prompt);
}

/* What a reviewer is given: as the prompt has it, and without its limits. The diff is in its own
 * file. */
static void keep_given(struct build_job *w, const struct sources *s, const struct prompt_parts *parts)
{
	struct buf out = { 0 };
	size_t size;
	char *shown = prompt_given(w->plan->profile, parts, &size);

	add_text(&out, shown, size);
	free(shown);
	add_text(&out, s->answer, s->answer_size);
	add_text(&out, s->follow_up.data, s->follow_up.size);
	add_text(&out, s->dismissed, s->dismissed != NULL ? strlen(s->dismissed) : 0);
	add_text(&out, s->disputed, s->disputed != NULL ? strlen(s->disputed) : 0);
	for (size_t i = 0; i < w->nhistory; i++) {
		const char *feedback = s->history[i].feedback;

		add_text(&out, feedback, feedback != NULL ? strlen(feedback) : 0);
		add_text(&out, s->history[i].answer.data, s->history[i].answer.size);
	}
	add_text(&out, s->guidelines, s->guidelines_size);
	add_text(&out, s->conventions, s->conventions_size);
	add_text(&out, s->stories.data, s->stories.size);
	add_text(&out, w->run.feature, w->run.feature != NULL ? strlen(w->run.feature) : 0);
	add_whole_prompt(&out, w, parts);
	w->given = buf_take(&out, &w->given_size);
}

static char *make_prompt(struct build_job *w, const struct sources *s, const struct places *p, size_t *size)
{
	char nonce[NONCE_SIZE];
	struct prompt_parts parts = {
		.template = { s->template, s->template_size },
		.round = w->attempt.round,
		.max_reviews = w->slot.fixes + 1,
		.interrupted = w->interrupted,
		.interruption = w->interruption,
		.shared_tree = w->shared_tree,
		.verdict_file = p->verdict_file,
		.diff_file = p->diff_file,
		.review_file = w->plan->review_file,
		.read_only = w->plan->read_only,
		.resumed = w->session != NULL,
		.asked = w->asked,
		.dismissed = { s->dismissed, s->dismissed != NULL ? strlen(s->dismissed) : 0 },
		.question = w->slot.question,
		.reply = s->reply,
		.goes_on = w->goes_on,
		.may_ask = w->plan->on_question == ON_QUESTION_HOLD,
		.disputed = { s->disputed, s->disputed != NULL ? strlen(s->disputed) : 0 },
		/* without git the claim cannot be checked */
		.no_change_marker = w->run.has_git == 1 ? w->plan->no_change_markers[0] : NULL,
	};

	if (build_is_review(w) && w->plan->nonce) {
		nonce_of(w->attempt.uuid, nonce);
		parts.nonce = nonce;
	}
	filler_fill(&parts, w, s);
	if (parts.nonce != NULL && p->review_file == NULL)
		keep_given(w, s, &parts);
	return prompt_build(w->plan->profile, (enum role)w->attempt.role, &parts, size);
}

/* Record what the prompt leaves out of the diff. */
static void note_left_out(struct build_job *w, const struct sources *s)
{
	struct shown shown;
	json_t *list = json_array();

	shown_find((struct span){ s->diff.data, s->diff.size }, PROMPT_CAP, &shown);
	for (size_t i = 0; i < shown.count; i++) {
		char *name = text_escape(shown.list[i].file, strlen(shown.list[i].file), false);

		json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "file", name, "why",
		    shown.list[i].why, "bytes", (json_int_t)shown.list[i].bytes));
		free(name);
	}
	if (shown.files > 0) {
		w->left_out = json_dumps(list, JSON_COMPACT);
		w->left_out_files = (int64_t)shown.files;
		w->diff_bytes = (int64_t)shown.total;
		w->diff_shown = (int64_t)(shown.head + (shown.total - shown.tail));
	}
	json_decref(list);
	shown_release(&shown);
}

/* argv of a check, of a reviewing program, or of an agent. */
static char **make_argv(const struct build_job *w, const struct agent_plan *agent,
    const char *prompt, const struct places *p)
{
	char **argv = NULL;

	if (role_is_command((enum role)w->attempt.role)) {
		strings_append(&argv, "sh");
		strings_append(&argv, "-c");
		strings_append(&argv, w->attempt.agent);
		return argv;
	}
	argv = agent_argv(agent, prompt, p->prompt_file, w->session);
	if (build_is_review(w) && w->plan->profile->carrier == CARRIER_EXIT)
		strings_append(&argv, p->cwd);
	return argv;
}

/* What a confined attempt may write: its files, and the state of its agent program. */
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

/* shared: see launch.h. */
static void add_file(struct launch *launch, const char *name, char *data, size_t size, int shared)
{
	launch->files[launch->nfiles++] = (struct launch_file){ .name = name, .data = data, .size = size,
	    .shared = shared };
}

/* Its hash stays: after a power cut, a missing file would be taken for a changed one. */
static void add_recorded(struct launch *launch, const char *name, char *data, size_t size)
{
	add_file(launch, name, data, size, 0640);
	launch->files[launch->nfiles - 1].durable = true;
}

/* Takes ownership of env, prompt, w->given and the diff in s; prompt NULL: nothing on stdin. */
static struct launch *make_launch(struct build_job *w, const struct agent_plan *agent,
    const struct places *p, struct sources *s, char **env, char *prompt, size_t size)
{
	static const enum shim_job_sandbox levels[SANDBOXES] = {
		[SANDBOX_OFF] = JOB_OPEN,
		[SANDBOX_TRY] = JOB_TRY,
		[SANDBOX_REQUIRE] = JOB_REQUIRE,
	};
	struct launch *launch = xcalloc(1, sizeof(*launch));

	launch->id = w->attempt.id;
	launch->envp = env;
	launch->job = (struct shim_job){
		.argv = make_argv(w, agent, prompt, p),
		.cwd = xstrdup(p->cwd),
		.input = prompt != NULL && agent->prompt == PROMPT_STDIN ? xstrdup(RECORD_PROMPT) : NULL,
		.uuid = xstrdup(w->attempt.uuid),
		.wall_ms = w->limits.ms[CLOCK_WALL],
		.idle_ms = w->limits.ms[CLOCK_IDLE],
		.idle_stdout = !role_is_command((enum role)w->attempt.role) && reader_can_tell(agent->reader),
		.post_result_ms = (int)w->limits.ms[CLOCK_POST_RESULT],
		.marks_signal = 1,
		.names_step = 1,
		.tells_limits = 1,
		.syncs_work = w->attempt.role == ROLE_IMPLEMENT || w->attempt.role == ROLE_FIX,
		.grace_ms = w->plan->grace_ms,
		.output_bytes = w->plan->output_bytes,
		.durable = true,
	};
	if (build_is_review(w) && w->plan->read_only && w->plan->sandbox != SANDBOX_OFF) {
		launch->job.sandbox = (int)levels[w->plan->sandbox];
		launch->job.writable = make_writable(agent, p, env);
	}
	if (prompt != NULL)
		add_recorded(launch, RECORD_PROMPT, prompt, size);
	if (p->verdict_file != NULL && w->plan->profile->carrier != CARRIER_COMMENTS)
		add_file(launch, RECORD_VERDICT, xstrdup(""), 0, 0660);
	if (p->diff_file != NULL) {
		add_recorded(launch, RECORD_DIFF, s->diff.data != NULL ? s->diff.data : xstrdup(""), s->diff.size);
		s->diff = (struct buf){ 0 };
	}
	if (w->given != NULL) {
		add_recorded(launch, RECORD_GIVEN, w->given, w->given_size);
		launch->files[launch->nfiles - 1].shared = 0;
		w->given = NULL;
	}
	if (p->findings_file != NULL && w->findings != NULL)
		add_file(launch, RECORD_FINDINGS, xstrdup(w->findings), strlen(w->findings), 0640);
	placed_wrap(launch, agent, w, p, s);
	return launch;
}

/* Create the attempt's scratch directory, and its directory in a room: git creates no empty
 * directories. */
static int make_directories(const struct build_job *w, const struct places *p, char **error)
{
	const char *const dirs[] = { strcmp(p->cwd, w->run.workdir) != 0 ? p->cwd : NULL, p->scratch };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		int rv = dirs[i] == NULL ? 0 : dirs[i] == p->scratch ? remove_theirs(dirs[i]) : 0;

		if (rv == 0 && dirs[i] != NULL)
			rv = file_mkdirs(dirs[i], 0700);
		if (rv == 0 && dirs[i] != NULL)
			rv = dirs[i] == p->scratch ? agent_user_give(AT_FDCWD, dirs[i], 0770) :
			    agent_user_give_dirs(p->run_dir, dirs[i]);
		if (rv != 0) {
			*error = xasprintf("%s: %s", dirs[i], host_words(-rv));
			return -1;
		}
	}
	return 0;
}

/* Remember files with nearly the review file's name that exist already: they are not from this
 * review. */
static int note_misnamed(const struct build_job *w, const struct places *p, char **error)
{
	const char *state_dir = w->job.state_dir;
	char *top = dirs_review_top(state_dir, &w->run, w->plan, &w->slot),
	    *note = dirs_misnamed_file(state_dir, &w->run, &w->slot);
	int rv = misnamed_note(top, state_dir, p->review_file, note);

	if (rv == -EFBIG)
		*error = xasprintf("too many files in %s have names similar to the review file %s; "
		    "remove them, then retry the run", top, strrchr(p->review_file, '/') + 1);
	else if (rv != 0)
		*error = xasprintf("%s: %s", note, host_words(-rv));
	free(note);
	free(top);
	return rv == 0 ? 0 : -1;
}

/* Remove the file of an earlier review. A confined reviewer gets an empty one instead. */
static int clear_review_file(const struct build_job *w, const struct places *p, char **error)
{
	const char *name;
	int at, fd = -1, rv = 0;

	if (p->review_file == NULL)
		return 0;
	at = carrier_dir(w->job.state_dir, w->run.workspace, p->review_file, &name);
	if (at < 0 || (unlinkat(at, name, 0) == -1 && errno != ENOENT)) {
		*error = xasprintf("%s of an earlier review cannot be removed: %s", p->review_file,
		    host_words(at < 0 ? -at : errno));
		rv = -1;
	}
	if (rv == 0 && w->plan->profile->carrier == CARRIER_FILE)
		rv = note_misnamed(w, p, error);
	if (rv == 0 && w->plan->read_only) {
		fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		rv = fd == -1 ? -errno : agent_user_give(at, name, 0660);
		if (rv != 0)
			*error = xasprintf("cannot create %s: %s", p->review_file, host_words(-rv));
	}
	if (fd != -1)
		close(fd);
	if (at >= 0)
		close(at);
	return rv;
}

/* Input: the answer for a program that judges it, a prompt for an agent, nothing for a check. */
static char *make_input(struct build_job *w, const struct sources *s, const struct places *p, size_t *size)
{
	if (role_is_command((enum role)w->attempt.role))
		return NULL;
	if (build_is_review(w) && w->plan->profile->carrier == CARRIER_EXIT) {
		*size = s->answer_size;
		return xmemdup0(s->answer != NULL ? s->answer : "", s->answer_size);
	}
	if (build_is_review(w) && (prompt_sees(w->plan->profile, ROLE_REVIEW) & PART_DIFF) != 0)
		note_left_out(w, s);
	return make_prompt(w, s, p, size);
}

/* A copy without secrets; NULL stays NULL. */
static char *masked(const struct redactor *redactor, const char *text)
{
	char *copy = xstrdup(text);

	redact_string(redactor, &copy);
	return copy;
}

/* Redact what others wrote before it goes into a prompt; a reviewing program gets the answer
 * unchanged. */
static void mask_sources(const struct build_job *w, struct sources *s)
{
	struct secrets secrets = secrets_new(w->run.environment, w->plan);
	struct redactor *redactor = secrets_redactor(w->job.state_dir, &secrets);
	char *follow_up = redact_text(redactor, s->follow_up.data, s->follow_up.size, NULL), *answer = NULL;
	size_t size = 0;

	s->dismissed = masked(redactor, w->dismissed);
	s->disputed = masked(redactor, w->disputed);
	s->reply = masked(redactor, w->slot.reply);
	if (follow_up != NULL) {
		buf_release(&s->follow_up);
		buf_adds(&s->follow_up, follow_up);
	}
	if (s->answer != NULL && !(build_is_review(w) && w->plan->profile->carrier == CARRIER_EXIT))
		answer = redact_text(redactor, s->answer, s->answer_size, &size);
	if (answer != NULL) {
		free(s->answer);
		s->answer = answer;
		s->answer_size = size;
	}
	for (size_t i = 0; i < s->nanswers; i++) {
		char *masked = s->answers[i] != NULL ?
		    redact_text(redactor, s->answers[i], strlen(s->answers[i]), NULL) : NULL;

		if (masked != NULL) {
			free(s->answers[i]);
			s->answers[i] = masked;
		}
		s->history[i].answer = (struct span){ s->answers[i],
		    s->answers[i] != NULL ? strlen(s->answers[i]) : 0 };
	}
	free(follow_up);
	redact_free(redactor);
	secrets_release(&secrets);
}

/* Profile "exit": compare the reviewing program with that of the submit. One that is gone, or that
 * cannot be executed any more, is a failed start. 0, or -1 with w->reviewer_changed or w->error. */
static int check_reviewer(struct build_job *w)
{
	const struct plan *plan = w->plan;
	char hex[DIGEST_HEX], **env;
	int error;

	if (!build_is_review(w) || plan->reviewer_sha256 == NULL)
		return 0;
	env = environment_load(w->job.state_dir, w->run.environment, NULL, &w->error);
	if (env == NULL)
		return -1;
	error = review_program_digest(plan->reviewer, env, hex);
	strings_free(env);
	if (host_fault(error))
		w->error = xasprintf("%s: %s", plan->reviewer, host_words(error));
	else if (error == 0 && strcmp(hex, plan->reviewer_sha256) != 0)
		w->reviewer_changed = xasprintf("reviewer program changed since submit: %s", plan->reviewer);
	return w->error != NULL || w->reviewer_changed != NULL ? -1 : 0;
}

static char *hash_of(const char *data, size_t size)
{
	char hex[DIGEST_HEX];

	digest_hex(data != NULL ? data : "", size, hex);
	return xstrdup(hex);
}

/* The text of its task, or in slot 0 of all tasks; not one that it is to pick. */
static bool gives_task(const struct build_job *w)
{
	enum role role = (enum role)w->attempt.role;
	bool hidden = w->plan->profile->no_task && role != ROLE_IMPLEMENT;

	return !role_is_command(role) && !hidden && (w->briefing.text != NULL || slot_row_work(&w->slot) == 0);
}

/* What the attempt is given, and what runs. A program that cannot be found fails to start. */
static void note_given(struct build_job *w)
{
	const struct launch *launch = w->launch;
	char hex[DIGEST_HEX];

	for (size_t i = 0; i < launch->nfiles; i++) {
		const struct launch_file *file = &launch->files[i];

		if (strcmp(file->name, RECORD_PROMPT) == 0)
			w->prompt_hash = hash_of(file->data, file->size);
		else if (strcmp(file->name, RECORD_DIFF) == 0)
			w->diff_hash = hash_of(file->data, file->size);
		else if (strcmp(file->name, RECORD_GIVEN) == 0)
			w->given_hash = hash_of(file->data, file->size);
	}
	if (launch->job.far == NULL && review_program_find(launch->job.argv[0], launch->envp, &w->program) == 0 &&
	    program_digest(w->program, hex) == 0)
		w->program_hash = xstrdup(hex);
	if (w->program != NULL && !role_is_command((enum role)w->attempt.role))
		w->version = package_version(w->program);
}

static void build_run(struct job *base)
{
	struct build_job *w = (struct build_job *)base;
	struct agent_plan chosen = *plan_agent(w->plan, (enum role)w->attempt.role, w->attempt.agent),
	    *agent = &chosen;
	struct places p = { 0 };
	struct sources s = { 0 };
	char *prompt = NULL, **env;
	size_t size = 0;

	/* the attempt may have another one than the plan's, see plan_model() */
	chosen.model = w->attempt.model;
	build_places(&p, w, agent);
	w->floor = disk_shortage(w->job.state_dir, p.cwd, w->disk_floor);
	if (w->floor != NULL || check_reviewer(w) == -1)
		goto out;
	if (sources_read(w, &p, &s, &w->error) == -1 ||
	    (build_judges(w) && make_directories(w, &p, &w->error) == -1) ||
	    (build_is_review(w) && clear_review_file(w, &p, &w->error) == -1))
		goto out;
	mask_sources(w, &s);
	prompt = make_input(w, &s, &p, &size);
	if (prompt != NULL && agent->prompt == PROMPT_ARG && size > AGENT_ARG_MAX) {
		w->error = xasprintf("the prompt has %zu bytes, "
		    "but agent '%s' takes it as an argument, which is limited to %d; "
		    "set prompt = \"stdin\" or \"file\" for this agent", size, agent->name, AGENT_ARG_MAX);
		goto out;
	}
	env = environment_load(w->job.state_dir, w->run.environment,
	    role_is_command((enum role)w->attempt.role) ? NULL : agent, &w->error);
	if (env == NULL)
		goto out;
	variables_set(w, agent, &s, &p, &env);
	w->launch = make_launch(w, agent, &p, &s, env, prompt, size);
	if (w->time_left_ms != ROW_NONE && w->launch->job.wall_ms > w->time_left_ms)
		w->launch->job.wall_ms = w->time_left_ms;
	note_given(w);
	if (gives_task(w))
		w->task_hash = hash_of(s.task, s.task_size);
	prompt = NULL;
out:
	free(prompt);
	build_places_release(&p);
	sources_release(&s);
}

static void build_release(struct job *base)
{
	struct build_job *w = (struct build_job *)base;

	row_release(ROW_RUN, &w->run);
	row_release(ROW_SLOT, &w->slot);
	row_release(ROW_ATTEMPT, &w->attempt);
	row_release(ROW_TASK, &w->task);
	free(w->follow_up);
	for (size_t i = 0; i < w->nhistory; i++)
		row_release(ROW_REVIEW, &w->history[i]);
	free(w->history);
	for (size_t i = 0; i < w->nhistory; i++)
		free(w->answer_hashes[i]);
	free(w->answer_hashes);
	free(w->answers);
	free(w->session);
	free(w->asked);
	free(w->interruption);
	free(w->findings);
	free(w->dismissed);
	free(w->disputed);
	briefing_release(&w->briefing);
	free(w->offer);
	free(w->floor);
	free(w->reviewer_changed);
	free(w->given);
	free(w->left_out);
	free(w->prompt_hash);
	free(w->diff_hash);
	free(w->task_hash);
	free(w->given_hash);
	free(w->program);
	free(w->program_hash);
	free(w->version);
	launch_free(w->launch);
	free(w->error);
}

const struct job_type build_type = { "build", build_run, build_release };
