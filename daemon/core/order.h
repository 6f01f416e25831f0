/* SPDX-License-Identifier: MIT */
/* What the trees of the scheduler have in common. */
#ifndef CORE_ORDER_H
#define CORE_ORDER_H

#include <stdint.h>
#include <sys/tree.h>

/* Functions of an RB_HEAD, for the file that uses it. RB_GENERATE_STATIC needs a macro name that
 * the C library defines otherwise. */
#define TREE(name, type, field, compare) \
	RB_GENERATE_INTERNAL(name, type, field, compare, __attribute__((unused)) static)

static inline int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

#endif
