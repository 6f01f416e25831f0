/* SPDX-License-Identifier: MIT */
#include "base/patch_note.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* Every byte that a file name may have, alone and between others, comes back as it was. */
START_TEST(names_come_back)
{
	for (int c = 1; c < 256; c++) {
		char name[4] = { 'a', (char)c, '7', '\0' };
		struct patch_note note;
		struct buf text = { 0 };

		patch_note_add(&text, &(struct patch_note){ name, (c & 1) != 0, (uint64_t)c, UINT64_MAX });
		ck_assert_ptr_eq(memchr(text.data, '\n', text.size), text.data + text.size - 1);
		ck_assert(patch_note_read(text.data, text.size, &note));
		ck_assert_str_eq(note.file, name);
		ck_assert(note.binary == ((c & 1) != 0));
		ck_assert_uint_eq(note.was, (uint64_t)c);
		ck_assert_uint_eq(note.now, UINT64_MAX);
		free(note.file);
		buf_release(&text);
	}
}
END_TEST

START_TEST(what_is_no_note)
{
	static const char *const lines[] = {
		"", "\n", "diff --git a/x b/x", "Not in this diff", "Not in this diff (",
		"Not in this diff (binary, x bytes before, 1 bytes now): a",
		"+Not in this diff (binary, 1 bytes before, 1 bytes now): a",
		"Not in this diff (binary, 1 bytes before, 1 bytes now)",
	};
	struct patch_note note;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		size_t size = strlen(lines[i]);
		char *exact = malloc(size + 1);

		memcpy(exact, lines[i], size);
		exact = realloc(exact, size > 0 ? size : 1);
		ck_assert_msg(!patch_note_read(exact, size, &note), "%s", lines[i]);
		free(exact);
	}
}
END_TEST

/* A name in quotes ends with them; one that is cut ends with what is there. */
START_TEST(names_in_quotes)
{
	static const struct { const char *text, *name; size_t size; } names[] = {
		{ "plain name", "plain name", 10 }, { "\"a\" b", "a", 3 },
		{ "\"a\\tb\\\"\\\\\\303\\244\"x", "a\tb\"\\\xc3\xa4", 18 },
		{ "\"cut", "cut", 4 }, { "\"cut\\", "cut", 5 }, { "\"\\30", "30", 4 }, { "\"", "", 1 }, { "", "", 0 },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t size = strlen(names[i].text);
		char *exact = malloc(size + 1), *name;

		memcpy(exact, names[i].text, size);
		exact = realloc(exact, size > 0 ? size : 1);
		name = patch_name_read(exact, &size);
		ck_assert_str_eq(name, names[i].name);
		ck_assert_uint_eq(size, names[i].size);
		free(name);
		free(exact);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { names_come_back, what_is_no_note, names_in_quotes };

	return RUN_SUITE("patch_note", tests);
}
