/* SPDX-License-Identifier: MIT */
/* The texts for a prompt, read from disk. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/agent_user.h"
#include "base/digest.h"
#include "base/file.h"
#include "core/chain.h"
#include "core/profile.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "job/build.h"
#include "job/build_int.h"
#include "job/carrier_copy.h"
#include "job/template_search.h"
#include "model/dirs.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "record/output.h"
#include "task/task_op.h"

#define TASK_FILE_MAX (16 * 1024 * 1024)

void sources_release(struct sources *s)
{
	free(s->template);
	free(s->task);
	free(s->answer);
	free(s->guidelines);
	free(s->conventions);
	free(s->dismissed);
	free(s->disputed);
	free(s->reply);
	buf_release(&s->diff);
	buf_release(&s->follow_up);
	buf_release(&s->stories);
	free(s->history);
	for (size_t i = 0; i < s->nanswers; i++)
		free(s->answers[i]);
	free(s->answers);
}

/* Of each end of an output only as much is read as a prompt can contain: a code point has at most
 * four bytes. */
#define ENDS_KEPT ((size_t)4 * PROMPT_CAP)

/* A stream of an attempt or step, and whether a part was omitted. keep: bytes of each end. Returns
 * 0, or -1 with error: unreadable, which must not be taken as empty. */
static int read_output(struct buf *out, const char *state_dir, int64_t id, const char *stream,
    size_t keep, bool *dropped, char **error)
{
	static const size_t room = ENDS_KEPT;
	char *dir = dirs_attempt(state_dir, id), *buffer = xcalloc(room, 1);
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t start = out->size;
	struct output_chunk chunk = { 0 };
	uint64_t offset = 0;
	int rv = dirfd == -1 ? -errno : 0;

	*dropped = false;
	while (rv == 0 && (rv = output_read(dirfd, stream, offset, buffer, room, &chunk)) == 0 && chunk.size > 0) {
		*dropped |= chunk.dropped > 0;
		buf_add(out, buffer, chunk.size);
		offset = chunk.offset + chunk.size;
		if (out->size - start >= keep && chunk.end - offset > keep) {
			*dropped = true;
			offset = chunk.end - keep;
		}
	}
	if (rv != 0)
		*error = xasprintf("cannot read %s/%s: %s", dir, stream, host_words(-rv));
	if (dirfd != -1)
		close(dirfd);
	free(buffer);
	free(dir);
	return rv == 0 ? 0 : -1;
}

/* Returns 0 or -1 with error; a missing file is an error only if `must` is set. */
static int read_source(const char *dir, const char *name, size_t max, bool must, char **text,
    size_t *size, char **error)
{
	char *path = xasprintf("%s/%s", dir, name);
	int rv = file_read(AT_FDCWD, path, max, text, size);

	if (rv != 0 && (must || rv != -ENOENT)) {
		free(*error);
		*error = xasprintf("cannot read %s: %s", path, host_words(-rv));
	}
	free(path);
	return *error == NULL ? 0 : -1;
}

static void copy_text(const char *text, char **copy, size_t *size)
{
	*copy = xstrdup(text);
	*size = text != NULL ? strlen(text) : 0;
}

/* From the database; a run of an earlier version has files. */
static int take_judge(const struct build_job *w, const struct places *p, struct sources *s, char **error)
{
	const struct judge_row *judge = w->briefing.judge;

	/* commands are given nothing of it */
	if (!role_is_command((enum role)w->attempt.role) && !judge_is_recorded(judge, w->run.judge_hash)) {
		*error = xasprintf("what judges run %lld in the database is not what was recorded at its submit: no "
		    "agent is given it; retry the run with --new-judge", (long long)w->run.id);
		return -1;
	}
	if (judge != NULL) {
		copy_text(judge->guidelines, &s->guidelines, &s->guidelines_size);
		copy_text(judge->conventions, &s->conventions, &s->conventions_size);
		return 0;
	}
	return read_source(p->run_dir, "guidelines.md", TASK_FILE_MAX, false, &s->guidelines,
	    &s->guidelines_size, error) == -1 ? -1 :
	    read_source(p->run_dir, "conventions.md", TASK_FILE_MAX, false, &s->conventions,
	    &s->conventions_size, error);
}

