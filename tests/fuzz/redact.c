/* SPDX-License-Identifier: MIT */
/* Any bytes as an environment and as a text: no value that was to be hidden is left, what is masked
 * once is masked, and nothing is made up. The first line has the environment, entries between NUL
 * bytes; the rest is the text.
 *
 * clang -g -O1 -std=gnu11 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -I. -Idaemon \
 *   -o fuzz-redact tests/fuzz/redact.c daemon/base/redact.c
 *   daemon/base/secret_patterns.c proto/memory.c
 * ./fuzz-redact -max_total_time=120 NEW tests/fuzz/corpus/redact
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/redact.h"
#include "base/secret_patterns.h"
#include "proto/memory.h"

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* Without its "[secret]" each piece of the masked text stands in the text, in order. */
static void expect_from(const char *text, size_t size, const char *masked, size_t masked_size)
{
	const char *at = text, *end = text + size, *piece = masked, *last = masked + masked_size;
	bool more = true;

	while (more) {
		const char *mark = memmem(piece, (size_t)(last - piece), SECRET_MARK, strlen(SECRET_MARK)), *found;
		size_t n = (size_t)((mark != NULL ? mark : last) - piece);

		found = n > 0 ? memmem(at, (size_t)(end - at), piece, n) : at;
		expect(found != NULL);
		at = found + n;
		more = mark != NULL;
		piece = more ? mark + strlen(SECRET_MARK) : last;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *line = size > 0 ? memchr(data, '\n', size) : NULL,
	    *text = line != NULL ? line + 1 : (const char *)data;
	size_t head = line != NULL ? (size_t)(line - (const char *)data) : 0,
	    length = size - (size_t)(text - (const char *)data), n, m;
	char *environment = xmemdup0(data != NULL ? (const void *)data : "", head), *masked, *again, *plain;
	struct redactor *redactor = redact_new();
	const char *value = NULL;

	for (const char *e = environment; e < environment + head; e += strlen(e) + 1) {
		redact_add_variable(redactor, e);
		if (strncmp(e, "HIDDEN_KEY=", 11) == 0 && strpbrk(e, " \t\r\n\\\"") == NULL &&
		    !secret_is_placeholder(e + 11, strlen(e + 11)) &&
		    strlen(e + 11) >= REDACT_VALUE_MIN && e[11] != '/' && e[11] != '~' &&
		    strstr(SECRET_MARK, e + 11) == NULL)
			value = e + 11;
	}
	masked = redact_text(redactor, text, length, &n);
	if (masked != NULL) {
		expect(masked[n] == '\0');
		expect_from(text, length, masked, n);
	}
	if (value != NULL)
		expect(memmem(masked != NULL ? masked : text, masked != NULL ? n : length, value,
		    strlen(value)) == NULL);
	plain = redact_text(NULL, text, length, &n);
	again = plain != NULL ? redact_text(NULL, plain, n, &m) : NULL;
	/* a second look may see what stood in the shadow of the first, never make more of it */
	for (int i = 0; again != NULL && i < 64; i++) {
		char *more = redact_text(NULL, again, m, &n);

		free(plain);
		plain = again;
		again = more;
		m = n;
	}
	expect(again == NULL);
	free(plain);
	free(masked);
	free(environment);
	redact_free(redactor);
	return 0;
}
