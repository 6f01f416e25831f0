/* SPDX-License-Identifier: MIT */
#include "agent/refusal.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"

/* HTTP statuses of a service, specific ones first. */
static const struct {
	int64_t lowest, highest;
	struct refusal is;
} statuses[] = {
	{ 401, 401, { PROVIDER_AUTH, false } },
	{ 402, 402, { PROVIDER_LIMIT, false } },	/* Copilot's "You have no quota" */
	{ 403, 403, { PROVIDER_AUTH, false } },
	{ 408, 408, { PROVIDER_ERROR, true } },
	{ 425, 425, { PROVIDER_ERROR, true } },
	{ 429, 429, { PROVIDER_THROTTLED, false } },
	{ 501, 501, { PROVIDER_ERROR, false } },
	{ 505, 505, { PROVIDER_ERROR, false } },
	{ 500, 599, { PROVIDER_ERROR, true } },		/* 529: overloaded */
	{ 400, INT64_MAX, { PROVIDER_ERROR, false } },
};

/* Messages of the programs without a status, or with an ambiguous one: in lower case, with straight
 * apostrophes. Specific ones first. */
static const struct {
	const char *words;
	enum provider_result provider;
	/* OF_SERVICE: only if the service is known to have failed */
	enum { ANYWHERE, OF_SERVICE } where;
} phrases[] = {
	/* Copilot: for hours */
	{ "you've hit a rate limit that restricts", PROVIDER_LIMIT, ANYWHERE },
	{ "limit · resets", PROVIDER_LIMIT, ANYWHERE },
	{ "limit ∙ resets", PROVIDER_LIMIT, ANYWHERE },
	{ "limit reached · resets", PROVIDER_LIMIT, ANYWHERE },
	{ "limit reached ∙ resets", PROVIDER_LIMIT, ANYWHERE },
	{ "you've hit your", PROVIDER_LIMIT, ANYWHERE },
	{ "you've reached your", PROVIDER_LIMIT, ANYWHERE },
	{ "you have hit your", PROVIDER_LIMIT, ANYWHERE },
	/* Ollama: "you (name) have ..." */
	{ "have reached your session usage", PROVIDER_LIMIT, ANYWHERE },
	{ "weekly rate limit", PROVIDER_LIMIT, ANYWHERE },
	{ "user_weekly_rate_limited", PROVIDER_LIMIT, ANYWHERE },		/* Copilot */
	/* Z.ai: "Weekly/Monthly Limit Exhausted" */
	{ "limit exhausted", PROVIDER_LIMIT, ANYWHERE },
	/* the same service in China: the upper limit of use */
	{ "使用上限", PROVIDER_LIMIT, ANYWHERE },
	/* of an API key, with status 400 */
	{ "you have reached your specified", PROVIDER_LIMIT, ANYWHERE },
	{ "you hit your spend cap", PROVIDER_LIMIT, ANYWHERE },
	{ "workspace is out of credits", PROVIDER_LIMIT, ANYWHERE },
	{ "usage limit reached", PROVIDER_LIMIT, ANYWHERE },
	{ "usage limit has been reached", PROVIDER_LIMIT, ANYWHERE },
	{ "usage_limit_reached", PROVIDER_LIMIT, ANYWHERE },
	{ "-hour limit reached", PROVIDER_LIMIT, ANYWHERE },
	{ "session limit reached", PROVIDER_LIMIT, ANYWHERE },
	{ "weekly limit reached", PROVIDER_LIMIT, ANYWHERE },
	{ "out of extra usage", PROVIDER_LIMIT, ANYWHERE },
	{ "credit balance is too low", PROVIDER_LIMIT, ANYWHERE },
	{ "you have no quota", PROVIDER_LIMIT, ANYWHERE },
	{ "quota_exceeded", PROVIDER_LIMIT, ANYWHERE },
	{ "quota exceeded", PROVIDER_LIMIT, ANYWHERE },
	{ "exceeded your current quota", PROVIDER_LIMIT, ANYWHERE },
	{ "exhausted your daily quota", PROVIDER_LIMIT, ANYWHERE },
	{ "exhausted your capacity", PROVIDER_LIMIT, ANYWHERE },
	{ "insufficient_quota", PROVIDER_LIMIT, ANYWHERE },
	{ "not logged in", PROVIDER_AUTH, ANYWHERE },
	{ "please run /login", PROVIDER_AUTH, ANYWHERE },
	{ "invalid api key", PROVIDER_AUTH, ANYWHERE },
	{ "incorrect api key", PROVIDER_AUTH, ANYWHERE },
	{ "api key not valid", PROVIDER_AUTH, ANYWHERE },
	{ "no api key found", PROVIDER_AUTH, ANYWHERE },
	{ "invalid_api_key", PROVIDER_AUTH, ANYWHERE },
	{ "authentication_error", PROVIDER_AUTH, ANYWHERE },
	{ "no authentication information", PROVIDER_AUTH, ANYWHERE },
	{ "please set an auth method", PROVIDER_AUTH, ANYWHERE },
	{ "no auth type is selected", PROVIDER_AUTH, ANYWHERE },		/* Qwen Code */
	{ "missing api key for", PROVIDER_AUTH, ANYWHERE },			/* Qwen Code */
	{ "oauth token has expired", PROVIDER_AUTH, ANYWHERE },
	{ "access token could not be refreshed", PROVIDER_AUTH, ANYWHERE },
	/* Qwen Code: another login is needed */
	{ "free tier has been discontinued", PROVIDER_AUTH, ANYWHERE },
	{ "free tier was discontinued", PROVIDER_AUTH, ANYWHERE },
	{ "resource_exhausted", PROVIDER_THROTTLED, ANYWHERE },
	{ "rate limit reached", PROVIDER_THROTTLED, ANYWHERE },
	{ "rate limit exceeded", PROVIDER_THROTTLED, ANYWHERE },
	{ "rate-limited", PROVIDER_THROTTLED, ANYWHERE },
	{ "too many requests", PROVIDER_THROTTLED, ANYWHERE },
	{ "rate_limit", PROVIDER_THROTTLED, ANYWHERE },
	/* all of these are temporary */
	/* Codex, for every 5xx */
	{ "currently experiencing high demand", PROVIDER_ERROR, ANYWHERE },
	{ "selected model is at capacity", PROVIDER_ERROR, ANYWHERE },
	{ "overloaded", PROVIDER_ERROR, ANYWHERE },
	{ "internal server error", PROVIDER_ERROR, ANYWHERE },
	{ "service unavailable", PROVIDER_ERROR, ANYWHERE },
	{ "temporarily unavailable", PROVIDER_ERROR, ANYWHERE },
	{ "bad gateway", PROVIDER_ERROR, ANYWHERE },
	{ "gateway timeout", PROVIDER_ERROR, ANYWHERE },
	{ "request timed out", PROVIDER_ERROR, ANYWHERE },
	{ "api error: connection", PROVIDER_ERROR, ANYWHERE },
	{ "fetch failed", PROVIDER_ERROR, ANYWHERE },
	{ "socket hang up", PROVIDER_ERROR, ANYWHERE },
	{ "econnreset", PROVIDER_ERROR, ANYWHERE },
	{ "econnrefused", PROVIDER_ERROR, ANYWHERE },
	{ "etimedout", PROVIDER_ERROR, ANYWHERE },
	{ "eai_again", PROVIDER_ERROR, ANYWHERE },
	{ "stream disconnected", PROVIDER_ERROR, ANYWHERE },
	{ "error sending request", PROVIDER_ERROR, ANYWHERE },
	{ "error while reading the server response", PROVIDER_ERROR, ANYWHERE },
	{ "connection error", PROVIDER_ERROR, OF_SERVICE },
	{ "connection reset", PROVIDER_ERROR, OF_SERVICE },
	{ "connection closed", PROVIDER_ERROR, OF_SERVICE },
	{ "connection refused", PROVIDER_ERROR, OF_SERVICE },
	{ "network error", PROVIDER_ERROR, OF_SERVICE },
	{ "network connection lost", PROVIDER_ERROR, OF_SERVICE },
	{ "premature close", PROVIDER_ERROR, OF_SERVICE },
	{ "stream closed", PROVIDER_ERROR, OF_SERVICE },
	{ "stream ended", PROVIDER_ERROR, OF_SERVICE },
	/* Copilot, when the stream is cut off */
	{ "error decoding response body", PROVIDER_ERROR, OF_SERVICE },
	{ "unexpected eof", PROVIDER_ERROR, OF_SERVICE },
	/* Qwen Code and pi, when the stream is cut off */
	{ "terminated", PROVIDER_ERROR, OF_SERVICE },
	{ "server had an error", PROVIDER_ERROR, OF_SERVICE },
	{ "server_error", PROVIDER_ERROR, OF_SERVICE },
	{ "timed out", PROVIDER_ERROR, OF_SERVICE },
	{ "timeout", PROVIDER_ERROR, OF_SERVICE },
};

