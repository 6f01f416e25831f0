/* SPDX-License-Identifier: MIT */
#include "job/copy_script.h"

#include <stdlib.h>

#include "job/copy_text.h"
#include "job/placed_scripts.h"
#include "proto/memory.h"
#include "record/far_status.h"
#include "record/layout.h"

/* Its login shell may be any, so one line, for a shell that is named. */
static const char prepare[] =
    "[ \"$(\"$s\" --version 2> /dev/null)\" = \"rl-shim " RLD_VERSION "\" ] || "
    "{ echo \"rld: rl-shim " RLD_VERSION " is not there, as $s\" >&2; exit 75; }; "
    "command -v rsync > /dev/null || { echo \"rld: rsync is not installed there\" >&2; exit 75; }; "
    "b=${d%/*/*/*}; [ ! -e \"$b/rld.db\" ] || "
    "{ echo \"rld: $b there belongs to an rld; if to this one, choose files = shared\" >&2; exit 75; }; "
    "l=$b/attempts/copied; umask 077; mkdir -p \"$b/attempts\" || exit 75; ln -s \"$1\" \"$l\" 2> /dev/null; "
    "[ \"$(readlink \"$l\")\" = \"$1\" ] || "
    "{ echo \"rld: $b there has copies of another machine; if it is gone, remove $l\" >&2; exit 75; }; "
    "[ ! -h \"$d/claim\" ] || { echo \"rld: $d: it was started there already\" >&2; exit 75; }; "
    "mkdir -p \"$d\" ${t:+\"$t\"} \"$w\" || exit 75";

static void add_word(struct buf *out, const char *before, const char *text, const char *after)
{
	char *word = shell_word(text);

	buf_adds(out, before);
	buf_adds(out, word);
	buf_adds(out, after);
	free(word);
}

static void add_path(struct buf *out, const char *before, const char *dir, const char *name, const char *after)
{
	char *path = xasprintf("%s/%s", dir, name);

	add_word(out, before, path, after);
	free(path);
}

/* All but the last. */
static void add_words(struct buf *out, char *const *words)
{
	for (; words[1] != NULL; words++)
		add_word(out, " ", words[0], "");
}

/* A function that prints the text. */
static void add_printer(struct buf *out, const char *name, const char *text)
{
	buf_addf(out, "%s() { printf '%%s' ", name);
	add_word(out, "", text, "; }\n");
}

static void add_prepare(struct buf *out, const struct places *p, const char *shim)
{
	struct buf script = { 0 };
	char *text, *word, *line;

	add_word(&script, "s=", shim, "; ");
	add_path(&script, "d=", p->dir, RECORD_PLACE, "; ");
	add_word(&script, "w=", p->top, "; ");
	add_word(&script, "t=", p->scratch != NULL ? p->scratch : "", "; ");
	buf_adds(&script, prepare);
	text = buf_take(&script, NULL);
	word = shell_word(text);
	line = xasprintf("sh -c %s", word);
	add_printer(out, "prepare", line);
	free(line);
	free(word);
	free(text);
}

/* What the agent may read, and its empty status file. */
static void add_send(struct buf *out, const struct launch *launch, const struct places *p)
{
	buf_adds(out, "send_files() { copy -R --no-implied-dirs --");
	for (size_t i = 0; i < launch->nfiles; i++)
		if (launch->files[i].shared != 0 && launch->files[i].data != NULL)
			add_path(out, " ", p->dir, launch->files[i].name, "");
	add_path(out, " ", p->dir, RECORD_COPY, "");
	buf_adds(out, " node:/; }\n");
}

/* One that the agent has removed there is removed here; but not the empty one in the directory of
 * the attempt, which may be of another user. Both belong to rld, so only what is in them comes. */
static void add_fetch(struct buf *out, const struct places *p, bool writes)
{
	bool has_verdict = p->verdict_file != NULL && !text_equal(p->verdict_file, p->review_file);
	const struct { const char *path, *missing; } answers[] = {
		{ has_verdict && !writes ? p->verdict_file : NULL, "--ignore-missing-args" },
		{ !writes ? p->review_file : NULL, "--delete-missing-args" },
	};

	buf_adds(out, "fetch_answer() { :");
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (answers[i].path == NULL)
			continue;
		buf_addf(out, " && rsync -csR --inplace --no-implied-dirs %s -e 'sh shell' --", answers[i].missing);
		add_word(out, " node:", answers[i].path, " / 9>&-");
	}
	buf_adds(out, "; }\n");
}

char *copy_script(const struct launch *launch, char *const *words, const struct places *p, const char *shim,
    bool writes)
{
	struct buf out = { 0 };
	char *copy = xasprintf("%s/" RECORD_COPY, p->dir), *quoted = shell_word(copy);

	add_word(&out, "D=", p->dir, "\n");
	add_word(&out, "W=", p->top, "\n");
	add_word(&out, "SCRATCH=", p->scratch != NULL ? p->scratch : "", "\n");
	buf_addf(&out, "WRITES=%d\n", writes);
	buf_adds(&out, "there() {");
	add_words(&out, words);
	buf_adds(&out, " \"$@\" 9>&-; }\n");
	add_printer(&out, "quoted", quoted);
	add_prepare(&out, p, shim);
	add_send(&out, launch, p);
	add_fetch(&out, p, writes);
	buf_adds(&out, copy_text);
	free(quoted);
	free(copy);
	return buf_take(&out, NULL);
}

char *copy_shell(char *const *words)
{
	struct buf out = { 0 };

	buf_adds(&out, "shift\nexec");
	add_words(&out, words);
	buf_adds(&out, " \"$@\"\n");
	return buf_take(&out, NULL);
}
