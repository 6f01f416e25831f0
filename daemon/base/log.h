/* SPDX-License-Identifier: MIT */
/* Log lines on stderr with journal priorities ("<6>text"); control characters are made visible. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_level(enum log_level level);
/* 0, or -1 for an unknown name ("error", "warn", "info", "debug"). */
int log_level_parse(const char *name, enum log_level *level);

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A broken invariant: the line starts with "bug: ", which every system test looks for. Returns. */
void log_bug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The environment is unusable: log and _exit(1). */
_Noreturn void log_fatal(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
