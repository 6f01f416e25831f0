/* SPDX-License-Identifier: MIT */
/* The event feed: from the ring, from pages, over gaps, with filters, to clients without room;
 * never a hole, never twice. */
#include "rpc/feed.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"

/* ---- a store of events kept_from..written ---- */

static int64_t kept_from, written;
static store_rows_cb *page_cb;
static void *page_arg;
static int64_t page_since, page_limit;
static int pages;

static struct event_row *event_row(int64_t seq)
{
	struct event_row *row = row_new(ROW_EVENT);

	row->seq = seq;
	row->time = 1000 * seq;
	row->type = xstrdup(seq % 10 == 0 ? "run.state" : "slot.phase");
	row->run = seq % 3 == 0 ? 3 : 1;
	row->body = xasprintf("{\"phase\":\"p%lld\"}", (long long)seq);
	return row;
}

static void page(void *arg, int64_t since, int64_t limit, store_rows_cb *cb, void *cb_arg)
{
	(void)arg;
	ck_assert_ptr_null(page_cb);
	page_cb = cb;
	page_arg = cb_arg;
	page_since = since;
	page_limit = limit;
	pages++;
}

/* The page that was asked for comes. */
static void page_comes(void)
{
	struct rowset set = { .kind = ROW_EVENT };
	int64_t seq = page_since + 1 < kept_from ? kept_from : page_since + 1;
	store_rows_cb *cb = page_cb;

	set.rows = xcalloc((size_t)page_limit, sizeof(*set.rows));
	for (; seq <= written && (int64_t)set.count < page_limit; seq++)
		set.rows[set.count++] = event_row(seq);
	page_cb = NULL;
	cb(page_arg, &set);
}

/* ---- a client ---- */

static char got[200000];	/* "1 2 gap3-5 6 " */
static char last_text[1000];
static int room;		/* messages it has room for; -1: any number */
static struct tally tally;
static struct link *link_;
static struct feed *feed;

static void client_send(void *arg, const char *json, size_t size)
{
	json_t *message = json_loadb(json, size, 0, NULL), *params = json_object_get(message, "params");
	size_t n = strlen(got);

	(void)arg;
	snprintf(last_text, sizeof(last_text), "%.*s", (int)size, json);
	ck_assert_ptr_nonnull(params);
	if (room > 0)
		room--;
	if (strcmp(json_string_value(json_object_get(message, "method")), "gap") == 0)
		snprintf(got + n, sizeof(got) - n, "gap%d-%d ",
		    (int)json_integer_value(json_object_get(params, "from")),
		    (int)json_integer_value(json_object_get(params, "to")));
	else
		snprintf(got + n, sizeof(got) - n, "%d ", (int)json_integer_value(json_object_get(params, "seq")));
	json_decref(message);
}

static bool client_room(void *arg)
{
	(void)arg;
	return room != 0;
}

static bool client_deaf(void *arg)
{
	(void)arg;
	return false;
}

static void client_relieved(void *arg)
{
	(void)arg;
}

static const struct link_ops ops = { client_send, client_room, client_deaf, client_relieved };

static void start(int64_t last)
{
	const struct feed_source source = { page, NULL };

	got[0] = '\0';
	room = -1;
	pages = 0;
	kept_from = 1;
	written = last;
	page_cb = NULL;
	feed = feed_new(&source, last);
	link_ = link_new(&(struct caller){ .rank = RANK_ADMIN }, &tally, &ops, NULL);
}

static void end(void)
{
	if (link_ != NULL)
		link_close(link_);
	if (page_cb != NULL)
		page_comes();
	feed_free(feed);
}

static void commit(int64_t count)
{
	for (; count > 0; count--) {
		struct event_row *row = event_row(++written);

		feed_add(feed, row);
		row_free(ROW_EVENT, row);
	}
}

static void follow(int64_t since)
{
	feed_follow(feed, link_, &(struct feed_filter){ NULL, since, ROW_NONE, NULL });
	link_writable(link_);
}