/* What may precede a status in a sentence. */
static const char *const before_status[] = {
	"api error: ", "request rejected (", "status ", "status: ", "status code ", "http ",
	"error: ", "\"code\":", "\"code\": ", "\"status\":", "\"status\": ",
};

static struct refusal by_status(int64_t status)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		if (status >= statuses[i].lowest && status <= statuses[i].highest)
			return statuses[i].is;
	}
	return (struct refusal){ PROVIDER_OK, false };
}

/* Lower case, with one kind of apostrophe. malloc'd. */
static char *plainly(const char *words)
{
	static const char typographic[] = "\xe2\x80\x99";
	struct buf b = { 0 };

	while (*words != '\0') {
		bool apostrophe = strncmp(words, typographic, sizeof(typographic) - 1) == 0;
		char c = apostrophe ? '\'' : (char)tolower((unsigned char)*words);

		buf_add(&b, &c, 1);
		words += apostrophe ? sizeof(typographic) - 1 : 1;
	}
	return buf_take(&b, NULL);
}

/* A separate three-digit number at p, otherwise 0. */
static int64_t number_at(const char *p)
{
	size_t n = strspn(p, "0123456789");

	return n == 3 && !isalpha((unsigned char)p[n]) ? strtol(p, NULL, 10) : 0;
}

