/* SPDX-License-Identifier: MIT */
/* The attempts of a run as bars over time, as inline SVG. */
#ifndef CLIENT_PAGE_TIMELINE_H
#define CLIENT_PAGE_TIMELINE_H

#include <jansson.h>

#include "client/page/html.h"

/* A section with the bars, their legend and a table with the same. Nothing before the first
 * attempt. */
void timeline_view(struct html *h, const json_t *d);

#endif
