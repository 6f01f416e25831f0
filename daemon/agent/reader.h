/* SPDX-License-Identifier: MIT */
/* What a reader of an output format consists of. */
#ifndef AGENT_READER_H
#define AGENT_READER_H

#include "agent/agent.h"
#include "agent/preview.h"
#include "agent/show.h"

struct reader_type {
	const char *name;	/* as in reader_names */
	void *(*new)(void);
	void (*feed)(void *state, const char *data, size_t size);
	void (*gap)(void *state);
	/* The final result has been read, and nothing cancelled it. NULL: the format does not mark
	 * it. */
	bool (*is_over)(const void *state);
	/* Frees state; out is empty: no text, nothing reported, provider ok. */
	void (*end)(void *state, struct agent_result *out);
	/* What people are shown of its events; NULL: the text itself. shown_last: if these show
	 * nothing, in the last lines only; NULL: none. */
	const struct show_row *shown, *shown_last;
};

extern const struct reader_type reader_text, reader_claude, reader_codex, reader_gemini,
    reader_opencode, reader_copilot, reader_qwen, reader_pi;

/* Limit for one document; longer ones are skipped. */
#define READER_LINE_MAX (8 * 1024 * 1024)

/* The last lines of a program's output, oldest first: of stdout as its reader interprets it, of
 * stderr if that is empty. lines: 1..PREVIEW_LINES_MAX. NULL-terminated, for strings_free(); each
 * is UTF-8 without control characters, of at most PREVIEW_CHARACTERS. */
char **reader_preview(enum reader_kind kind, const struct preview_tail *out,
    const struct preview_tail *err, size_t lines);

/* The output as a conversation, from the beginning of a line: only whole lines unless last. Returns
 * how many bytes were read. Texts are UTF-8, and safe for a terminal except for newlines. */
size_t reader_show(enum reader_kind kind, struct show *s, const char *data, size_t size, bool last);

#endif
