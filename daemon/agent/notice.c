/* SPDX-License-Identifier: MIT */
#include "agent/notice.h"

#include <stdlib.h>
#include <string.h>

#include "agent/json_line.h"
#include "agent/member.h"
#include "agent/refusal.h"
#include "core/backoff.h"
#include "core/row.h"
#include "proto/memory.h"

/* A program that is about to give up by itself gets this much time. */
#define GIVES_UP_MS (INT64_C(10) * 1000)
/* Refusals without a reset time usually end within seconds: one that lasts longer is a limit. */
#define HICCUP_MS (INT64_C(40) * 1000)
/* A key that is refused twice will be refused again. */
#define AUTH_TRIES 2
#define WORDS_MAX 300

/* A refused request that the program will repeat. */
struct report {
	int64_t status;		/* 0: see the words */
	int64_t delay;		/* ms until the next try; ROW_NONE: see the words */
	char *words;		/* owned */
};

static bool read_claude(const char *line, struct report *report)
{
	json_t *event = json_line_parse(line, strlen(line));
	const char *words = member_text(event, "error");
	bool is = member_is(event, "type", "system") && member_is(event, "subtype", "api_retry");

	if (is)
		*report = (struct report){ member_count(event, "error_status", 0),
		    member_count(event, "retry_delay_ms", ROW_NONE),
			xstrdup(words != NULL ? words : "") };
	json_decref(event);
	return is;
}

/* Lines with which programs report one. A new program is a row here. */
static const struct form {
	enum reader_kind kind;
	enum notice_stream stream;
	const char *begins, *has;
	/* a line with this text is about a side request; NULL: none */
	const char *lacks;
	const char *status;		/* text before the status; NULL: see the words */
	/* ... before the words, which end at the next quote, if this ends with one, or at the end
	 * of the line */
	const char *words;
	/* Replaces the previous three for JSON lines. Returns false if it is not a report. */
	bool (*read)(const char *line, struct report *report);
} forms[] = {
	{ READER_CLAUDE, NOTICE_STDOUT, "{", "\"api_retry\"", NULL, NULL, NULL, read_claude },
	{ READER_GEMINI, NOTICE_STDERR, "Attempt ", " failed with status ", NULL,
	    " failed with status ", "Retrying with backoff... ", NULL },
	{ READER_OPENCODE, NOTICE_STDERR, "timestamp=", " message=\"stream error\"", " small=true",
	    NULL, " error.error=\"", NULL },
	{ READER_QWEN, NOTICE_STDOUT, "[log_", " failed with status ", NULL, " failed with status ", "] ", NULL },
	{ READER_PI, NOTICE_STDOUT, "[log_", " failed with status ", NULL, " failed with status ", "] ", NULL },
	{ READER_PI, NOTICE_STDERR, "[log_", " failed with status ", NULL, " failed with status ", "] ", NULL },
	{ READER_QWEN, NOTICE_STDERR, "Attempt ", " failed with status ", NULL, " failed with status ", "... ", NULL },
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

/* Lines on stdout that show progress: an event, or a successful request. */
static const char *const progress[] = { "{", "[{", "[log_" };

void notice_init(struct notice *n)
{
	*n = (struct notice){ .provider = PROVIDER_NONE, .since = ROW_NONE, .reset_at = ROW_NONE };
}

void notice_release(struct notice *n)
{
	free(n->words);
	notice_init(n);
}

bool notice_can_tell(enum reader_kind kind)
{
	for (size_t i = 0; i < FORMS; i++)
		if (forms[i].kind == kind)
			return true;
	return false;
}

static bool begins(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

/* The text after a word; NULL: the word is NULL, or missing. */
static const char *behind(const char *line, const char *word)
{
	const char *at = word != NULL ? strstr(line, word) : NULL;

	return at != NULL ? at + strlen(word) : NULL;
}

static int64_t number_behind(const char *line, const char *word, int64_t otherwise)
{
	const char *at = behind(line, word);

	return at != NULL && *at >= '0' && *at <= '9' ? strtoll(at, NULL, 10) : otherwise;
}


static char *words_of(const struct form *f, const char *line)
{
	const char *words = behind(line, f->words);
	bool quoted = words != NULL && words[-1] == '"';
	size_t size;

	if (words == NULL)
		words = line;
	size = quoted ? strcspn(words, "\"") : strlen(words);
	return xmemdup0(words, size < WORDS_MAX ? size : WORDS_MAX);
}

static bool read_report(enum reader_kind kind, enum notice_stream stream, const char *line, struct report *report)
{
	for (size_t i = 0; i < FORMS; i++) {
		const struct form *f = &forms[i];

		if (f->kind != kind || f->stream != stream || !begins(line, f->begins) ||
		    strstr(line, f->has) == NULL ||
		    (f->lacks != NULL && strstr(line, f->lacks) != NULL))
			continue;
		if (f->read != NULL)
			return f->read(line, report);
		*report = (struct report){ number_behind(line, f->status, 0), ROW_NONE, words_of(f, line) };
		return true;
	}
	return false;
}

/* Takes ownership of the report. A failure of another kind is temporary, or the program gives up
 * because of it. */
static void refused(struct notice *n, struct report *report, const struct reset_place *place)
{
	struct refusal refusal = refusal_of(report->status, report->words, PROVIDER_OK);
	char *doubt = NULL;

	if (refusal.provider != PROVIDER_LIMIT && refusal.provider != PROVIDER_THROTTLED &&
	    refusal.provider != PROVIDER_AUTH) {
		free(report->words);
		return;
	}
	if (n->tries++ == 0)
		n->since = place->now;
	n->provider = refusal.provider;
	n->reset_at = report->delay != ROW_NONE ? place->now + report->delay : reset_time(report->words, place, &doubt);
	free(doubt);
	free(n->words);
	n->words = report->words;
}

static void read_line(struct notice *n, enum reader_kind kind, enum notice_stream stream,
    const char *line, const struct reset_place *place)
{
	struct report report;

	if (read_report(kind, stream, line, &report)) {
		refused(n, &report, place);
		return;
	}
	for (size_t i = 0; stream == NOTICE_STDOUT && i < sizeof(progress) / sizeof(progress[0]); i++)
		if (begins(line, progress[i]))
			n->tries = 0;
}

void notice_read(struct notice *n, enum reader_kind kind, enum notice_stream stream,
    const char *data, size_t size, const struct reset_place *place)
{
	for (const char *end; size > 0 && (end = memchr(data, '\n', size)) != NULL;
	    size -= (size_t)(end - data) + 1, data = end + 1) {
		char *line = xmemdup0(data, (size_t)(end - data));

		read_line(n, kind, stream, line, place);
		free(line);
	}
}

enum provider_result notice_decide(const struct notice *n, int64_t now)
{
	int64_t patience = HICCUP_MS;

	if (n->tries == 0)
		return PROVIDER_NONE;
	if (n->provider == PROVIDER_AUTH)
		return n->tries >= AUTH_TRIES ? PROVIDER_AUTH : PROVIDER_NONE;
	if (n->provider == PROVIDER_LIMIT || (n->reset_at != ROW_NONE && n->reset_at > now + BACKOFF_MAX_MS))
		patience = GIVES_UP_MS;
	else if (n->reset_at != ROW_NONE && n->reset_at > now)
		return PROVIDER_NONE;	/* soon, and the program may know that */
	return now - n->since >= patience ? PROVIDER_LIMIT : PROVIDER_NONE;
}
