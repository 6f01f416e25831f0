/* SPDX-License-Identifier: MIT */
/* Any bytes as an agent's output, in pieces of any size and with gaps: the pieces change
 * nothing, a gap never makes a result out of two halves, and every result is whole, also when
 * its end has been looked at.
 *
 * clang -g -O1 -std=gnu11 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -I. -Idaemon \
 *   $(pkg-config --cflags jansson libbsd-overlay) -o fuzz-reader tests/fuzz/reader.c \
 *   daemon/agent/?*.c daemon/core/state.c daemon/base/{memory,file,zone}.c proto/scan.c \
 *   proto/escape.c $(pkg-config --libs jansson libbsd-overlay)
 * ./fuzz-reader -max_total_time=120 NEW tests/fuzz/corpus/reader
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/reader.h"
#include "core/row.h"
#include "proto/escape.h"
#include "proto/memory.h"

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static bool same_text(const char *a, const char *b)
{
	return (a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0);
}

static void expect_whole(const struct agent_result *r)
{
	const int64_t tokens[] = { r->tokens_input, r->tokens_cached, r->tokens_cache_write,
	    r->tokens_output, r->tokens_reasoning };

	expect(r->text != NULL && r->text[r->size] == '\0' && r->size <= AGENT_TEXT_MAX);
	expect(r->provider > PROVIDER_NONE && r->provider < PROVIDER_RESULTS);
	expect(r->is_error == (r->error != NULL));
	expect(r->is_error || r->provider == PROVIDER_OK);
	expect(r->denials >= 0 && r->tool_errors >= 0);
	expect(r->is_error || !r->incomplete);
	expect(isnan(r->cost_usd) || r->cost_usd >= 0);
	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++)
		expect(tokens[i] == ROW_NONE || tokens[i] >= 0);
	expect(!r->transient || r->provider == PROVIDER_ERROR);
	expect(r->reset_at == ROW_NONE || (r->provider == PROVIDER_LIMIT && r->reset_at >= 0));
	expect(r->notice == NULL || r->is_error);
	expect(!r->truncated || strncmp(r->text, AGENT_CUT_LINE, strlen(AGENT_CUT_LINE)) == 0);
}

/* steps: sizes of the pieces, over and over; 0 is a gap. */
static struct agent_result read_in_steps(enum reader_kind kind, const char *data, size_t size,
    const uint8_t *steps, size_t nsteps, bool *gap)
{
	struct reader *r = reader_new(kind);
	struct agent_result result;
	size_t at = 0, n;

	*gap = false;
	for (size_t i = 0; at < size; i++) {
		n = nsteps > 0 && i < 4096 ? steps[i % nsteps] : size - at;
		if (n > size - at)
			n = size - at;
		if (n == 0) {
			reader_gap(r);
			*gap = true;
		}
		reader_feed(r, data + at, n);
		at += n;
	}
	reader_end(r, &result);
	expect_whole(&result);
	return result;
}

#define NOW INT64_C(1795377600000)

/* What is known of the service is known better, and never of a success. */
static void expect_completed(enum reader_kind kind, struct agent_result *r, int64_t code, const char *last_words)
{
	struct agent_ending ending = { kind, code, last_words, NOW, "UTC" };
	enum provider_result before = r->provider;

	free(agent_result_complete(r, &ending));
	expect(before == PROVIDER_OK || r->provider == before);
	expect(r->provider == PROVIDER_OK || r->is_error || kind == READER_TEXT);
	expect(!r->transient || r->provider == PROVIDER_ERROR);
	expect(r->reset_at == ROW_NONE || r->reset_at > NOW);
}

/* Fit for a terminal, whatever it was. */
static void expect_shown(enum reader_kind kind, const struct preview_tail *out, size_t lines)
{
	char **list = reader_preview(kind, out, &(struct preview_tail){ "err\n", 4, false }, lines);

	expect(strings_count(list) <= lines);
	for (size_t i = 0; list[i] != NULL; i++) {
		size_t characters = 0;

		expect(text_is_utf8(list[i], strlen(list[i])) && (i == 0 || strcmp(list[i], list[i - 1]) != 0));
		for (const char *p = list[i]; *p != '\0'; p++) {
			expect((unsigned char)*p >= 0x20 && *p != 0x7f);
			characters += ((unsigned char)*p & 0xc0) != 0x80;
		}
		expect(characters <= PREVIEW_CHARACTERS);
	}
	strings_free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* First byte: how many of the next ones are sizes of pieces. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t nsteps = size > 0 ? data[0] % 8u : 0;
	const uint8_t *steps = data + 1;
	const char *text;
	bool gap, no_gap;

	if (size < 1 + nsteps)
		return 0;
	text = (const char *)data + 1 + nsteps;
	size -= 1 + nsteps;
	for (int kind = 0; kind < READER_KINDS; kind++) {
		struct agent_result parts = read_in_steps((enum reader_kind)kind, text, size, steps, nsteps, &gap);
		struct agent_result whole = read_in_steps((enum reader_kind)kind, text, size, NULL, 0, &no_gap);

		if (kind == READER_TEXT)
			expect(whole.size == size && memcmp(whole.text, text, size) == 0 && parts.truncated == gap);
		if (kind == READER_CLAUDE && !whole.is_error)
			expect(memmem(text, size, "false", 5) != NULL);
		if (!gap) {
			expect(parts.size == whole.size && memcmp(parts.text, whole.text, whole.size) == 0);
			expect(parts.is_error == whole.is_error &&
			    parts.provider == whole.provider && parts.denials == whole.denials);
			expect(same_text(parts.session, whole.session) && same_text(parts.error, whole.error));
			expect(parts.tokens_input == whole.tokens_input && parts.tokens_output == whole.tokens_output);
			expect(parts.tool_errors == whole.tool_errors && parts.incomplete == whole.incomplete);
		}
		expect_completed((enum reader_kind)kind, &parts, (int64_t)nsteps * 29 + 1, parts.text);
		expect_completed((enum reader_kind)kind, &whole, ROW_NONE, NULL);
		for (int cut = 0; cut < 2; cut++)
			expect_shown((enum reader_kind)kind,
			    &(struct preview_tail){ text, size, cut == 1 }, 1 + nsteps);
		agent_result_release(&parts);
		agent_result_release(&whole);
	}
	return 0;
}
