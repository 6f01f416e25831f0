/* SPDX-License-Identifier: MIT */
/* Every transcript of tests/data/verdicts is read as it should be: no hostile one as a pass, and of
 * the benign ones at most one stays unread. The form of the files is described in their README. */
#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"
#include "verdict/verdict.h"

#define DATA "tests/data/verdicts/"
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
enum { LEAST = 200, UNREAD_MOST = 1 };

/* The words of the carriers that are an object in a text, for the placeholders. */
struct dialect {
	const char *key, *words_key, *pass, *findings;
};

static const struct dialect verdict = { "verdict", "followUpPrompt", "pass", "drift" };
static const struct dialect decision = { "decision", "feedback", "GO", "NO_GO" };

static const struct {
	const char *name;
	enum carrier carrier;
	int64_t status;
	const struct dialect *dialect;
} carriers[] = {
	{ "verdict", CARRIER_VERDICT, 0, &verdict },
	{ "decision", CARRIER_DECISION, 0, &decision },
	{ "both", CARRIER_VERDICT, 0, &verdict },
	{ "both", CARRIER_DECISION, 0, &decision },
	{ "file", CARRIER_FILE, 0, NULL },
	{ "comments", CARRIER_COMMENTS, 0, NULL },
	{ "exit0", CARRIER_EXIT, 0, NULL },
	{ "exit1", CARRIER_EXIT, 1, NULL },
};

static const char *const kinds[] = { [VERDICT_NONE] = "none", [VERDICT_PASS] = "pass",
    [VERDICT_FINDINGS] = "findings" };

struct tally {
	size_t cases, readings;
	size_t passes;		/* ... that are to be read as a pass */
	size_t false_passes;	/* read as a pass, and is none */
	size_t unread;		/* no verdict where there is one */
	size_t misread;		/* any other reading than the one named */
};

static char *read_whole(const char *name)
{
	char *path = xasprintf(DATA "%s", name), block[4096];
	FILE *file = fopen(path, "re");
	struct buf b = { 0 };
	size_t n;

	ck_assert_msg(file != NULL, "%s: not found; run the test in the top directory", path);
	while ((n = fread(block, 1, sizeof(block), file)) > 0)
		buf_add(&b, block, n);
	fclose(file);
	free(path);
	return buf_take(&b, NULL);
}

static void add_object(struct buf *out, const struct dialect *d, const char *word, const char *words)
{
	buf_addf(out, "{\"%s\":\"%s\",\"%s\":\"%s\"}", d->key, word, d->words_key, words);
}

/* Add what the placeholder at p stands for; its length, 0 when it is none. */
static size_t add_placeholder(struct buf *out, const char *p, size_t left, const struct dialect *d)
{
	static const char *const names[] = { "@P@", "@D@", "@K@", "@W@", "@ok@", "@no@", "@R@" };
	size_t i;

	for (i = 0; i < COUNT(names); i++) {
		if (strlen(names[i]) <= left && strncmp(p, names[i], strlen(names[i])) == 0)
			break;
	}
	if (d == NULL || i == COUNT(names))
		return 0;
	switch (i) {
	case 0: add_object(out, d, d->pass, "ok"); break;
	case 1: add_object(out, d, d->findings, "mend it"); break;
	case 2: buf_adds(out, d->key); break;
	case 3: buf_adds(out, d->words_key); break;
	case 4: buf_adds(out, d->pass); break;
	case 5: buf_adds(out, d->findings); break;
	default:
		buf_adds(out, "- When it does not: `");
		add_object(out, d, d->findings, "all findings");
		buf_adds(out, "`\n- When it does: `");
		add_object(out, d, d->pass, "what you checked");
		buf_adds(out, "`");
		break;
	}
	return strlen(names[i]);
}

/* <<1b 5b>> or <<300*text>> at p: the same. */
static size_t add_bytes(struct buf *out, const char *p, size_t left, const struct dialect *d)
{
	const char *end = left > 4 && strncmp(p, "<<", 2) == 0 ? memmem(p + 2, left - 2, ">>", 2) : NULL;
	char *rest;
	unsigned long n;

	if (end == NULL || !isxdigit((unsigned char)p[2]))
		return 0;
	n = strtoul(p + 2, &rest, 10);
	if (*rest == '*') {
		struct buf unit = { 0 };

		for (const char *q = rest + 1; q < end; q++) {
			size_t used = add_placeholder(&unit, q, (size_t)(end - q), d);

			if (used > 0)
				q += used - 1;
			else if (q[0] == '\\' && q[1] == 'n')
				buf_add(&unit, "\n", 1), q++;
			else
				buf_add(&unit, q, 1);
		}
		while (n-- > 0)
			buf_add(out, unit.data, unit.size);
		buf_release(&unit);
	} else {
		for (const char *q = p + 2; q < end; q = rest) {
			char c = (char)strtoul(q, &rest, 16);

			ck_assert_msg(rest > q && rest - q <= 3 && rest <= end, "no bytes: %.*s", (int)(end - p), p);
			buf_add(out, &c, 1);
		}
	}
	return (size_t)(end + 2 - p);
}

static struct buf fill(const char *text, size_t size, const struct dialect *d)
{
	struct buf out = { 0 };

