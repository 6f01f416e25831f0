/* SPDX-License-Identifier: MIT */
/* Which function answers a request. */
#ifndef CLIENT_WEB_ROUTE_H
#define CLIENT_WEB_ROUTE_H

#include "client/web/web_request.h"

/* Answer a request that guard_check() has let pass. */
struct reply route_reply(struct request *r);

#endif
