/* SPDX-License-Identifier: MIT */
#include "job/disk_floor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "git/prepared_room.h"
#include "git/used_room.h"
#include "job/build.h"
#include "proto/memory.h"
#include "proto/units.h"

static char *shortage_at(const char *place, int64_t floor)
{
	char free_text[32], floor_text[32];
	struct statvfs fs;
	int64_t bytes;

	if (statvfs(place, &fs) == -1)
		return NULL;
	bytes = (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
	if (bytes >= floor)
		return NULL;
	size_format(bytes, free_text, sizeof(free_text));
	size_format(floor, floor_text, sizeof(floor_text));
	return xasprintf(FLOOR_REASON "%s free at %s, limits.disk_floor is %s", free_text, place, floor_text);
}

char *disk_shortage(const char *state_dir, const char *dir, int64_t floor)
{
	const char *const places[] = { state_dir, dir };
	char *reason = NULL;

	for (size_t i = 0; reason == NULL && i < sizeof(places) / sizeof(places[0]); i++) {
		bool rooms, prepared;

		reason = floor > 0 ? shortage_at(places[i], floor) : NULL;
		rooms = reason != NULL && used_rooms_remove(state_dir);
		prepared = reason != NULL && prepared_drop(state_dir);
		if (rooms || prepared) {
			free(reason);
			reason = shortage_at(places[i], floor);
		}
	}
	return reason;
}