/* The status in a sentence, 0: none. */
static int64_t status_in(const char *words)
{
	int64_t status = number_at(words);

	for (size_t i = 0; i < sizeof(before_status) / sizeof(before_status[0]); i++) {
		for (const char *p = words; status < 400 && (p = strstr(p, before_status[i])) != NULL;) {
			p += strlen(before_status[i]);
			status = number_at(p);
		}
	}
	return status;
}

/* Words override a number only where it is ambiguous: 400 also means an unpaid account. */
static bool may_say_more(int64_t status, struct refusal is, enum provider_result provider)
{
	if (status == 400)
		return provider == PROVIDER_LIMIT;
	return is.provider == PROVIDER_OK || (is.provider == PROVIDER_THROTTLED && provider != PROVIDER_ERROR);
}

struct refusal refusal_of(int64_t status, const char *words, enum provider_result otherwise)
{
	char *said = plainly(words != NULL ? words : "");
	struct refusal is;

	if (status == 0)
		status = status_in(said);
	is = by_status(status);
	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		if (!may_say_more(status, is, phrases[i].provider) ||
		    (phrases[i].where == OF_SERVICE && otherwise != PROVIDER_ERROR))
			continue;
		if (strstr(said, phrases[i].words) == NULL)
			continue;
		is = (struct refusal){ phrases[i].provider, phrases[i].provider == PROVIDER_ERROR };
		break;
	}
	free(said);
	return is.provider != PROVIDER_OK ? is : (struct refusal){ otherwise, false };
}

bool refusal_is_said(const char *words, enum provider_result provider)
{
	char *said = plainly(words);
	bool found = false;

	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]) && !found; i++)
		found = phrases[i].provider == provider && phrases[i].where == ANYWHERE &&
		    strstr(said, phrases[i].words) != NULL;
	free(said);
	return found;
}
