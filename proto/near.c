/* SPDX-License-Identifier: MIT */
#include "proto/near.h"

#include <stdbool.h>
#include <string.h>

#define LONGEST 128

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t near_distance(const char *a, const char *b, size_t limit)
{
	size_t la = strlen(a), lb = strlen(b), rows[3][LONGEST], *before = rows[0], *last = rows[1], *row = rows[2];

	if (la >= LONGEST || lb >= LONGEST || (la > lb ? la - lb : lb - la) > limit)
		return limit + 1;
	for (size_t j = 0; j <= lb; j++)
		last[j] = before[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t *next = before;

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			row[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]), least(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = next;
	}
	return least(last[lb], limit + 1);
}

size_t near_limit(const char *word)
{
	return strlen(word) < 6 ? 1 : 2;
}

void near_offer(struct near *near, const char *name)
{
	size_t limit = near_limit(near->word), size = strlen(near->word), distance;
	bool begins = size > 1 && strncmp(name, near->word, size) == 0;

	distance = begins ? limit : near_distance(near->word, name, limit);

	if (distance > limit || (near->best != NULL && distance >= near->distance))
		return;
	near->best = name;
	near->distance = distance;
}
