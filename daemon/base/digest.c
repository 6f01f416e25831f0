/* SPDX-License-Identifier: MIT */
#include "base/digest.h"

#include <sha256.h>

void digest_hex(const void *data, size_t size, char hex[DIGEST_HEX])
{
	SHA256Data(data, size, hex);
}
