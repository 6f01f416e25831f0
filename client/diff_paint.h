/* SPDX-License-Identifier: MIT */
#ifndef CLIENT_DIFF_PAINT_H
#define CLIENT_DIFF_PAINT_H

#include "client/print.h"

/* Colour of a line of a unified diff. */
enum paint diff_paint(const char *line);

#endif
