/* SPDX-License-Identifier: MIT */
/* The nonce of a review attempt: a verdict that bears it was written for this attempt. Pure. */
#ifndef CORE_NONCE_H
#define CORE_NONCE_H

#define NONCE_SIZE 9		/* eight hexadecimal digits, and NUL */
#define NONCE_HALF 4
#define NONCE_HALVES_SIZE 24
/* Shown in place of a nonce where there is no attempt. */
#define NONCE_NONE "XXXXXXXX"

/* From the attempt's UUID, which is random. */
void nonce_of(const char *uuid, char nonce[NONCE_SIZE]);

/* As a prompt gives it, so that no text of a prompt bears it: "`7f3a` and `9c01`". */
void nonce_halves(const char *nonce, char halves[NONCE_HALVES_SIZE]);

#endif
