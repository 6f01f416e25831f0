/* SPDX-License-Identifier: MIT */
#include "core/nonce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "proto/memory.h"

void nonce_of(const char *uuid, char nonce[NONCE_SIZE])
{
	char hex[DIGEST_HEX], *text = xasprintf("nonce %s", uuid);

	digest_hex(text, strlen(text), hex);
	free(text);
	memcpy(nonce, hex, NONCE_SIZE - 1);
	nonce[NONCE_SIZE - 1] = '\0';
}

void nonce_halves(const char *nonce, char halves[NONCE_HALVES_SIZE])
{
	snprintf(halves, NONCE_HALVES_SIZE, "`%.4s` and `%.4s`", nonce, nonce + 4);
}
