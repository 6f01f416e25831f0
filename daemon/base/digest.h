/* SPDX-License-Identifier: MIT */
/* SHA-256 in lower-case hex, by libmd. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stddef.h>

#define DIGEST_HEX 65	/* including NUL */

void digest_hex(const void *data, size_t size, char hex[DIGEST_HEX]);

#endif
