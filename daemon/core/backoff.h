/* SPDX-License-Identifier: MIT */
/* The wait before a failed service is asked again. Pure. */
#ifndef CORE_BACKOFF_H
#define CORE_BACKOFF_H

#include <stdint.h>

/* The longest back-off. A service that needs longer has reached a limit. */
#define BACKOFF_MAX_MS (INT64_C(10) * 60 * 1000)

/* ms before try number n, 1 the first: 5 s, doubled each time up to BACKOFF_MAX_MS, then up to a
 * quarter more or less, so that attempts that failed together do not return together. seed: name of
 * the waiting attempt; the same seed gives the same wait. */
int64_t backoff_ms(int64_t n, const char *seed);

/* Milliseconds before the next try of something that has been failing for elapsed_ms: the same time
 * again, at least 1 s and at most max_ms, spread by up to a quarter. */
int64_t backoff_again_ms(int64_t elapsed_ms, int64_t max_ms, const char *seed);

/* TIME of that try. reset_at: when the service will be available again, ROW_NONE if unknown; it
 * counts if later than the back-off, up to BACKOFF_MAX_MS from now. */
int64_t backoff_until(int64_t now, int64_t n, int64_t reset_at, const char *seed);

#endif
