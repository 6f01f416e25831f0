/* SPDX-License-Identifier: MIT */
#include "agent/refusal.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Statuses of a service, the narrow ones first. */
static const struct {
	int64_t lowest, highest;
	enum provider_result provider;
} statuses[] = {
	{ 401, 401, PROVIDER_AUTH },
	{ 402, 402, PROVIDER_LIMIT },		/* Copilot's "You have no quota" */
	{ 403, 403, PROVIDER_AUTH },
	{ 429, 429, PROVIDER_THROTTLED },
	{ 400, INT64_MAX, PROVIDER_ERROR },
};

/* The programs' own words for what has no status, or no telling one: in small letters, with straight apostrophes. The narrow
 * ones first. */
static const struct {
	const char *words;
	enum provider_result provider;
} phrases[] = {
	{ "you've hit a rate limit that restricts", PROVIDER_LIMIT },	/* Copilot: for hours */
	{ "limit · resets", PROVIDER_LIMIT },
	{ "you've hit your", PROVIDER_LIMIT },
	{ "usage limit reached", PROVIDER_LIMIT },
	{ "usage limit has been reached", PROVIDER_LIMIT },
	{ "usage_limit_reached", PROVIDER_LIMIT },
	{ "out of extra usage", PROVIDER_LIMIT },
	{ "you have no quota", PROVIDER_LIMIT },
	{ "quota_exceeded", PROVIDER_LIMIT },
	{ "quota exceeded", PROVIDER_LIMIT },
	{ "exceeded your current quota", PROVIDER_LIMIT },
	{ "exhausted your daily quota", PROVIDER_LIMIT },
	{ "exhausted your capacity", PROVIDER_LIMIT },
	{ "insufficient_quota", PROVIDER_LIMIT },
	{ "not logged in", PROVIDER_AUTH },
	{ "invalid api key", PROVIDER_AUTH },
	{ "incorrect api key", PROVIDER_AUTH },
	{ "invalid_api_key", PROVIDER_AUTH },
	{ "oauth token has expired", PROVIDER_AUTH },
	{ "resource_exhausted", PROVIDER_THROTTLED },
	{ "rate limit reached", PROVIDER_THROTTLED },
	{ "too many requests", PROVIDER_THROTTLED },
	{ "rate_limit", PROVIDER_THROTTLED },
};

/* What stands in front of a status in a sentence. */
static const char *const before_status[] = {
	"api error: ", "status ", "status: ", "status code ", "http ", "error: ", "\"code\":", "\"code\": ", "\"status\":", "\"status\": ",
};

static enum provider_result by_status(int64_t status)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		if (status >= statuses[i].lowest && status <= statuses[i].highest)
			return statuses[i].provider;
	}
	return PROVIDER_OK;
}

/* Small letters, and one apostrophe for all kinds of it. malloc'd. */
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

/* The number of three digits that stands here by itself, 0 for anything else. */
static int64_t number_at(const char *p)
{
	size_t n = strspn(p, "0123456789");

	return n == 3 && !isalpha((unsigned char)p[n]) ? strtol(p, NULL, 10) : 0;
}

/* The status that a sentence tells, 0: none. */
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

enum provider_result refusal_of(int64_t status, const char *words, enum provider_result otherwise)
{
	enum provider_result provider;
	char *said = plainly(words != NULL ? words : "");

	provider = by_status(status != 0 ? status : status_in(said));
	/* A number says less than words only where it may mean two things. */
	for (size_t i = 0; (provider == PROVIDER_OK || provider == PROVIDER_THROTTLED) && i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		if (strstr(said, phrases[i].words) == NULL)
			continue;
		provider = phrases[i].provider;
		break;
	}
	free(said);
	return provider != PROVIDER_OK ? provider : otherwise;
}