static int read_template(const struct build_job *w, const struct places *p, struct sources *s, char **error)
{
	bool developer = w->attempt.role == ROLE_IMPLEMENT ||
	    (w->attempt.role == ROLE_FIX && w->plan->fixer == FIXER_IMPLEMENTER);

	if (build_is_review(w) && w->briefing.judge != NULL) {
		copy_text(w->briefing.judge->reviewer, &s->template, &s->template_size);
		return 0;
	}
	if (build_is_review(w))
		return read_source(p->run_dir, "reviewer.md", TASK_FILE_MAX, false, &s->template,
		    &s->template_size, error);
	s->template = template_find(developer ? ROLE_IMPLEMENT : (enum role)w->attempt.role,
	    developer ? w->plan->developer_prompt : NULL, w->run.workspace,
	    w->job.config_dir, w->plan->read_as, &s->template_size, error);
	return *error == NULL ? 0 : -1;
}

/* The output of a check on the base. It may be another run's, which keeps it for itself only. */
static void gather_base(const struct build_job *w, struct sources *s)
{
	static const char *const streams[] = { RECORD_STDOUT, RECORD_STDERR };
	size_t before = s->follow_up.size;
	char *gone = NULL;
	bool dropped;

	buf_adds(&s->follow_up, "\n\nOutput of the first one:\n\n");
	for (size_t i = 0; gone == NULL && i < sizeof(streams) / sizeof(streams[0]); i++)
		(void)read_output(&s->follow_up, w->job.state_dir, w->follow_up_output, streams[i], ENDS_KEPT,
		    &dropped, &gone);
	if (gone != NULL) {
		s->follow_up.size = before;
		s->follow_up.data[before] = '\0';
	}
	free(gone);
}

/* The feedback, and the output it is about. */
static int gather_follow_up(const struct build_job *w, struct sources *s, char **error)
{
	bool dropped;

	if (w->follow_up == NULL)
		return 0;
	buf_adds(&s->follow_up, w->follow_up);
	if (w->follow_up_output == ROW_NONE)
		return 0;
	if (w->attempt.role == ROLE_IMPLEMENT) {
		gather_base(w, s);
		return 0;
	}
	buf_adds(&s->follow_up, "\n\nIts output:\n\n");
	if (read_output(&s->follow_up, w->job.state_dir, w->follow_up_output, RECORD_STDOUT, ENDS_KEPT, &dropped,
	    error) == -1)
		return -1;
	return read_output(&s->follow_up, w->job.state_dir, w->follow_up_output, RECORD_STDERR, ENDS_KEPT,
	    &dropped, error);
}

/* hash: as recorded; NULL: not known. */
static int read_answer(const char *state_dir, int64_t attempt, const char *hash, char **text, size_t *size,
    char **error)
{
	int dirfd = dirs_open_attempt(state_dir, attempt);
	int rv = dirfd < 0 ? dirfd :
	    file_read_recorded(dirfd, RECORD_ANSWER, AGENT_TEXT_MAX + 1, hash, text, size);

	if (dirfd >= 0)
		close(dirfd);
	if (rv == 0 || (rv == -ENOENT && hash == NULL))
		return 0;
	free(*error);
	if (rv == -ESTALE || (rv == -ENOENT && dirfd >= 0))
		*error = xasprintf("the answer in attempts/%lld was %s since its agent ended", (long long)attempt,
		    rv == -ENOENT ? "removed" : "changed");
	else
		*error = xasprintf("cannot read the answer in attempts/%lld: %s", (long long)attempt, host_words(-rv));
	return -1;
}

/* Earlier answers, for agents without the conversation. */
static int gather_answers(const struct build_job *w, struct sources *s, char **error)
{
	const unsigned both = PART_HISTORY | PART_ANSWER;

	if ((prompt_sees(w->plan->profile, (enum role)w->attempt.role) & both) != both)
		return 0;
	s->answers = xcalloc(w->nhistory, sizeof(*s->answers));
	s->nanswers = w->nhistory;
	for (size_t i = 0; i < w->nhistory; i++) {
		size_t size;

		if (w->answers[i] != ROW_NONE &&
		    read_answer(w->job.state_dir, w->answers[i], w->answer_hashes[i], &s->answers[i], &size,
		    error) == -1)
			return -1;
	}
	return 0;
}

static void gather_history(const struct build_job *w, struct sources *s)
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

/* A task under its id and title, which may be all of its text. */
static void add_story(struct buf *out, const char *id, const char *title, const char *text)
{
	size_t n = title != NULL ? strlen(title) : 0;

	buf_addf(out, "%s## %s: %s\n", out->size > 0 ? "\n" : "", id, title != NULL ? title : "");
	if (n > 0 && strncmp(text, title, n) == 0 && (text[n] == '\0' || text[n] == '\n'))
		text += n;
	text += strspn(text, "\n");
	if (text[0] != '\0')
		buf_addf(out, "\n%s%s", text, text[strlen(text) - 1] == '\n' ? "" : "\n");
}

