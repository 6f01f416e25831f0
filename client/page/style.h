/* SPDX-License-Identifier: MIT */
/* The rules of every page, from client/page/page.css. */
#ifndef CLIENT_PAGE_STYLE_H
#define CLIENT_PAGE_STYLE_H

extern const char page_style[];

#endif
