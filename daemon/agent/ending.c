/* SPDX-License-Identifier: MIT */
#include "agent/agent.h"

#include <stdlib.h>
#include <string.h>

#include "agent/refusal.h"
#include "agent/reset.h"
#include "base/zone.h"
#include "core/row.h"
#include "proto/memory.h"

/* Gemini CLI exits with the status of its service, of which eight bits remain: 401 is 145, 413 is
 * 157. Below the first of them are codes of its own, and those of a shell for signals up to 15. */
#define STATUS_BITS 256
#define STATUS_FIRST (400 - STATUS_BITS)

/* Exit codes with a meaning of their own. */
static const struct {
	enum reader_kind reader;
	int64_t code, status;		/* the equivalent HTTP status */
} codes[] = {
	{ READER_GEMINI, 41, 401 },	/* FatalAuthenticationError */
};

/* HTTP status of the service in an exit code, 0: none. */
static int64_t status_of(enum reader_kind reader, int64_t code)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (codes[i].reader == reader && codes[i].code == code)
			return codes[i].status;
	}
	return reader == READER_GEMINI && code >= STATUS_FIRST && code < STATUS_BITS ? code + STATUS_BITS : 0;
}

#define LAST_WORDS_MAX 300

/* The line that ends before *end, which moves to its beginning; trailing blanks are omitted. Only
 * its end if it is long. malloc'd. */
static char *line_before(const char *text, const char **end)
{
	const char *start = *end, *stop = *end;

	while (start > text && start[-1] != '\n')
		start--;
	while (stop > start && strchr(" \t\r\n", stop[-1]) != NULL)
		stop--;
	*end = start;
	return xmemdup0(stop - start > LAST_WORDS_MAX ? stop - LAST_WORDS_MAX : start,
	    stop - start > LAST_WORDS_MAX ? LAST_WORDS_MAX : (size_t)(stop - start));
}

char *agent_last_words(enum reader_kind reader, const char *text, size_t size)
{
	char *last = NULL;

	for (const char *end = text + size; end > text; end -= end > text) {
		char *line = line_before(text, &end);

		if (last != NULL && refusal_is_said(line, PROVIDER_AUTH)) {
			free(last);
			return line;
		}
		if (last != NULL || line[0] == '\0') {
			free(line);
			continue;
		}
		last = line;
		/* output of an unknown program may come from its tools */
		if (reader == READER_TEXT || refusal_is_said(last, PROVIDER_AUTH))
			break;
	}
	return last;
}

/* For a failure that the output does not explain: stderr counts if there is nothing else. */
static void ending_conclude(struct agent_result *result, const struct agent_ending *ending)
{
	bool mute = result->incomplete || ending->reader == READER_TEXT;
	int64_t status = status_of(ending->reader, ending->exit_code);
	struct refusal refusal;

	if (mute && result->notice == NULL)
		result->notice = xstrdup(ending->last_words);
	refusal = refusal_of(status, mute ? result->notice : result->error, PROVIDER_OK);
	/* in an unknown program anything may have failed */
	if (ending->reader == READER_TEXT && refusal.provider == PROVIDER_ERROR)
		return;
	result->provider = refusal.provider;
	result->transient = refusal.transient;
}

char *agent_result_complete(struct agent_result *result, const struct agent_ending *ending)
{
	struct reset_place place = { ending->at, ending->zone, ZONE_DATABASE };
	bool failed = ending->exit_code != ROW_NONE && ending->exit_code != 0 &&
	    (result->is_error || ending->reader == READER_TEXT);
	char *doubt = NULL;

	if (result->provider == PROVIDER_OK && failed)
		ending_conclude(result, ending);
	if (result->reset_at != ROW_NONE)
		result->reset_at = reset_epoch(result->reset_at, ending->at);
	if (result->provider != PROVIDER_LIMIT && result->provider != PROVIDER_THROTTLED && !result->transient)
		return NULL;
	if (result->reset_at == ROW_NONE && result->notice != NULL)
		result->reset_at = reset_time(result->notice, &place, &doubt);
	return doubt;
}