/* Whether data is what was recorded; hash NULL: an earlier version recorded nothing. */
static bool is_recorded(const char *data, size_t size, const char *hash)
{
	char hex[DIGEST_HEX];

	digest_hex(data != NULL ? data : "", size, hex);
	return hash == NULL || strcmp(hex, hash) == 0;
}

/* Agents see what was submitted, or nothing. */
static int check_text(const char *id, const char *text, size_t size, const char *hash, char **error)
{
	if (is_recorded(text, size, hash))
		return 0;
	*error = xasprintf("the text of task %s in the database is not the one that was recorded with its hash: "
	    "no agent is given it; submit the run again", id);
	return -1;
}

static int gather_stories(const struct build_job *w, struct buf *out, char **error)
{
	for (size_t i = 0; i < w->briefing.nstories; i++) {
		const struct story *story = &w->briefing.stories[i];

		if (check_text(story->id, story->text, strlen(story->text), story->hash, error) == -1)
			return -1;
		add_story(out, story->id, story->title, story->text);
	}
	return 0;
}

/* The task text given with the work, which is also written to its file; otherwise the existing
 * file. */
static int take_task(const struct build_job *w, const struct places *p, struct sources *s, char **error)
{
	const char *text = w->briefing.text != NULL ? w->briefing.text : w->offer != NULL ? w->offer : NULL;
	int rv;

	/* slot 0 is about all tasks */
	if (text == NULL && w->slot.task == NULL)
		text = s->stories.data != NULL ? s->stories.data : "";
	if (text == NULL)
		return read_source("", p->task_file, TASK_FILE_MAX, true, &s->task, &s->task_size, error);
	if (w->briefing.text != NULL &&
	    check_text(w->task.id, text, w->briefing.size, w->task.text_hash, error) == -1)
		return -1;
	s->task_size = w->briefing.text != NULL ? w->briefing.size : strlen(text);
	s->task = xmemdup0(text, s->task_size);
	rv = file_write(AT_FDCWD, p->task_file, s->task, s->task_size, 0600, false);
	if (rv == 0)
		rv = agent_user_give(AT_FDCWD, p->task_file, 0640);
	if (rv != 0)
		*error = xasprintf("%s: %s", p->task_file, host_words(-rv));
	return rv == 0 ? 0 : -1;
}

/* All of it, as it was measured. An empty one of a changed tree shows the reviewer nothing. */
static int read_diff(const struct build_job *w, struct sources *s, char **error)
{
	if (read_output(&s->diff, w->job.state_dir, w->slot.diff, RECORD_STDOUT, SIZE_MAX,
	    &s->diff_dropped, error) == -1)
		return -1;
	if (!is_recorded(s->diff.data, s->diff.size, w->slot.diff_hash)) {
		*error = xasprintf("the diff in attempts/%lld was changed since the work was measured: it is not "
		    "reviewed; retry the run", (long long)w->slot.diff);
		return -1;
	}
	if (s->diff.size > 0 || build_is_unchanged(w))
		return 0;
	*error = xasprintf("the diff in attempts/%lld is empty, but the work has changed; retry the run",
	    (long long)w->slot.diff);
	return -1;
}

int sources_read(const struct build_job *w, const struct places *p, struct sources *s, char **error)
{
	const char *state_dir = w->job.state_dir;

	if (gather_stories(w, &s->stories, error) == -1)
		return -1;
	if (take_task(w, p, s, error) == -1 || take_judge(w, p, s, error) == -1)
		return -1;
	if (strcmp(w->run.source, sources[SOURCE_PROMPT].name) == 0)
		add_story(&s->stories, w->task.id, w->task.title, s->task);
	snprintf(s->priority, sizeof(s->priority), "%lld",
	    (long long)(w->task.priority != ROW_NONE ? w->task.priority : w->run.priority));
	if (gather_follow_up(w, s, error) == -1)
		return -1;
	gather_history(w, s);
	if (gather_answers(w, s, error) == -1)
		return -1;
	if (!role_is_command((enum role)w->attempt.role) && read_template(w, p, s, error) == -1)
		return -1;
	if (w->slot.answer != ROW_NONE &&
	    read_answer(state_dir, w->slot.answer, w->slot.answer_hash, &s->answer, &s->answer_size, error) == -1)
		return -1;
	return build_is_review(w) && w->slot.diff != ROW_NONE ? read_diff(w, s, error) : 0;
}
