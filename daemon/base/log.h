/* SPDX-License-Identifier: MIT */
/* Log lines on stderr with journal priorities ("<6>text"); control characters are made visible.
 * Where stderr is the journal they have fields there. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_level(enum log_level level);
/* 0, or -1 for an unknown name ("error", "warn", "info", "debug"). */
int log_level_parse(const char *name, enum log_level *level);

/* From now on to this socket of journal_open(), if it is not -1. Before there are threads. */
void log_set_journal(int socket);

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* About a run, an attempt, or both (0: none), which the text names as well. */
void log_about(enum log_level level, int64_t run, int64_t attempt, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* A broken invariant: the line starts with "bug: ", which every system test looks for. Returns. */
void log_bug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The environment is unusable: log and _exit(1). */
_Noreturn void log_fatal(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
