/* SPDX-License-Identifier: MIT */
#include "verdict/carrier.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/strip.h"
#include "proto/memory.h"
#include "verdict/clean.h"
#include "verdict/copied_lines.h"
#include "verdict/items.h"

/* Its items, and what stands beside them; without any the whole text is one. */
static void read_findings(const char *text, size_t size, struct verdict *out)
{
	struct items items;

	items_read(text, size, false, &items);
	out->findings = items.list;
	out->nfindings = items.count;
	out->beside = items.count > 0 && items.beside != NULL ?
	    clean_text(items.beside, strlen(items.beside), CLEAN_FEEDBACK_MAX) : NULL;
	free(items.beside);
	if (items.count == 0) {
		out->findings = xcalloc(1, sizeof(*out->findings));
		item_read(text, size, CLEAN_FEEDBACK_MAX, out->findings);
		out->nfindings = 1;
	} else if (items.left_out > 0) {
		out->findings = xreallocarray(out->findings, items.count + 1, sizeof(*out->findings));
		out->findings[items.count] = (struct verdict_finding){
			.text = xasprintf("[... %zu more items left out ...]", items.left_out)
		};
		out->nfindings++;
	}
}

#define LINE "Review finished: "

/* The last line of the text, without white space and emphasis around it; a fence may follow. */
static struct echo_text last_line(const char *text, size_t size)
{
	static const char marks[] = " \t\r\n`~*_";
	size_t start;

	while (size > 0 && text[size - 1] != '\0' && strchr(marks, text[size - 1]) != NULL)
		size--;
	for (start = size; start > 0 && text[start - 1] != '\n' && text[start - 1] != '\r'; start--)
		;
	while (start < size && text[start] != '\0' && strchr(marks, text[start]) != NULL)
		start++;
	return (struct echo_text){ .data = text + start, .size = size - start };
}

/* There are no issues. Is that what the reviewer found? */
static void read_silence(const struct verdict_input *in, const char *text, size_t size, struct verdict *out)
{
	const struct echo_text line = last_line(text, size);
	const size_t word = strlen(LINE);
	bool finished = line.size > word && memcmp(line.data, LINE, word) == 0;

	if (in->nonce == NULL)
		out->kind = VERDICT_PASS;
	else if (finished && line.size == word + strlen(in->nonce) &&
	    memcmp(line.data + word, in->nonce, strlen(in->nonce)) == 0)
		out->kind = VERDICT_PASS;
	else if (finished)
		out->reason = xstrdup(FOREIGN);
	else if (in->silence && (carrier_repeats_prompt(in, text, size) || copied_lines(&in->prompt, text, size)))
		out->reason = xstrdup(NO_EVIDENCE ": the final text only repeats the prompt");
	else if (in->silence)
		out->silent = true;
	else
		out->reason = xstrdup(NO_EVIDENCE ": the final text does not end with \"" LINE "\" and the nonce");
	if (out->silent)
		out->kind = VERDICT_PASS;
	if (out->kind == VERDICT_PASS) {
		out->source = "text";
		out->feedback = clean_text(in->text, in->text_size, CLEAN_FEEDBACK_MAX);
	}
}

/* Without escape sequences. */
static void read_final_text(const struct verdict_input *in, struct verdict *out)
{
	size_t size;
	char *stripped = strip_escapes(in->text, in->text_size, &size);

	if (stripped != NULL)
		read_silence(in, stripped, size, out);
	else
		read_silence(in, in->text, in->text_size, out);
	free(stripped);
}

void carrier_file_read(const struct verdict_input *in, struct verdict *out)
{
	char *clean;

	if (!clean_is_blank(in->file, in->file_size)) {
		clean = clean_text(in->file, in->file_size, SIZE_MAX);
		out->source = "file";
		out->kind = VERDICT_FINDINGS;
		out->feedback = clean_text(clean, strlen(clean), CLEAN_FEEDBACK_MAX);
		read_findings(clean, strlen(clean), out);
		free(clean);
	} else if (clean_is_silent(in->text, in->text_size)) {
		/* it may have failed with exit status 0 */
		out->reason = xstrdup(NO_EVIDENCE);
	} else {
		read_final_text(in, out);
	}
}
