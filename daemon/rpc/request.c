/* SPDX-License-Identifier: MIT */
#include "rpc/request.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/log.h"
#include "model/row_json.h"
#include "proto/memory.h"

struct link {
	int refs;			/* one for the server, and one per call and batch */
	struct caller caller;
	struct tally *tally;
	const struct link_ops *ops;	/* NULL: the client is gone */
	void *arg;
	TAILQ_HEAD(, call) waits;
	size_t busy, waiting, large;
	void *follower;
	void (*follower_writable)(void *follower);
	void (*follower_gone)(void *follower);
};

struct batch {
	struct link *link;
	struct buf out;			/* "[answer,answer" */
	size_t pending;			/* unanswered calls, plus 1 until batch_begun() */
};

struct call {
	/* one for the handler while it runs, and one until the answer */
	int refs;
	struct link *link;
	struct batch *batch;
	json_t *id;			/* NULL: a notification */
	json_t *params;
	bool large, waiting, later, answered;
	void (*gone)(void *arg);
	void *arg;
	TAILQ_ENTRY(call) entry;	/* in link->waits while waiting */
};

void tally_add(struct tally *tally)
{
	tally->count++;
}

void tally_drop(struct tally *tally)
{
	if (--tally->count == 0 && tally->none != NULL)
		tally->none(tally->arg);
}

struct link *link_new(const struct caller *caller, struct tally *tally, const struct link_ops *ops, void *arg)
{
	struct link *link = xcalloc(1, sizeof(*link));

	link->refs = 1;
	link->caller = *caller;
	peer_copy(&link->caller.peer, &caller->peer);
	link->tally = tally;
	link->ops = ops;
	link->arg = arg;
	TAILQ_INIT(&link->waits);
	return link;
}

static void link_unref(struct link *link)
{
	if (--link->refs > 0)
		return;
	peer_release(&link->caller.peer);
	free(link);
}

void link_close(struct link *link)
{
	struct call *call;

	link->ops = NULL;
	if (link->follower != NULL)
		link->follower_gone(link->follower);
	while ((call = TAILQ_FIRST(&link->waits)) != NULL) {
		call->gone(call->arg);
		assert(call != TAILQ_FIRST(&link->waits));
	}
	link_unref(link);
}

void link_send(struct link *link, const char *json, size_t size)
{
	if (link->ops != NULL)
		link->ops->send(link->arg, json, size);
}

bool link_room(const struct link *link)
{
	return link->ops != NULL && link->ops->room(link->arg);
}

bool link_deaf(const struct link *link)
{
	return link->ops == NULL || link->ops->deaf(link->arg);
}

void link_writable(struct link *link)
{
	if (link->follower != NULL)
		link->follower_writable(link->follower);
}

size_t link_busy(const struct link *link)
{
	return link->busy;
}

size_t link_waiting(const struct link *link)
{
	return link->waiting;
}

bool link_large(const struct link *link)
{
	return link->large > 0;
}

void link_follow(struct link *link, void *follower, void (*writable)(void *follower), void (*gone)(void *follower))
{
	link->follower = follower;
	link->follower_writable = writable;
	link->follower_gone = gone;
}

void *link_follower(const struct link *link)
{
	return link->follower;
}

static int add_bytes(const char *data, size_t size, void *arg)
{
	buf_add(arg, data, size);
	return 0;
}

/* {"jsonrpc":"2.0","id":ID,"<member>":VALUE} */
static void request_document(struct buf *b, const json_t *id, const char *member, const json_t *value)
{
	buf_adds(b, "{\"jsonrpc\":\"2.0\",\"id\":");
	if (id == NULL || json_dump_callback(id, add_bytes, b, JSON_COMPACT | JSON_ENCODE_ANY) != 0)
		buf_adds(b, "null");
	buf_addf(b, ",\"%s\":", member);
	if (json_dump_callback(value, add_bytes, b, JSON_COMPACT | JSON_ENCODE_ANY) != 0) {
		log_bug("an answer cannot be represented as JSON");
		buf_adds(b, "null");
	}
	buf_adds(b, "}");
}

/* The error object; data = {kind, retryable, hint[, field]}. The message about a wrong parameter
 * says what is wrong, so there is a hint only if the handler gives one. */
static json_t *error_object(int code, const char *field, const char *hint, const char *message)
{
	const struct rpc_error_row *row = rpc_error_find(code);
	json_t *data = json_object();

	assert(row != NULL);
	json_object_set_new(data, "kind", json_string(row->kind));
	json_object_set_new(data, "retryable", json_boolean(row->retryable));
	json_object_set_new(data, "hint", json_text(hint != NULL || code == RPC_INVALID_PARAMS ? hint : row->help));
	if (field != NULL)
		json_object_set_new(data, "field", json_text(field));
	return json_pack("{s:i,s:o,s:o}", "code", code, "message", json_text(message), "data", data);
}

char *error_document(json_t *id, int code, const char *message, size_t *size)
{
	json_t *error = error_object(code, NULL, NULL, message);
	struct buf b = { 0 };

	request_document(&b, id, "error", error);
	json_decref(error);
	return buf_take(&b, size);
}

struct batch *batch_new(struct link *link)
{
	struct batch *batch = xcalloc(1, sizeof(*batch));

	batch->link = link;
	link->refs++;
	batch->pending = 1;
	return batch;
}

static void batch_add(struct batch *batch, const char *json, size_t size)
{
	buf_adds(&batch->out, batch->out.size == 0 ? "[" : ",");
	buf_add(&batch->out, json, size);
}

void batch_error(struct batch *batch, json_t *id, int code, const char *message)
{
	size_t size;
	char *json = error_document(id, code, message, &size);

	batch_add(batch, json, size);
	free(json);
}

