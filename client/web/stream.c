/* SPDX-License-Identifier: MIT */
#include "client/web/stream.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "client/field.h"
#include "client/web/session.h"
#include "proto/memory.h"

/* What a browser can be told, in this order. */
enum stream_news { NEWS_HELLO, NEWS_GONE, NEWS_THERE, NEWS_CHANGE, NEWS_PING, NEWS_FULL, NEWS_COUNT };

static const char *const texts[] = {
	[NEWS_HELLO] = "retry: 1000\n\n", [NEWS_GONE] = "event: gone\ndata:1\n\n",
	[NEWS_THERE] = "event: there\ndata:1\n\n", [NEWS_CHANGE] = "event: change\ndata:1\n\n",
	[NEWS_PING] = ":\n\n",
	[NEWS_FULL] = "event: full\ndata:1\n\n",
};

struct stream {
	struct streams *streams;
	struct MHD_Connection *connection;
	struct session *session;
	int64_t run;
	bool news[NEWS_COUNT];		/* still to be told */
	bool suspended, over;
	LIST_ENTRY(stream) link;
};

static void stream_wake(struct stream *stream)
{
	if (stream->suspended)
		MHD_resume_connection(stream->connection);
	stream->suspended = false;
}

/* One piece of news at a time: room is larger than any. */
static ssize_t stream_read(void *arg, uint64_t at, char *to, size_t room)
{
	struct stream *stream = arg;

	(void)at;
	for (size_t i = 0; i < NEWS_COUNT; i++) {
		size_t size = strlen(texts[i]);

		if (stream->news[i] && size <= room) {
			stream->news[i] = false;
			memcpy(to, texts[i], size);
			return (ssize_t)size;
		}
	}
	if (stream->over)
		return MHD_CONTENT_READER_END_OF_STREAM;
	stream->suspended = true;
	MHD_suspend_connection(stream->connection);
	return 0;
}

static void stream_free(void *arg)
{
	struct stream *stream = arg;

	LIST_REMOVE(stream, link);
	free(stream);
}

/* End the oldest stream of a session that has as many as it may: perhaps its page is gone, which is
 * noticed only when something is written to it. */
static void stream_make_room(const struct streams *s, const struct session *session)
{
	struct stream *stream, *oldest = NULL;
	size_t count = 0;

	LIST_FOREACH(stream, &s->all, link) {
		if (stream->session != session || stream->over)
			continue;
		count++;
		oldest = stream;
	}
	if (count < STREAMS_OF_SESSION)
		return;
	oldest->news[NEWS_FULL] = oldest->over = true;
	stream_wake(oldest);
}

struct MHD_Response *stream_open(struct streams *s, struct MHD_Connection *connection, struct session *session,
    int64_t run, bool old)
{
	struct stream *stream;

	stream_make_room(s, session);
	stream = xcalloc(1, sizeof(*stream));
	*stream = (struct stream){ .streams = s, .connection = connection, .session = session, .run = run };
	stream->news[NEWS_HELLO] = true;
	stream->news[s->there ? NEWS_THERE : NEWS_GONE] = true;
	stream->news[NEWS_CHANGE] = old;
	LIST_INSERT_HEAD(&s->all, stream, link);
	return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, stream_read, stream, stream_free);
}

void streams_change(struct streams *s, int64_t run, bool there)
{
	struct stream *stream;

	LIST_FOREACH(stream, &s->all, link) {
		if (there != s->there) {
			stream->news[NEWS_GONE] = !there;
			stream->news[NEWS_THERE] = there;
		}
		if (run == FIELD_NONE || stream->run == FIELD_NONE || stream->run == run)
			stream->news[NEWS_CHANGE] = true;
		stream_wake(stream);
	}
	s->there = there;
}

void streams_ping(struct streams *s)
{
	struct stream *stream;

	LIST_FOREACH(stream, &s->all, link) {
		stream->news[NEWS_PING] = true;
		stream_wake(stream);
	}
}

void streams_forget(struct streams *s, const struct session *session)
{
	struct stream *stream;

	LIST_FOREACH(stream, &s->all, link) {
		stream->over |= stream->session == session;
		stream_wake(stream);
	}
}

void streams_end(struct streams *s)
{
	struct stream *stream;

	LIST_FOREACH(stream, &s->all, link) {
		stream->over = true;
		stream_wake(stream);
	}
}
