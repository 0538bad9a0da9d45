/* The netlink socket of taskstats. No function waits. */
#pragma once

#include <camp/camp.h>

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MESSAGES_AT_ONCE 32u

int camp_taskstats_connect(int *ret_descriptor, struct camp_error *error);

struct nlmsghdr *camp_taskstats_begin(void *buffer, uint16_t type, uint8_t command,
                                      uint32_t sequence);

int camp_taskstats_send(int descriptor, const void *bytes, size_t length, struct camp_error *error);

/* Receives one message. Returns its length, or -1 with errno, which is EAGAIN if no message waits.
 * An answer waits as soon as its question was sent. `flags` are those of recv(2). */
ssize_t camp_taskstats_receive(int descriptor, void *buffer, size_t capacity, int flags);

/* Receives up to `count` messages (at most MESSAGES_AT_ONCE). Message i begins at buffer + i *
 * message_size and has lengths[i] bytes. Returns the number of messages, or -1 with errno, which is
 * EAGAIN if no message waits. */
int camp_taskstats_receive_many(int descriptor, char *buffer, size_t message_size, size_t count,
                                size_t *lengths);
