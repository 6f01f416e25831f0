/* SPDX-License-Identifier: MIT */
/* Texts of the server that are files here: client/web/web.css and client/web/live.js. */
#ifndef CLIENT_WEB_WEB_TEXT_H
#define CLIENT_WEB_WEB_TEXT_H

extern const char web_style[], web_script[];

#endif
