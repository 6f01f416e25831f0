/* SPDX-License-Identifier: MIT */
/* Fields of a form as a browser sends them. Pure. */
#ifndef CLIENT_WEB_FORM_H
#define CLIENT_WEB_FORM_H

#include <jansson.h>
#include <stddef.h>

#define FORM_FIELDS_MAX 16

/* application/x-www-form-urlencoded: {name: text}, with line breaks as LF. NULL: it is malformed,
 * not UTF-8, has a NUL, a name twice, or too many fields. */
json_t *form_read(const char *body, size_t size);

/* A text as part of the query of an address; the caller frees. */
char *form_encode(const char *text);

#endif
