/* SPDX-License-Identifier: MIT */
/* A pending call, and the link to its client. Their lifetimes are independent, so a client may
 * leave while its call is being worked on. */
#ifndef RPC_REQUEST_H
#define RPC_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/error.h"
#include "rpc/caller.h"

struct link;
struct call;
struct batch;

/* Callbacks of the server for a link. */
struct link_ops {
	void (*send)(void *arg, const char *json, size_t size);	/* one document, copied */
	bool (*room)(void *arg);		/* whether more may be sent unasked */
	bool (*deaf)(void *arg);		/* the client reads no answers any more; its
						 * documents are still taken */
	/* a call has ended: more documents may be processed */
	void (*relieved)(void *arg);
};

/* Work under way that outlives its client. A tear-down waits until count is 0. */
struct tally {
	size_t count;
	void (*none)(void *arg);	/* called when count becomes 0; NULL: no caller waits */
	void *arg;
};

void tally_add(struct tally *tally);
void tally_drop(struct tally *tally);

/* tally counts unanswered calls. caller is copied. */
struct link *link_new(const struct caller *caller, struct tally *tally, const struct link_ops *ops, void *arg);
/* The client is gone: drop its answers from now on, and notify waiting calls. The link lives as
 * long as its calls. */
void link_close(struct link *link);

void link_send(struct link *link, const char *json, size_t size);
bool link_room(const struct link *link);
bool link_deaf(const struct link *link);
/* There is room for output again. */
void link_writable(struct link *link);

/* Number of calls being processed; calls that only wait for an event are counted separately. */
size_t link_busy(const struct link *link);
size_t link_waiting(const struct link *link);
/* Whether a call is in progress whose result may be large: process no other document until it is
 * answered. */
bool link_large(const struct link *link);

/* The subscriptions of a link, as one. writable() and gone() may be called until it is removed with
 * NULL. */
void link_follow(struct link *link, void *follower, void (*writable)(void *follower), void (*gone)(void *follower));
void *link_follower(const struct link *link);

/* Answers of a batch are collected until all of its calls are answered. */
struct batch *batch_new(struct link *link);
/* An answer without a call. */
void batch_error(struct batch *batch, json_t *id, int code, const char *message);
/* All calls of the batch have begun. */
void batch_begun(struct batch *batch);

/* Maximum size of a batch's answer: calls whose answer does not fit fail with limit-reached. */
#define BATCH_MAX (1024 * 1024)

/* id NULL: a notification. params: object, checked by method_bind(). Takes ownership of both. batch
 * may be NULL. */
struct call *call_new(struct link *link, struct batch *batch, json_t *id, json_t *params, bool large);
void call_unref(struct call *call);

/* A handler's promise that its call was or will be answered. Only the three functions below return
 * one. */
struct reply {
	const struct call *call;
};

/* Takes ownership of result. */
struct reply reply_ok(struct call *call, json_t *result);
/* field, hint: NULL if there is none. */
struct reply reply_error(struct call *call, int code, const char *field, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* call_ok() or call_error() is called exactly once, before or after. */
struct reply reply_later(struct call *call);

void call_ok(struct call *call, json_t *result);
void call_error(struct call *call, int code, const char *field, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* For the dispatcher: whether the handler kept its promise. */
bool call_kept(const struct call *call, struct reply reply);

/* The call waits for something that may never happen, and no longer counts as large: if the client
 * disconnects before the answer, gone() is called once and must end the call with call_drop();
 * immediately, if the client is gone already. */
void call_wait(struct call *call, void (*gone)(void *arg), void *arg);
void call_drop(struct call *call);

/* Answer the waiting call with this id with call-cancelled, and end it as if its client had gone. A
 * call that is being worked on, or that is not there, is left alone. */
void link_cancel(struct link *link, const json_t *id);

struct link *call_link(const struct call *call);
uid_t call_uid(const struct call *call);
const struct caller *link_caller(const struct link *link);
/* The settings have changed. */
void link_set_rank(struct link *link, enum rank rank);

/* Parameters, valid until the answer. Missing ones give NULL, fallback or false. */
json_t *call_param(const struct call *call, const char *name);
const char *call_text(const struct call *call, const char *name);
int64_t call_int(const struct call *call, const char *name, int64_t fallback);
bool call_flag(const struct call *call, const char *name);
const json_t *call_params(const struct call *call);

/* An error document without a call, for unreadable input. malloc'd, *size bytes. */
char *error_document(json_t *id, int code, const char *message, size_t *size);

#endif
