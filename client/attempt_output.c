/* SPDX-License-Identifier: MIT */
#include "client/attempt_output.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "client/field.h"
#include "client/message.h"
#include "proto/memory.h"

#define PAGE_BYTES (256 * 1024)

/* Decode base64 text. Returns 0, or -1 if it is invalid. */
static int output_decode(struct buf *b, const char *text)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t digits = strcspn(text, "=");
	uint32_t held = 0;

	if (strlen(text) % 4 != 0 || strspn(text, alphabet) != digits || strlen(text + digits) > 2 ||
	    strspn(text + digits, "=") != strlen(text + digits))
		return -1;
	for (size_t i = 0; i < digits; i++) {
		held = held << 6 | (uint32_t)(strchr(alphabet, text[i]) - alphabet);
		/* Every digit of a group of four but the first completes a byte; the remaining bits
		 * stay in held. */
		if (i % 4 != 0)
			buf_add(b, &(char){ (char)(held >> (6 - 2 * (i % 4))) }, 1);
	}
	return 0;
}

int output_add(struct buf *b, const json_t *result, const char *key)
{
	const json_t *text = json_object_get(result, key);

	if (field_is(result, "encoding", "base64"))
		return output_decode(b, field_text(result, key));
	buf_add(b, json_string_value(text), json_string_length(text));
	return 0;
}

int output_read(struct client *c, int64_t attempt, const char *stream, int64_t offset, struct output_page *page)
{
	int status;

	*page = (struct output_page){ .next = offset };
	page->result = client_call(c, "attempt.output",
	    json_pack("{s:I, s:s, s:I, s:i}", "id", (json_int_t)attempt, "stream", stream, "offset",
	        (json_int_t)offset, "limit", PAGE_BYTES),
	    &status);
	if (page->result == NULL)
		return status;
	if (output_add(&page->bytes, page->result, "data") == -1) {
		message_error("attempt.output: the daemon sent a page that is not base64");
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
	buf_release(&page->bytes);
	json_decref(page->result);
}

int output_print(struct client *c, const struct print *to, int64_t attempt, const char *stream,
    struct output_place *place)
{
	for (;;) {
		struct output_page page;
		int status = output_read(c, attempt, stream, place->offset, &page);
		bool more;

		if (status != 0)
			return status;
		if (c->json && page.next > place->offset)
			print_json(to, page.result);
		if (!c->json && page.dropped > 0) {
			fflush(to->file);
			message_note("%lld bytes of %s were not kept", (long long)page.dropped, stream);
		}
		if (!c->json)
			print_agent_text(to, page.bytes.data, page.bytes.size);
		if (page.bytes.size > 0)
			place->open = !c->json && page.bytes.data[page.bytes.size - 1] != '\n';
		more = page.next > place->offset;
		place->offset = page.next;
		place->eof = page.eof;
		output_release(&page);
		if (!more || place->eof)
			break;
	}
	/* the reader of the output is gone, or the disk is full; main() reports it */
	return fflush(to->file) == EOF && to == &c->out ? EXIT_REFUSED : 0;
}
