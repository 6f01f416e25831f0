/* SPDX-License-Identifier: MIT */
/* A run as one HTML page. */
#ifndef CLIENT_PAGE_RUN_PAGE_H
#define CLIENT_PAGE_RUN_PAGE_H

#include <jansson.h>
#include <stddef.h>

#include "client/page/page_frame.h"

/* Only of d, the document of gather.h. The caller frees. */
char *run_page(const json_t *d, const struct page_frame *frame, size_t *size);

/* The page as a file, which refers to nothing outside of itself. */
extern const struct page_frame run_page_file;

#endif
