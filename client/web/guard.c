/* SPDX-License-Identifier: MIT */
#include "client/web/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/memory.h"

/* "127.0.0.1:PORT" or "localhost:PORT", behind prefix. */
static bool guard_names_us(const char *text, const char *prefix, in_port_t port)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	char wanted[64];

	for (size_t i = 0; text != NULL && i < ARRAY_SIZE(names); i++) {
		snprintf(wanted, sizeof(wanted), "%s%s:%u", prefix, names[i], port);
		if (strcasecmp(wanted, text) == 0)
			return true;
	}
	return false;
}

/* A name that an attacker's DNS server leads to 127.0.0.1 is another one. */
static bool guard_bad_host(const struct guard_head *head)
{
	return !guard_names_us(head->host, "", head->port);
}

/* The page that sends a form, or asks by script, is one of ours. Browsers send Origin with each
 * POST. */
static bool guard_bad_origin(const struct guard_head *head)
{
	return (head->post || head->origin != NULL) && (!guard_names_us(head->origin, "http://", head->port) ||
	    strcasecmp(head->origin + strlen("http://"), head->host) != 0);
}

static bool guard_bad_type(const struct guard_head *head)
{
	static const char form[] = "application/x-www-form-urlencoded";

	return head->post && (head->type == NULL || strncasecmp(head->type, form, strlen(form)) != 0 ||
	    strchr("; \t", head->type[strlen(form)]) == NULL);
}

static bool guard_no_length(const struct guard_head *head)
{
	return head->encoding != NULL || (head->post && head->length == NULL);
}

static bool guard_too_large(const struct guard_head *head)
{
	const char *digits = head->length;

	return digits != NULL && (*digits == '\0' || strspn(digits, "0123456789") != strlen(digits) ||
	    strtoull(digits, NULL, 10) > BODY_MAX);
}

static bool guard_has_body(const struct guard_head *head)
{
	return !head->post && head->length != NULL && strcmp(head->length, "0") != 0;
}

/* The first that is so. */
static const struct {
	bool (*is_wrong)(const struct guard_head *head);
	struct guard_reason reason;
} checks[] = {
	{ guard_bad_host, { 421, "This server answers at 127.0.0.1 and localhost only." } },
	{ guard_bad_origin, { 403, "This request comes from a page of another server." } },
	{ guard_bad_type, { 415, "Only forms are accepted." } },
	{ guard_no_length, { 411, "The request does not say how long it is." } },
	{ guard_too_large, { 413, "A form has at most 64 KiB." } },
	{ guard_has_body, { 400, "Only a POST has a body." } },
};

const struct guard_reason *guard_check(const struct guard_head *head)
{
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		if (checks[i].is_wrong(head))
			return &checks[i].reason;
	return NULL;
}
