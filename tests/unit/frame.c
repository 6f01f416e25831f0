/* SPDX-License-Identifier: MIT */
/* Frames: both framings, fed whole and byte by byte, at their limits and broken. */
#include "proto/frame.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"

/* What came of a stream, as text: "[doc][doc]!long". */
static char *read_all(const char *stream, size_t size, size_t step, size_t max, bool eof)
{
	struct frame_reader *r = frame_reader_new(max);
	struct buf b = { 0 };
	const char *data;
	size_t n;

	buf_adds(&b, "");
	for (size_t at = 0; at <= size; at += step) {
		enum frame_result rv;

		if (at < size)
			frame_feed(r, stream + at, size - at < step ? size - at : step);
		if (at + step > size && eof)
			frame_eof(r);
		while ((rv = frame_next(r, &data, &n)) == FRAME_READY) {
			buf_adds(&b, "[");
			buf_add(&b, data, n);
			buf_adds(&b, "]");
		}
		if (rv != FRAME_NONE) {
			buf_adds(&b, rv == FRAME_TOO_LONG ? "!long" : rv == FRAME_HTTP ? "!http" : "!header");
			ck_assert_int_eq(frame_next(r, &data, &n), rv);
			break;
		}
	}
	if (frame_partial(r))
		buf_adds(&b, "+");
	frame_reader_free(r);
	return buf_take(&b, NULL);
}

static const struct {
	const char *stream;
	bool eof;
	const char *out;
} rows[] = {
	{ "{}\n", false, "[{}]" },
	{ "{}\n[]\n", false, "[{}][[]]" },
	{ "{}", false, "+" },
	{ "{}", true, "[{}]" },
	{ "", true, "" },
	{ "\n\r\n \t\n{}\n\n", false, "[{}]" },
	{ "{}\r\n", false, "[{}\r]" },
	{ "  ", true, "" },
	{ "0123456789\n", false, "[0123456789]" },
	{ "01234567890\n", false, "!long" },
	{ "0123456789", true, "[0123456789]" },
	{ "01234567890", false, "!long" },
	{ "{}\n01234567890", false, "[{}]!long" },
	{ "Content-Length: 2\r\n\r\n{}", false, "[{}]" },
	{ "content-length:2\r\n\r\n{}Content-Length: 3\r\n\r\n[1]", false, "[{}][[1]]" },
	{ "Content-Length: 2\n\n{}", false, "[{}]" },
	{ "Content-Type: x; y=z\r\nContent-Length: 2\r\n\r\n{}", false, "[{}]" },
	{ "CONTENT-LENGTH: \t 2 \t\r\n\r\n{}", false, "[{}]" },
	{ "Content-Length: 0\r\n\r\n", false, "[]" },
	{ "Content-Length: 10\r\n\r\n0123456789", false, "[0123456789]" },
	{ "Content-Length: 11\r\n\r\n", false, "!long" },
	{ "Content-Length: 999999999999\r\n\r\n", false, "!long" },
	{ "Content-Length: 9999999999999999\r\n\r\n", false, "!header" },
	{ "Content-Length: 2\r\n\r\n{", false, "+" },
	{ "Content-Length: 2\r\n\r\n{", true, "!header" },
	{ "Content-Length: 2\r\n", false, "+" },
	{ "Content-Length: 2\r\n", true, "!header" },
	{ "Content-Length: -2\r\n\r\n{}", false, "!header" },
	{ "Content-Length: 2x\r\n\r\n{}", false, "!header" },
	{ "Content-Length: \r\n\r\n{}", false, "!header" },
	{ "Content-Length\r\n\r\n{}", false, "!header" },
	{ "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", false, "!header" },
	{ "Content-Type: x\r\n\r\n{}", false, "!header" },
	{ "C\r\n", false, "!header" },
};

#define BOM "\xef\xbb\xbf"