/* Let pages come until nothing is asked for any more. */
static void drain(void)
{
	while (page_cb != NULL || room == 0) {
		if (page_cb != NULL)
			page_comes();
		if (room == 0) {
			room = 7;
			link_writable(link_);
		}
	}
}

static char *count_up(int64_t from, int64_t to)
{
	struct buf b = { 0 };

	buf_adds(&b, "");
	for (; from <= to; from++)
		buf_addf(&b, "%lld ", (long long)from);
	return buf_take(&b, NULL);
}

static void expect_all(int64_t from, int64_t to)
{
	char *wanted = count_up(from, to);

	ck_assert_str_eq(got, wanted);
	free(wanted);
}

START_TEST(live)
{
	start(0);
	follow(0);
	commit(3);
	ck_assert_str_eq(got, "1 2 3 ");
	ck_assert_int_eq(pages, 0);
	ck_assert_int_eq(feed_last(feed), 3);
	end();
}
END_TEST

START_TEST(from_now_on)
{
	start(50);
	follow(50);
	commit(2);
	ck_assert_str_eq(got, "51 52 ");
	end();
}
END_TEST

START_TEST(from_the_ring)
{
	start(0);
	commit(100);
	follow(40);
	expect_all(41, 100);
	ck_assert_int_eq(pages, 0);
	end();
}
END_TEST

START_TEST(from_pages)
{
	start(300);
	follow(0);
	commit(10);
	ck_assert_str_eq(got, "");
	drain();
	expect_all(1, 310);
	commit(1);
	expect_all(1, 311);
	end();
}
END_TEST

/* The ring moves on while a slow client reads: it goes back to pages. */
START_TEST(overtaken)
{
	start(0);
	room = 5;
	follow(0);
	commit(FEED_EVENTS + 500);
	ck_assert_str_eq(got, "1 2 3 4 5 ");
	room = 7;
	link_writable(link_);
	drain();
	/* The last turn ends with room left. */
	expect_all(1, FEED_EVENTS + 500);
	ck_assert_int_gt(pages, 0);
	end();
}
END_TEST

/* The event behind the cursor has just left the ring, or is the last one in it. */
START_TEST(edge_of_the_ring)
{
	start(0);
	commit(FEED_EVENTS + 10);
	follow(9 + _i);
	ck_assert_int_eq(pages, _i == 0 ? 1 : 0);
	drain();
	expect_all(10 + _i, FEED_EVENTS + 10);
	end();
}
END_TEST

START_TEST(gap_in_front)
{
	start(300);
	kept_from = 101;
	follow(10);
	drain();
	ck_assert_int_eq(strncmp(got, "gap11-100 101 102 ", 18), 0);
	memmove(got, got + 10, strlen(got + 10) + 1);
	expect_all(101, 300);
	end();
}
END_TEST

START_TEST(gap_of_one)
{
	start(300);
	kept_from = 12;
	follow(10);
	drain();
	ck_assert_int_eq(strncmp(got, "gap11-11 12 13 ", 15), 0);
	end();
}
END_TEST

START_TEST(gap_up_to_the_ring)
{
	start(300);
	commit(2);
	kept_from = 303;	/* all was removed, the ring still has two */
	follow(10);
	drain();
	ck_assert_str_eq(got, "gap11-300 301 302 ");
	end();
}
END_TEST

START_TEST(gap_to_the_end)
{
	start(300);
	kept_from = 301;
	follow(0);
	drain();
	ck_assert_str_eq(got, "gap1-300 ");
	commit(1);
	ck_assert_str_eq(got, "gap1-300 301 ");
	end();
}
END_TEST

/* A page may hold what is on disk, but was not yet told here. */
START_TEST(not_before_it_is_told)
{
	struct event_row *row;

	start(10);
	follow(0);
	written = 12;
	page_comes();
	expect_all(1, 10);
	for (int64_t seq = 11; seq <= 12; seq++) {
		row = event_row(seq);
		feed_add(feed, row);
		row_free(ROW_EVENT, row);
	}
	expect_all(1, 12);
	end();
}
END_TEST

