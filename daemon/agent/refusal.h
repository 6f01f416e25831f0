/* SPDX-License-Identifier: MIT */
/* The meaning of a refusal by the model's service, from its HTTP status and message. Only for what
 * a program reports as its failure: good work may contain the same words. */
#ifndef AGENT_REFUSAL_H
#define AGENT_REFUSAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/state.h"

struct refusal {
	enum provider_result provider;
	bool transient;		/* ERROR: a temporary one */
};

/* status: 0: none apart from the words. words: of the program, or NULL. otherwise: the result when
 * neither shows anything; PROVIDER_ERROR where the reader knows that the service failed. */
struct refusal refusal_of(int64_t status, const char *words, enum provider_result otherwise);

/* The words contain a phrase of a refusal. Numbers in them do not count here. */
bool refusal_is_said(const char *words, enum provider_result provider);

#endif