/* What comes first on a connection, with lines as long as they are in life. */
static const struct {
	const char *stream;
	bool eof;
	const char *out;
} beginnings[] = {
	{ "POST / HTTP/1.1\r\nHost: x\r\n\r\n{}\n", false, "!http" },
	{ "GET / HTTP/1.1\n", false, "!http" },
	{ "GET / HTTP/1.1", true, "!http" },
	{ "GET / HTTP/1.1", false, "+" },
	{ "GET /", true, "!http" },
	{ "\r\n\n \r\nPUT /x HTTP/1.0\r\n", false, "!http" },
	{ "  PUT /x HTTP/1.0\r\n", false, "!http" },
	{ "OPTIONS * HTTP/1.1\r\n", false, "!http" },
	{ "CONNECT localhost:443 HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", false, "!http" },
	{ "COPY /a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", false, "!http" },
	{ "get http://localhost/ HTTP/1.1\r\n", false, "!http" },
	{ "X-1 /a\r\n", false, "!http" },
	{ "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false, "!http" },
	{ BOM "POST / HTTP/1.1\r\n\r\n{}\n", false, "!http" },
	{ "{}\nPOST / HTTP/1.1\r\n", false, "[{}][POST / HTTP/1.1\r]" },
	{ "HELLO there\n{}\n", false, "[HELLO there][{}]" },
	{ "\"a / HTTP/1.1\"\n", false, "[\"a / HTTP/1.1\"]" },
	{ "GET\n", false, "[GET]" },
	{ "GET \n", false, "[GET ]" },
	{ "Content-Type: a/b HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", false, "[{}]" },
	{ BOM "{}\n{}\n", false, "[{}][{}]" },
	{ BOM "Content-Length: 2\r\n\r\n{}", false, "[{}]" },
	{ BOM, false, "+" },
	{ BOM, true, "" },
	{ BOM "\n", true, "" },
	{ BOM BOM "{}\n", false, "[" BOM "{}]" },
	{ "{}\n" BOM "{}\n", false, "[{}][" BOM "{}]" },
	{ "\xef\xbb", true, "[\xef\xbb]" },
	{ "\xef{}\n", false, "[\xef{}]" },
};

START_TEST(first_lines)
{
	size_t size = strlen(beginnings[_i].stream);

	for (size_t step = 1; step <= size + 1; step++) {
		char *out = read_all(beginnings[_i].stream, size, step, 100, beginnings[_i].eof);

		ck_assert_msg(strcmp(out, beginnings[_i].out) == 0,
		    "row %d, %zu bytes at a time: %s instead of %s", _i, step, out, beginnings[_i].out);
		free(out);
	}
}
END_TEST

START_TEST(streams)
{
	size_t size = strlen(rows[_i].stream);

	for (size_t step = 1; step <= size + 1; step++) {
		char *out = read_all(rows[_i].stream, size, step, 10, rows[_i].eof);

		ck_assert_msg(strcmp(out, rows[_i].out) == 0,
		    "row %d, %zu bytes at a time: %s instead of %s", _i, step, out, rows[_i].out);
		free(out);
	}
}
END_TEST

START_TEST(header_block_is_bounded)
{
	struct frame_reader *r = frame_reader_new(10);
	enum frame_result rv = FRAME_NONE;
	const char *data;
	size_t n, fed = 0;

	frame_feed(r, "C", 1);
	for (; rv == FRAME_NONE && fed < 100000; fed++) {
		frame_feed(r, "x", 1);
		rv = frame_next(r, &data, &n);
	}
	ck_assert_int_eq(rv, FRAME_BAD_HEADER);
	ck_assert_uint_lt(fed, 5000);
	frame_reader_free(r);
}
END_TEST

START_TEST(largest)
{
	static char line[FRAME_MAX + 2];
	struct frame_reader *r = frame_reader_new(FRAME_MAX);
	const char *data;
	size_t n;

	memset(line, 'x', sizeof(line));
	line[FRAME_MAX] = '\n';
	frame_feed(r, line, FRAME_MAX + 1);
	ck_assert_int_eq(frame_next(r, &data, &n), FRAME_READY);
	ck_assert_uint_eq(n, FRAME_MAX);
	ck_assert_int_eq(frame_next(r, &data, &n), FRAME_NONE);
	/* One large frame must not make an idle connection large. */
	ck_assert_uint_lt(frame_held(r), 8192);
	line[FRAME_MAX] = 'x';
	frame_feed(r, line, FRAME_MAX + 1);
	ck_assert_int_eq(frame_next(r, &data, &n), FRAME_TOO_LONG);
	ck_assert_uint_eq(frame_held(r), 0);
	frame_reader_free(r);
}
END_TEST

START_TEST(wrapped)
{
	size_t n;
	char *line = frame_wrap(FRAME_LINE, "{}", 2, &n);

	ck_assert_str_eq(line, "{}\n");
	ck_assert_uint_eq(n, 3);
	free(line);
	line = frame_wrap(FRAME_UNKNOWN, "{}", 2, &n);
	ck_assert_str_eq(line, "{}\n");
	free(line);
	line = frame_wrap(FRAME_HEADER, "{}", 2, &n);
	ck_assert_str_eq(line, "Content-Length: 2\r\n\r\n{}");
	ck_assert_uint_eq(n, strlen(line));
	free(line);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("frame");
	TCase *tc = tcase_create("frame");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tc, streams, 0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_loop_test(tc, first_lines, 0, sizeof(beginnings) / sizeof(beginnings[0]));
	tcase_add_test(tc, header_block_is_bounded);
	tcase_add_test(tc, largest);
	tcase_add_test(tc, wrapped);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
