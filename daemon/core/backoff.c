/* SPDX-License-Identifier: MIT */
#include "core/backoff.h"

#include "core/row.h"

#define FIRST_MS INT64_C(5000)
#define AGAIN_MIN_MS INT64_C(1000)

/* FNV-1a with its bits mixed, so that texts that differ only in the last letter get distant
 * hashes. */
static uint64_t hash(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	return h ^ (h >> 31);
}

/* Spread by up to a quarter in either direction. */
static int64_t spread(int64_t ms, const char *seed)
{
	int64_t quarter = ms / 4;

	return ms - quarter + (int64_t)(hash(seed) % (uint64_t)(2 * quarter + 1));
}

int64_t backoff_ms(int64_t n, const char *seed)
{
	int64_t ms = FIRST_MS;

	for (int64_t i = 1; i < n && ms < BACKOFF_MAX_MS; i++)
		ms *= 2;
	return spread(ms < BACKOFF_MAX_MS ? ms : BACKOFF_MAX_MS, seed);
}

int64_t backoff_again_ms(int64_t elapsed_ms, int64_t max_ms, const char *seed)
{
	return spread(elapsed_ms < AGAIN_MIN_MS ? AGAIN_MIN_MS : elapsed_ms > max_ms ? max_ms : elapsed_ms, seed);
}

int64_t backoff_until(int64_t now, int64_t n, int64_t reset_at, const char *seed)
{
	int64_t at = now + backoff_ms(n, seed);

	return reset_at != ROW_NONE && reset_at > at && reset_at <= now + BACKOFF_MAX_MS ? reset_at : at;
}
