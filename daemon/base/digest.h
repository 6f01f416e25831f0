/* SPDX-License-Identifier: MIT */
/* SHA-256 in lower-case hex, by libmd. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stddef.h>

#define DIGEST_HEX 65	/* including NUL */

struct digest;

/* In pieces. digest_end() frees; hex NULL: the result is not wanted. */
struct digest *digest_new(void);
void digest_add(struct digest *digest, const void *data, size_t size);
void digest_end(struct digest *digest, char *hex);

void digest_hex(const void *data, size_t size, char hex[DIGEST_HEX]);
/* Of a file. 0 or an errno. */
int digest_file(const char *path, char hex[DIGEST_HEX]);

#endif
