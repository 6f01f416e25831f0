/* SPDX-License-Identifier: MIT */
#include "rpc/feed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/log.h"
#include "model/row_json.h"
#include "proto/memory.h"
#include "proto/units.h"

#define PAGE 64

struct entry {
	int64_t seq, run;
	char *type;
	char *text;		/* the complete notification */
	size_t size;
};

struct feed {
	struct feed_source source;
	struct entry ring[FEED_EVENTS];		/* index: seq modulo FEED_EVENTS */
	size_t count, bytes;			/* the newest `count` events, up to last */
	int64_t last;
	size_t followers;
	LIST_HEAD(, follower) list;
};

struct follower {
	struct feed *feed;
	struct link *link;	/* NULL: closed, while a page is outstanding */
	struct follower *next_of_link;	/* the other subscriptions of the link */
	char *name;		/* NULL: none */
	int64_t cursor;		/* number of the last event sent or skipped */
	int64_t run;
	char **types;
	bool awaiting;
	struct rowset page;	/* rows from next on are not delivered yet */
	size_t next;
	LIST_ENTRY(follower) entry;
};

struct feed *feed_new(const struct feed_source *source, int64_t last)
{
	struct feed *feed = xcalloc(1, sizeof(*feed));

	feed->source = *source;
	feed->last = last;
	LIST_INIT(&feed->list);
	return feed;
}

static void drop_oldest(struct feed *feed)
{
	struct entry *e = &feed->ring[(feed->last - (int64_t)feed->count + 1) % FEED_EVENTS];

	feed->bytes -= e->size;
	feed->count--;
	free(e->type);
	free(e->text);
	*e = (struct entry){ 0 };
}

void feed_free(struct feed *feed)
{
	if (feed == NULL)
		return;
	assert(LIST_EMPTY(&feed->list));
	while (feed->count > 0)
		drop_oldest(feed);
	free(feed);
}

int64_t feed_last(const struct feed *feed)
{
	return feed->last;
}

size_t feed_followers(const struct feed *feed)
{
	return feed->followers;
}

json_t *event_json(const struct event_row *row)
{
	json_t *json = json_object(), *body = json_document(row->body, json_object());

	json_object_set_new(json, "seq", json_integer(row->seq));
	json_object_set_new(json, "time", json_time(row->time));
	json_object_set_new(json, "type", json_text(row->type));
	json_object_set_new(json, "run", json_int(row->run));
	json_object_update_missing(json, body);
	json_decref(body);
	return json;
}

/* Takes ownership of params. */
static char *notification(const char *method, json_t *params, size_t *size)
{
	json_t *json = json_pack("{s:s,s:s,s:o}", "jsonrpc", "2.0", "method", method, "params", params);
	char *text = json_dumps(json, JSON_COMPACT);

	if (text == NULL)
		abort();
	json_decref(json);
	*size = strlen(text);
	return text;
}

/* The body is an object that can be continued behind the columns, whose names it has not. */
static bool is_plain(const struct event_row *row, size_t size)
{
	static const char *const columns[] = { "\"seq\"", "\"time\"", "\"type\"", "\"run\"" };
	bool plain = size >= 2 && row->body[0] == '{' && row->body[size - 1] == '}' && row->time != ROW_NONE;

	for (size_t i = 0; plain && i < sizeof(columns) / sizeof(columns[0]); i++)
		plain = strstr(row->body, columns[i]) == NULL;
	return plain;
}

/* The notification of event_json(), without its objects: there are a dozen events in each run. */
static char *event_notification(const struct event_row *row, size_t *size)
{
	size_t body = row->body != NULL ? strlen(row->body) : 0;
	struct buf out = { 0 };
	char time[40];

	if (!is_plain(row, body))
		return notification("event", event_json(row), size);
	time_format(row->time, time, sizeof(time));
	buf_addf(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"seq\":%lld,\"time\":\"%s\","
	    "\"type\":\"%s\",\"run\":", (long long)row->seq, time, row->type);
	if (row->run == ROW_NONE)
		buf_adds(&out, "null");
	else
		buf_addf(&out, "%lld", (long long)row->run);
	buf_adds(&out, body > 2 ? "," : "");
	buf_add(&out, row->body + 1, body - 1);
	buf_adds(&out, "}");
	return buf_take(&out, size);
}

static bool is_wanted(const struct follower *f, int64_t run, const char *type)
{
	if (f->run != ROW_NONE && f->run != run)
		return false;
	for (size_t i = 0; f->types != NULL && f->types[i] != NULL; i++) {
		if (strcmp(f->types[i], type) == 0)
			return true;
	}
	return f->types == NULL;
}

/* A notification is {..., "params": {...}}: the name becomes the last parameter. */
static void follower_send(const struct follower *f, const char *text, size_t size)
{
	json_t *name = f->name != NULL ? json_string(f->name) : NULL;
	char *quoted, *named;

	if (name == NULL) {
		link_send(f->link, text, size);
		return;
	}
	assert(size > 2 && strcmp(text + size - 2, "}}") == 0);
	quoted = json_dumps(name, JSON_COMPACT | JSON_ENCODE_ANY);
	named = xasprintf("%.*s,\"subscription\":%s}}", (int)size - 2, text, quoted);
	link_send(f->link, named, strlen(named));
	free(named);
	free(quoted);
	json_decref(name);
}

/* Events up to `to` are no longer available: send a gap, and continue after them. */
static void emit_gap(struct follower *f, int64_t to)
{
	size_t size;
	char *text = notification("gap",
	    json_pack("{s:I,s:I}", "from", (json_int_t)f->cursor + 1, "to", (json_int_t)to), &size);

	follower_send(f, text, size);
	free(text);
	f->cursor = to;
}

