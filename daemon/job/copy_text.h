/* SPDX-License-Identifier: MIT */
/* The text of copy.sh, embedded at build. */
#ifndef JOB_COPY_TEXT_H
#define JOB_COPY_TEXT_H

extern const char copy_text[];

#endif
