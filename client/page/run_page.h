/* SPDX-License-Identifier: MIT */
/* A run as one HTML page that refers to nothing outside of itself. */
#ifndef CLIENT_PAGE_RUN_PAGE_H
#define CLIENT_PAGE_RUN_PAGE_H

#include <jansson.h>
#include <stddef.h>

/* Only of d, the document of gather.h. The caller frees. */
char *run_page(const json_t *d, size_t *size);

#endif
