/* SPDX-License-Identifier: MIT */
/* Any words as a notice of a service, at any time and place: what comes out is no time, or one that
 * can be waited for. Any words as a POSIX rule: clocks are within a week of UTC, and the moments of
 * a clock show it, but where it is left out.
 *
 * clang -g -O1 -std=gnu11 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -I. -Idaemon \
 *   $(pkg-config --cflags libbsd-overlay) -o fuzz-reset tests/fuzz/reset.c \
 *   daemon/agent/{reset,told}.c daemon/base/{zone,file,memory}.c \
 *   $(pkg-config --libs libbsd-overlay)
 * ./fuzz-reset -max_total_time=120 NEW tests/fuzz/corpus/reset
 */
#include <stdlib.h>
#include <string.h>

#include "agent/reset.h"
#include "base/zone.h"
#include "core/row.h"
#include "proto/memory.h"

#define DAY_MS (INT64_C(24) * 3600 * 1000)
#define WEEK INT64_C(604800)

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static const char *const places[] = { NULL, "UTC", "Europe/Berlin", "America/New_York",
    "Mars/Olympus", "CET-1CEST,M3.5.0,M10.5.0/3", "" };

static void try_words(const char *words, int64_t now, const char *zone)
{
	struct reset_place place = { now, zone, ZONE_DATABASE };
	char *doubt;
	int64_t at = reset_time(words, &place, &doubt);

	expect(at == ROW_NONE || (at > now && at <= now + 400 * DAY_MS));
	expect(at != ROW_NONE || doubt == NULL);
	free(doubt);
}

static void try_rule(const char *words, int64_t now)
{
	struct zone *zone = zone_open("/nowhere", words);
	int64_t wall = now / 1000, moments[2];

	if (zone == NULL)
		return;
	for (int i = 0; i < 400; i++, wall += 86400 + 1800) {
		zone_local_to_utc(zone, wall, moments);
		expect(llabs(moments[0] - wall) <= WEEK && llabs(moments[1] - wall) <= WEEK);
		for (int j = 0; j < 2; j++)
			expect(llabs(zone_offset(zone, moments[j])) <= WEEK);
	}
	zone_close(zone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Six bytes of time, one of place, words. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int64_t now = 0;
	char *words;

	if (size < 7)
		return 0;
	for (size_t i = 0; i < 6; i++)
		now = now << 8 | data[i];
	now &= INT64_C(0x3ffffffffff);
	words = xmemdup0(data + 7, size - 7);
	try_words(words, now, places[data[6] % (sizeof(places) / sizeof(places[0]))]);
	try_rule(words, now);
	free(words);
	return 0;
}