static void deliver_row(struct follower *f, const struct event_row *row)
{
	size_t size;
	char *text;

	if (row->seq > f->cursor + 1)
		emit_gap(f, row->seq - 1);
	f->cursor = row->seq;
	if (!is_wanted(f, row->run, row->type))
		return;
	text = event_notification(row, &size);
	follower_send(f, text, size);
	free(text);
}

static void page_clear(struct follower *f)
{
	rowset_release(&f->page);
	f->page = (struct rowset){ .kind = ROW_EVENT };
	f->next = 0;
}

static void follower_free(struct follower *f)
{
	page_clear(f);
	LIST_REMOVE(f, entry);
	strings_free(f->types);
	free(f->name);
	free(f);
}

static void page_cb(void *arg, struct rowset *set);

/* Send as much as the link has room for. */
static void pump(struct follower *f)
{
	struct feed *feed = f->feed;

	while (!f->awaiting && link_room(f->link)) {
		if (f->next < f->page.count) {
			const struct event_row *row = f->page.rows[f->next++];

			if (row->seq > f->cursor && row->seq <= feed->last)
				deliver_row(f, row);
		} else if (f->cursor >= feed->last) {
			page_clear(f);
			return;
		} else if (f->cursor >= feed->last - (int64_t)feed->count) {
			const struct entry *e = &feed->ring[(f->cursor + 1) % FEED_EVENTS];

			page_clear(f);
			f->cursor = e->seq;
			if (is_wanted(f, e->run, e->type))
				follower_send(f, e->text, e->size);
		} else {
			page_clear(f);
			f->awaiting = true;
			feed->source.page(feed->source.arg, f->cursor, PAGE, page_cb, f);
		}
	}
}

static void page_cb(void *arg, struct rowset *set)
{
	struct follower *f = arg;
	struct feed *feed = f->feed;

	f->awaiting = false;
	if (f->link == NULL) {
		rowset_release(set);
		follower_free(f);
		return;
	}
	f->page = *set;
	*set = (struct rowset){ .kind = ROW_EVENT };
	/* nothing between the cursor and the ring is available any more */
	if (f->page.count == 0 && f->cursor < feed->last - (int64_t)feed->count)
		emit_gap(f, feed->last - (int64_t)feed->count);
	pump(f);
}

static void follower_writable(void *arg)
{
	for (struct follower *f = arg; f != NULL; f = f->next_of_link)
		pump(f);
}

static void followers_gone(void *arg);

/* The link has these subscriptions now, NULL: none. */
static void set_followers(struct link *link, struct follower *first)
{
	if (first != NULL)
		link_follow(link, first, follower_writable, followers_gone);
	else
		link_follow(link, NULL, NULL, NULL);
}

static void follower_end(struct follower *f)
{
	f->link = NULL;
	f->next_of_link = NULL;
	f->feed->followers--;
	if (!f->awaiting)
		follower_free(f);
}

static void followers_gone(void *arg)
{
	struct follower *f = arg, *next;

	set_followers(f->link, NULL);
	for (; f != NULL; f = next) {
		next = f->next_of_link;
		follower_end(f);
	}
}

static bool has_name(const struct follower *f, const char *name)
{
	return f->name == NULL || name == NULL ? f->name == name : strcmp(f->name, name) == 0;
}

/* Remove the subscription with exactly this name. */
static void follower_remove(struct link *link, const char *name)
{
	struct follower *first = link_follower(link), **at = &first, *found;

	while (*at != NULL && !has_name(*at, name))
		at = &(*at)->next_of_link;
	found = *at;
	if (found == NULL)
		return;
	*at = found->next_of_link;
	set_followers(link, first);
	follower_end(found);
}

void feed_follow(struct feed *feed, struct link *link, const struct feed_filter *filter)
{
	struct follower *f = xcalloc(1, sizeof(*f));

	follower_remove(link, filter->name);
	f->feed = feed;
	f->link = link;
	f->name = xstrdup(filter->name);
	f->cursor = filter->since;
	f->run = filter->run;
	f->types = strings_copy(filter->types);
	f->page.kind = ROW_EVENT;
	LIST_INSERT_HEAD(&feed->list, f, entry);
	feed->followers++;
	f->next_of_link = link_follower(link);
	set_followers(link, f);
}

void feed_unfollow(struct link *link, const char *name)
{
	if (name != NULL)
		follower_remove(link, name);
	else if (link_follower(link) != NULL)
		followers_gone(link_follower(link));
}

size_t feed_others(const struct link *link, const char *name)
{
	size_t count = 0;

	for (const struct follower *f = link_follower(link); f != NULL; f = f->next_of_link)
		count += !has_name(f, name);
	return count;
}

void feed_add(struct feed *feed, const struct event_row *row)
{
	struct follower *f;
	struct entry *e;

	if (row->seq != feed->last + 1) {
		log_bug("event %lld follows event %lld", (long long)row->seq, (long long)feed->last);
		while (feed->count > 0)
			drop_oldest(feed);
	} else if (feed->count == FEED_EVENTS) {
		drop_oldest(feed);
	}
	feed->last = row->seq;
	e = &feed->ring[row->seq % FEED_EVENTS];
	e->seq = row->seq;
	e->run = row->run;
	e->type = xstrdup(row->type);
	e->text = event_notification(row, &e->size);
	feed->bytes += e->size;
	feed->count++;
	while (feed->bytes > FEED_BYTES && feed->count > 1)
		drop_oldest(feed);
	LIST_FOREACH(f, &feed->list, entry) {
		if (f->link != NULL)
			pump(f);
	}
}
