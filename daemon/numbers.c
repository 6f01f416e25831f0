/* SPDX-License-Identifier: MIT */
#include "numbers.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "proto/memory.h"

/* No daemon gets this far. A planted directory beyond it would use up the numbers that JSON can
 * represent. */
#define NUMBER_MAX INT64_C(1000000000000)

/* The number in a name, 0: none. */
static int64_t number_of(const char *name)
{
	int64_t number;
	char *end;

	if (name[0] < '1' || name[0] > '9')
		return 0;
	errno = 0;
	number = strtoll(name, &end, 10);
	return errno == 0 && *end == '\0' && number <= NUMBER_MAX ? number : 0;
}

/* The highest number among the names in the directory, 0: none. */
static int64_t highest(const char *state_dir, const char *name)
{
	char *path = xasprintf("%s/%s", state_dir, name);
	DIR *dir = opendir(path);
	struct dirent *entry;
	int64_t max = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		int64_t number = number_of(entry->d_name);

		max = number > max ? number : max;
	}
	if (dir != NULL)
		closedir(dir);
	else if (errno != ENOENT)
		log_fatal("cannot read %s: %s", path, strerror(errno));
	free(path);
	return max;
}

char *numbers_raise(const char *state_dir, struct numbers *numbers)
{
	struct numbers there = { highest(state_dir, "runs"), highest(state_dir, "attempts") }, known = *numbers;

	if (there.run <= known.run && there.attempt <= known.attempt)
		return NULL;
	numbers->run = there.run > known.run ? there.run : known.run;
	numbers->attempt = there.attempt > known.attempt ? there.attempt : known.attempt;
	return xasprintf("%s contains attempts/%lld and runs/%lld, but rld.db ends at attempt %lld "
	    "and run %lld: it is an old copy, its rld.db-wal was lost, or another program created "
	    "the directories; new runs and attempts get higher numbers", state_dir,
	    (long long)there.attempt, (long long)there.run, (long long)known.attempt, (long long)known.run);
}