START_TEST(filters)
{
	char state[] = "run.state", *types[] = { state, NULL };

	start(40);
	feed_follow(feed, link_, &(struct feed_filter){ NULL, 0, 3, types });
	link_writable(link_);
	drain();
	commit(40);
	ck_assert_str_eq(got, "30 60 ");
	end();
}
END_TEST

START_TEST(replaced)
{
	start(100);
	follow(0);
	ck_assert_ptr_nonnull(page_cb);
	/* Its page is still awaited when another takes its place. */
	feed_follow(feed, link_, &(struct feed_filter){ NULL, 100, ROW_NONE, NULL });
	ck_assert_uint_eq(feed_followers(feed), 1);
	page_comes();
	commit(1);
	ck_assert_str_eq(got, "101 ");
	feed_unfollow(link_, NULL);
	commit(1);
	ck_assert_str_eq(got, "101 ");
	ck_assert_uint_eq(feed_followers(feed), 0);
	end();
}
END_TEST

START_TEST(leaves_during_a_page)
{
	start(100);
	follow(0);
	link_close(link_);
	link_ = NULL;
	page_comes();
	ck_assert_str_eq(got, "");
	commit(1);
	end();
}
END_TEST

/* Whatever the body is, it comes behind the columns, and never in their place. */
START_TEST(any_body)
{
	static const char *const bodies[] = { "{}", "{\"x\":[{}]}", "{\"seq\":99,\"x\":1}", "{\"x\":{\"run\":7}}",
		"x" };

	start(0);
	follow(0);
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		struct event_row *row = event_row((int64_t)i + 1);
		json_t *wanted, *said;

		free(row->body);
		row->body = xstrdup(bodies[i]);
		feed_add(feed, row);
		wanted = json_pack("{s:s,s:s,s:o}", "jsonrpc", "2.0", "method", "event", "params", event_json(row));
		said = json_loads(last_text, JSON_REJECT_DUPLICATES, NULL);
		ck_assert_msg(json_equal(said, wanted), "%s", last_text);
		json_decref(said);
		json_decref(wanted);
		row_free(ROW_EVENT, row);
	}
	end();
}
END_TEST

START_TEST(document)
{
	struct event_row *row = event_row(10);
	json_t *json, *wanted = json_loads("{\"seq\":10,\"time\":\"1970-01-01T00:00:10.000Z\","
	    "\"type\":\"run.state\",\"run\":1,\"phase\":\"p10\"}", 0, NULL);

	json = event_json(row);
	ck_assert(json_equal(json, wanted));
	json_decref(json);
	free(row->body);
	row->body = xstrdup("{\"seq\":99,\"x\":1}");	/* the row's own fields win */
	json = event_json(row);
	ck_assert_int_eq(json_integer_value(json_object_get(json, "seq")), 10);
	ck_assert_int_eq(json_integer_value(json_object_get(json, "x")), 1);
	json_decref(json);
	json_decref(wanted);
	row_free(ROW_EVENT, row);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("feed");
	TCase *tc = tcase_create("feed");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, live);
	tcase_add_test(tc, from_now_on);
	tcase_add_test(tc, from_the_ring);
	tcase_add_test(tc, from_pages);
	tcase_add_test(tc, overtaken);
	tcase_add_loop_test(tc, edge_of_the_ring, 0, 2);
	tcase_add_test(tc, gap_in_front);
	tcase_add_test(tc, gap_of_one);
	tcase_add_test(tc, gap_up_to_the_ring);
	tcase_add_test(tc, gap_to_the_end);
	tcase_add_test(tc, not_before_it_is_told);
	tcase_add_test(tc, filters);
	tcase_add_test(tc, replaced);
	tcase_add_test(tc, leaves_during_a_page);
	tcase_add_test(tc, document);
	tcase_add_test(tc, any_body);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