	buf_add(&out, "", 0);
	for (size_t i = 0, used; i < size; i += used) {
		used = add_placeholder(&out, text + i, size - i, d);
		if (used == 0)
			used = add_bytes(&out, text + i, size - i, d);
		if (used == 0) {
			buf_add(&out, text + i, 1);
			used = 1;
		}
	}
	return out;
}

/* The text that is read, in a piece of memory of exactly its size. */
static char *exact(struct buf *b)
{
	char *copy = malloc(b->size > 0 ? b->size : 1);

	memcpy(copy, b->data, b->size);
	buf_release(b);
	return copy;
}

static enum verdict_kind read_case(const char *body, size_t size, size_t row, const char *name)
{
	const char *mark = memmem(body, size, "-- file\n", 8);
	size_t head = mark == NULL || (mark > body && mark[-1] != '\n') ? size : (size_t)(mark - body);
	size_t cut = head < size ? head + 8 : size;
	size_t text_end = head < size && head > 0 ? head - 1 : head;
	struct buf text = fill(body, text_end, carriers[row].dialect),
	    file = fill(body + cut, size - cut, carriers[row].dialect);
	struct verdict_input in = { .text_size = text.size, .file_size = file.size, .status = carriers[row].status };
	char *t = exact(&text), *f = exact(&file);
	struct verdict v;
	enum verdict_kind kind;

	in.text = t;
	in.file = head < size ? f : NULL;
	verdict_read(carriers[row].carrier, &in, &v);
	kind = v.kind;
	ck_assert_msg((v.reason == NULL) == (kind != VERDICT_NONE), "%s: reason", name);
	ck_assert_msg(kind != VERDICT_FINDINGS || v.nfindings > 0, "%s: no finding", name);
	verdict_release(&v);
	free(t);
	free(f);
	return kind;
}

static enum verdict_kind kind_of(const char *word, size_t size)
{
	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (strlen(kinds[i]) == size && strncmp(kinds[i], word, size) == 0)
			return (enum verdict_kind)i;
	}
	ck_abort_msg("no reading: %.*s", (int)size, word);
}

static void count_case(struct tally *t, const char *header, const char *body, size_t size)
{
	const char *reading = strchr(header, ' ') + 1;
	const char *name = strchr(reading, ':');
	enum verdict_kind expected = kind_of(reading, (size_t)(name - reading));
	size_t before = t->readings;

	t->cases++;
	t->passes += expected == VERDICT_PASS;
	for (size_t row = 0; row < COUNT(carriers); row++) {
		enum verdict_kind kind;

		if (strncmp(carriers[row].name, header, (size_t)(reading - 1 - header)) != 0 ||
		    carriers[row].name[reading - 1 - header] != '\0')
			continue;
		kind = read_case(body, size, row, name);
		t->readings++;
		t->false_passes += kind == VERDICT_PASS && expected != VERDICT_PASS;
		if (kind == expected)
			continue;
		if (kind == VERDICT_NONE)
			t->unread++;
		else
			t->misread++;
		printf("read as %s: %.*s\n", kinds[kind], (int)strcspn(header, "\n"), header);
	}
	ck_assert_msg(t->readings > before, "no carrier: %.*s", (int)strcspn(header, "\n"), header);
}

static struct tally count_file(const char *name, struct tally t)
{
	char *text = read_whole(name), *header = text, *body, *next;

	if (strncmp(header, "== ", 3) != 0)
		header = strstr(text, "\n== ") + 1;
	for (; header != NULL; header = next != NULL ? next + 1 : NULL) {
		body = strchr(header, '\n') + 1;
		next = strstr(body - 1, "\n== ");
		/* the last line end is not part of it, and a case without lines is empty */
		if (next == NULL)
			count_case(&t, header + 3, body, strlen(body) - 1);
		else
			count_case(&t, header + 3, body, next > body ? (size_t)(next - body) : 0);
	}
	free(text);
	return t;
}

static struct tally count(const char *what)
{
	static const char *const files[] = { "text", "other" };
	struct tally t = { 0 };

	for (size_t i = 0; i < COUNT(files); i++) {
		char *name = xasprintf("%s-%s.txt", what, files[i]);

		t = count_file(name, t);
		free(name);
	}
	printf("%s: %zu transcripts, %zu readings, %zu false passes, %zu unread, %zu misread\n",
	    what, t.cases, t.readings, t.false_passes, t.unread, t.misread);
	fflush(stdout);
	return t;
}

START_TEST(hostile)
{
	struct tally t = count("hostile");

	ck_assert_uint_ge(t.cases, LEAST);
	ck_assert_uint_eq(t.passes, 0);
	ck_assert_uint_eq(t.false_passes, 0);
	ck_assert_uint_eq(t.unread, 0);
	ck_assert_uint_eq(t.misread, 0);
}
END_TEST

START_TEST(benign)
{
	struct tally t = count("benign");

	ck_assert_uint_ge(t.cases, LEAST);
	ck_assert_uint_eq(t.false_passes, 0);
	ck_assert_uint_le(t.unread, UNREAD_MOST);
	ck_assert_uint_eq(t.misread, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verdict_corpus");
	TCase *tcase = tcase_create("verdict_corpus");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, hostile);
	tcase_add_test(tcase, benign);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
