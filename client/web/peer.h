/* SPDX-License-Identifier: MIT */
/* The user at the other end of a TCP connection of this host. */
#ifndef CLIENT_WEB_PEER_H
#define CLIENT_WEB_PEER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/types.h>

/* The owner of the socket at address, connected to port of 127.0.0.1. Returns false if the kernel
 * does not tell. */
bool peer_user(const struct sockaddr_in *address, in_port_t port, uid_t *uid);

#endif
