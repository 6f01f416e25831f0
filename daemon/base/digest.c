/* SPDX-License-Identifier: MIT */
#include "base/digest.h"

#include <errno.h>
#include <sha256.h>
#include <stdlib.h>

#include "proto/memory.h"

struct digest {
	SHA2_CTX context;
};

struct digest *digest_new(void)
{
	struct digest *digest = xcalloc(1, sizeof(*digest));

	SHA256Init(&digest->context);
	return digest;
}

void digest_add(struct digest *digest, const void *data, size_t size)
{
	SHA256Update(&digest->context, data, size);
}

void digest_end(struct digest *digest, char *hex)
{
	if (hex != NULL)
		SHA256End(&digest->context, hex);
	free(digest);
}

void digest_hex(const void *data, size_t size, char hex[DIGEST_HEX])
{
	SHA256Data(data, size, hex);
}

int digest_file(const char *path, char hex[DIGEST_HEX])
{
	return SHA256File(path, hex) == NULL ? errno : 0;
}
