/* SPDX-License-Identifier: MIT */
/* Any bytes for the carriers file, comments and exit, and for a corrector's marks. The first two
 * bytes say the exit status and where the final text ends and the carrier file begins. */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/findings.h"
#include "proto/escape.h"
#include "verdict/verdict.h"

enum { FINDINGS_MOST = 500, FINDING_LONGEST = 64 * 1024 + 64, LINE_MOST = 512, TOKENS_MAX = 300, TOKEN_MAX = 64 };

static void must(bool true_)
{
	if (!true_)
		abort();
}

static bool is_words(const char *text)
{
	return text != NULL && text_is_utf8(text, strlen(text)) &&
	    strlen(text) <= FINDING_LONGEST && text[strspn(text, " \t\r\n\v\f")] != '\0';
}

static void check_findings(const struct verdict_finding *list, size_t count)
{
	must((list == NULL) == (count == 0) && count <= FINDINGS_MOST);
	for (size_t i = 0; i < count; i++) {
		must(is_words(list[i].text) && list[i].line >= 0);
		must(list[i].file == NULL || is_words(list[i].file));
		must(list[i].severity == NULL || is_words(list[i].severity));
	}
}

static bool is_blank(const uint8_t *data, size_t size)
{
	if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		return is_blank(data + 3, size - 3);
	for (size_t i = 0; i < size; i++) {
		if (!isspace(data[i]))
			return false;
	}
	return true;
}

static bool has_must_fix(const struct verdict *v)
{
	for (size_t i = 0; i < v->nfindings; i++) {
		must(strcmp(v->findings[i].severity, "must-fix") == 0 ||
		    strcmp(v->findings[i].severity, "suggestion") == 0);
		if (strcmp(v->findings[i].severity, "must-fix") == 0)
			return true;
	}
	return false;
}

static void check(enum carrier carrier, const struct verdict_input *in)
{
	struct verdict v;

	verdict_read(carrier, in, &v);
	must((v.kind == VERDICT_NONE) == (v.reason != NULL) && (v.kind == VERDICT_NONE) == (v.feedback == NULL));
	must(v.feedback == NULL || text_is_utf8(v.feedback, strlen(v.feedback)));
	must(v.kind != VERDICT_FINDINGS || (is_words(v.feedback) && v.nfindings > 0));
	must(v.kind != VERDICT_NONE || v.nfindings == 0);
	must(v.kind == VERDICT_NONE || v.source != NULL);
	must(v.quality_checks == NULL);
	check_findings(v.findings, v.nfindings);
	if (carrier == CARRIER_FILE) {
		must((v.kind == VERDICT_FINDINGS) != is_blank((const uint8_t *)in->file, in->file_size));
		must(v.kind != VERDICT_PASS || !is_blank((const uint8_t *)in->text, in->text_size));
	} else if (carrier == CARRIER_EXIT) {
		must(v.kind == (in->status == 0 ? VERDICT_PASS : VERDICT_FINDINGS));
	} else {
		/* either a whole document of its kind, or nothing */
		must(v.kind == VERDICT_NONE || (v.kind == VERDICT_FINDINGS) == has_must_fix(&v));
		must(v.kind == VERDICT_NONE || !is_blank((const uint8_t *)in->file, in->file_size));
	}
	verdict_release(&v);
}

/* A line as an item, and as the same item when it is marked: one finding. */
static void check_mark(const char *data, size_t size)
{
	char review[LINE_MOST + 32], marked[LINE_MOST + 32], ids[2][FINDING_ID];
	const char *end = memchr(data, '\n', size);
	struct verdict_input in = { .file = review };
	size_t line = end != NULL ? (size_t)(end - data) : size, n, marks;
	struct verdict_finding *list;
	struct verdict v;

	if (line > LINE_MOST || is_blank((const uint8_t *)data, line) || memmem(data, line, "FIXED", 5) != NULL)
		return;
	n = (size_t)(stpcpy(review, "- [ ] ") - review);
	memcpy(review + n, data, line);
	in.file_size = n + line;
	n = (size_t)(stpcpy(marked, "- [x] FIXED: ") - marked);
	memcpy(marked + n, data, line);
	verdict_read(CARRIER_FILE, &in, &v);
	marks = verdict_marks(marked, n + line, &list);
	/* nothing but marks of emphasis is no item, and the review is one finding as a whole */
	if (marks > 0) {
		must(v.nfindings == 1 && marks == 1);
		finding_id(v.findings[0].file, v.findings[0].text, ids[0]);
		finding_id(list[0].file, list[0].text, ids[1]);
		must(strcmp(ids[0], ids[1]) == 0);
	}
	verdict_findings_free(list, marks);
	verdict_release(&v);
}

static void check_all(int64_t status, size_t split, const char *data, size_t size)
{
	struct verdict_input in = { .text = data, .text_size = split, .file = data + split,
	    .file_size = size - split, .status = status };
	struct verdict_finding *list;
	size_t n;

	check(CARRIER_FILE, &in);
	check(CARRIER_COMMENTS, &in);
	check(CARRIER_EXIT, &in);
	n = verdict_marks(in.file, in.file_size, &list);
	check_findings(list, n);
	verdict_findings_free(list, n);
	check_mark(in.file, in.file_size);
}

/* What such files are made of: a byte of the input picks one. */
static const char *const tokens[] = {
	"{\"comments\":[", "],\"summary\":\"so\"}", "{\"severity\":\"must-fix\",\"comment\":\"x\"}",
	"{\"severity\":\"suggestion\",\"comment\":\"y\"}", "{\"severity\":", "\"must-fix\"",
	"\"suggestion\"", "\"Must-Fix\"", ",\"comment\":\"z\"}", ",\"file\":\"a.c\"", ",\"line\":3",
	",\"line\":null", ",", "null", "{", "}", "[", "]", "\"", "\n", "\n", "\n- ", "\n- [ ] ",
	"\n- [x] FIXED: ", "\nFIXED: ", "\n1. ", "\n  - ", "\n    ", "\n## Critical\n",
	"\n**Minor**\n", "\n```\n", "\n---\n", "\n\n", "FIXED:", "**", "~~", "*", "_", "`",
	"`src/a.c:12`", "src/a.c:12: ", "`a.py`", " - ", ": ", " (line 12)", " ", "\t", "text",
	"\r", "\xef\xbb\xbf", "\xff", "\xc3\xa9", "\x1b[0m", "[ ] ", "#",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t zero[2] = { 0, 0 };
	const uint8_t *head = size >= 2 ? data : zero, *body = size >= 2 ? data + 2 : data;
	size_t left = size >= 2 ? size - 2 : size, split;
	char *text = calloc(TOKENS_MAX, TOKEN_MAX), *end = text;

	split = left * head[1] / 255;
	check_all(head[0] & 1, split, (const char *)body, left);
	for (size_t i = 0; i < left && i < TOKENS_MAX; i++)
		end = stpcpy(end, tokens[body[i] % (sizeof(tokens) / sizeof(tokens[0]))]);
	split = (size_t)(end - text) * head[1] / 255;
	check_all(head[0] & 1, split, text, (size_t)(end - text));
	free(text);
	return 0;
}
