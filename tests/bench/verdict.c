/* SPDX-License-Identifier: MIT */
/* verdict SHAPE ROUNDS KIB: reads a verdict from so many KiB of that shape, and their SHA-256 by
 * libmd, in turn. Prints the megabytes of both per second of processor time, a line "A B" for each
 * round; without arguments the names of the shapes. */
#include <err.h>
#include <md5.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/profile.h"
#include "verdict/verdict.h"

#define END "\n{\"verdict\": \"pass\", \"followUpPrompt\": \"read it\"}\n"

static const struct shape {
	const char *name;
	enum carrier carrier;
	const char *part;		/* repeated */
	const char *end;
} shapes[] = {
	{ "prose", CARRIER_VERDICT, "I looked at every file, and ran all of the tests.\n", END },
	{ "braces", CARRIER_VERDICT, "{", END },
	{ "open lists", CARRIER_VERDICT, "[{", END },
	{ "quotes", CARRIER_VERDICT, "{\"", END },
	{ "fences", CARRIER_VERDICT, "```json\n{\n```\n", END },
	{ "small objects", CARRIER_VERDICT, "{\"a\": 1}\n", END },
	{ "other verdicts", CARRIER_VERDICT, END, END },
	{ "escapes", CARRIER_VERDICT, "{\"a\": \"\\\\\\\"", END },
	{ "decision", CARRIER_DECISION, "{\"decision\": ", "{\"decision\": \"GO\", \"feedback\": \"\"}" },
	{ "file, items", CARRIER_FILE, "- [ ] src/a.c:12 high: this is wrong\n", "" },
	{ "file, lists", CARRIER_FILE, "- - - - - - -\n", "" },
	{ "file, prose", CARRIER_FILE, "It is wrong, and this is why.\n", "" },
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double megabytes(size_t size, double begin)
{
	return (double)size / 1e6 / (now() - begin);
}

static double read_rate(const struct shape *shape, const char *text, size_t size)
{
	bool file = shape->carrier == CARRIER_FILE;
	const struct verdict_input in = {
		.text = file ? "done" : text,
		.text_size = file ? 4 : size,
		.file = file ? text : NULL,
		.file_size = file ? size : 0,
	};
	struct verdict verdict = { 0 };
	double begin = now(), rate;

	verdict_read(shape->carrier, &in, &verdict);
	rate = megabytes(size, begin);
	verdict_release(&verdict);
	return rate;
}

static double hash_rate(const char *text, size_t size)
{
	char hex[SHA256_DIGEST_STRING_LENGTH];
	double begin = now();

	SHA256Data((const uint8_t *)text, size, hex);
	return megabytes(size, begin);
}

static void measure(const struct shape *shape, long rounds, size_t room)
{
	size_t part = strlen(shape->part), size = 0;
	char *text = malloc(room + 1);

	if (text == NULL)
		err(1, "malloc");
	for (; size + part + strlen(shape->end) <= room; size += part)
		memcpy(text + size, shape->part, part);
	memcpy(text + size, shape->end, strlen(shape->end) + 1);
	size += strlen(shape->end);
	for (; rounds > 0; rounds--) {
		double rate = read_rate(shape, text, size);

		printf("%.2f %.2f\n", rate, hash_rate(text, size));
	}
	free(text);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (argc == 1)
			puts(shapes[i].name);
		else if (argc == 4 && strcmp(argv[1], shapes[i].name) == 0)
			measure(&shapes[i], strtol(argv[2], NULL, 10), (size_t)strtol(argv[3], NULL, 10) << 10);
	}
	return 0;
}
