/* SPDX-License-Identifier: MIT */
/* jansson without a failure: a value that lacks a member for want of memory is no answer. */
#ifndef PROTO_JSON_MEMORY_H
#define PROTO_JSON_MEMORY_H

/* Its allocations succeed or abort from now on. Call it before any other function of jansson. */
void json_memory_begin(void);

#endif
