/* SPDX-License-Identifier: MIT */
/* Warnings about a run at its submit: settings without effect, secrets that would be stored, a
 * daemon that a logout ends. */
#ifndef RPC_SUBMIT_WARNINGS_H
#define RPC_SUBMIT_WARNINGS_H

struct logout;
struct plan;

/* A JSON array of sentences, malloc'd; NULL: none. task_plans: plans of single tasks,
 * NULL-terminated or NULL. */
char *submit_warnings(const struct plan *plan, char *const *task_plans, const struct logout *logout);

#endif