/* One of pending is done. A batch of notifications has no answer. */
static void batch_done(struct batch *batch)
{
	if (--batch->pending > 0)
		return;
	if (batch->out.size > 0) {
		buf_adds(&batch->out, "]");
		link_send(batch->link, batch->out.data, batch->out.size);
	}
	buf_release(&batch->out);
	link_unref(batch->link);
	free(batch);
}

void batch_begun(struct batch *batch)
{
	batch_done(batch);
}

struct call *call_new(struct link *link, struct batch *batch, json_t *id, json_t *params, bool large)
{
	struct call *call = xcalloc(1, sizeof(*call));

	call->refs = 2;
	call->link = link;
	link->refs++;
	link->busy++;
	link->large += large;
	tally_add(link->tally);
	call->batch = batch;
	if (batch != NULL)
		batch->pending++;
	call->id = id;
	call->params = params;
	call->large = large;
	return call;
}

void call_unref(struct call *call)
{
	if (--call->refs > 0)
		return;
	json_decref(call->id);
	json_decref(call->params);
	link_unref(call->link);
	free(call);
}

static void request_answer(struct call *call, const char *member, const json_t *value)
{
	struct buf b = { 0 };

	request_document(&b, call->id, member, value);
	if (call->batch == NULL) {
		link_send(call->link, b.data, b.size);
	} else if (call->batch->out.size + b.size > BATCH_MAX) {
		batch_error(call->batch, call->id, RPC_LIMIT_REACHED,
		    "the answer does not fit into the batch: request it separately");
	} else {
		batch_add(call->batch, b.data, b.size);
	}
	buf_release(&b);
}

/* End of the call, whether or not it was answered. */
static void request_finish(struct call *call)
{
	struct link *link = call->link;

	assert(!call->answered);
	call->answered = true;
	if (call->waiting) {
		TAILQ_REMOVE(&link->waits, call, entry);
		link->waiting--;
	} else {
		link->busy--;
	}
	link->large -= call->large;
	if (call->batch != NULL)
		batch_done(call->batch);
	if (link->ops != NULL)
		link->ops->relieved(link->arg);
	tally_drop(link->tally);
	call_unref(call);
}

void call_ok(struct call *call, json_t *result)
{
	assert(result != NULL);
	if (call->id != NULL && call->link->ops != NULL)
		request_answer(call, "result", result);
	json_decref(result);
	request_finish(call);
}

static void request_fail(struct call *call, int code, const char *field, const char *hint, const char *fmt, va_list ap)
    __attribute__((format(printf, 5, 0)));

static void request_fail(struct call *call, int code, const char *field, const char *hint, const char *fmt, va_list ap)
{
	char *message = NULL;
	json_t *error;

	message = xvasprintf(fmt, ap);
	if (call->id != NULL && call->link->ops != NULL) {
		error = error_object(code, field, hint, message);
		request_answer(call, "error", error);
		json_decref(error);
	}
	free(message);
	request_finish(call);
}

void call_error(struct call *call, int code, const char *field, const char *hint, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	request_fail(call, code, field, hint, fmt, ap);
	va_end(ap);
}

void call_drop(struct call *call)
{
	request_finish(call);
}

struct reply reply_ok(struct call *call, json_t *result)
{
	call_ok(call, result);
	return (struct reply){ call };
}

struct reply reply_error(struct call *call, int code, const char *field, const char *hint, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	request_fail(call, code, field, hint, fmt, ap);
	va_end(ap);
	return (struct reply){ call };
}

struct reply reply_later(struct call *call)
{
	call->later = true;
	return (struct reply){ call };
}

bool call_kept(const struct call *call, struct reply reply)
{
	return reply.call == call && (call->answered || call->later);
}

void call_wait(struct call *call, void (*gone)(void *arg), void *arg)
{
	assert(!call->waiting && !call->answered);
	call->waiting = true;
	call->gone = gone;
	call->arg = arg;
	call->link->busy--;
	call->link->waiting++;
	call->link->large -= call->large;
	call->large = false;
	TAILQ_INSERT_TAIL(&call->link->waits, call, entry);
	if (call->link->ops == NULL)
		gone(arg);
	else
		call->link->ops->relieved(call->link->arg);
}

void link_cancel(struct link *link, const json_t *id)
{
	struct call *call;
	json_t *error;

	TAILQ_FOREACH(call, &link->waits, entry)
		if (json_equal(call->id, id))
			break;
	if (call == NULL || id == NULL || link->ops == NULL)
		return;
	error = error_object(RPC_CANCELLED, NULL, NULL, "the call was cancelled");
	request_answer(call, "error", error);
	json_decref(error);
	call->gone(call->arg);
}

struct link *call_link(const struct call *call)
{
	return call->link;
}

uid_t call_uid(const struct call *call)
{
	return call->link->caller.peer.uid;
}

const struct caller *link_caller(const struct link *link)
{
	return &link->caller;
}

void link_set_rank(struct link *link, enum rank rank)
{
	link->caller.rank = rank;
}

json_t *call_param(const struct call *call, const char *name)
{
	return json_object_get(call->params, name);
}

const char *call_text(const struct call *call, const char *name)
{
	return json_string_value(call_param(call, name));
}

int64_t call_int(const struct call *call, const char *name, int64_t fallback)
{
	const json_t *value = call_param(call, name);

	return json_is_integer(value) ? json_integer_value(value) : fallback;
}

bool call_flag(const struct call *call, const char *name)
{
	return json_is_true(call_param(call, name));
}

const json_t *call_params(const struct call *call)
{
	return call->params;
}
