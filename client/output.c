/* SPDX-License-Identifier: MIT */
#include "client/output.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "client/field.h"

#define PAGE_BYTES (256 * 1024)

int output_read(struct client *c, int64_t attempt, const char *stream, int64_t offset, struct output_page *page)
{
	const json_t *data;
	int status;

	*page = (struct output_page){ .next = offset };
	page->result = client_call(c, "attempt.output", json_pack("{s:I, s:s, s:I, s:i}", "id", (json_int_t)attempt, "stream", stream,
		"offset", (json_int_t)offset, "limit", PAGE_BYTES), &status);
	if (page->result == NULL)
		return status;
	data = json_object_get(page->result, "data");
	if (strcmp(field_text(page->result, "encoding"), "base64") != 0) {
		bytes_add(&page->bytes, json_is_string(data) ? json_string_value(data) : "", json_string_length(data));
	} else if (bytes_add_base64(&page->bytes, field_text(page->result, "data")) == -1) {
		warnx("attempt.output: the daemon sent a page that is not base64");
		output_release(page);
		return EXIT_REFUSED;
	}
	if (field_int(page->result, "next") != FIELD_NONE)
		page->next = field_int(page->result, "next");
	if (field_int(page->result, "offset") > offset)
		page->dropped = field_int(page->result, "offset") - offset;
	page->eof = field_true(page->result, "eof");
	return 0;
}

void output_release(struct output_page *page)
{
	free(page->bytes.data);
	json_decref(page->result);
}

int output_print(struct client *c, const struct print *to, int64_t attempt, const char *stream, int64_t *offset, bool *eof)
{
	for (;;) {
		struct output_page page;
		int status = output_read(c, attempt, stream, *offset, &page);
		bool more;

		if (status != 0)
			return status;
		if (c->json && page.next > *offset)
			print_json(to, page.result);
		if (!c->json && page.dropped > 0) {
			fflush(to->file);
			warnx("%lld bytes of %s were not kept here", (long long)page.dropped, stream);
		}
		if (!c->json)
			print_agent_text(to, page.bytes.data, page.bytes.size);
		more = page.next > *offset;
		*offset = page.next;
		*eof = page.eof;
		output_release(&page);
		if (!more || *eof)
			break;
	}
	/* who wants it has gone, or the disk is full; main() says so */
	return fflush(to->file) == EOF && to == &c->out ? EXIT_REFUSED : 0;
}
