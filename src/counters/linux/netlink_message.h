/*
 * Messages of netlink(7): a header, a fixed struct of the message's type, and attributes. An
 * attribute has a type, a length and a value, which may be more attributes. The bytes of a message
 * are not trusted: a reader never goes beyond the length that the caller gives.
 *
 * Layout: linux/netlink.h. Messages and attributes start at multiples of 4 bytes.
 */
#pragma once

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

/* Starts a request in `memory`, which must have space for the whole message and be aligned to 4
 * bytes. `header` is the struct of the message's type, which has `size` bytes. */
struct nlmsghdr *camp_netlink_start(void *memory, uint16_t type, uint16_t flags, const void *header,
                                    size_t size);

/* Appends `size` bytes, and zeros up to the next multiple of 4. */
void camp_netlink_append(struct nlmsghdr *message, const void *bytes, size_t size);

/* Append an attribute. */
void camp_netlink_put(struct nlmsghdr *message, uint16_t type, const void *value, size_t size);
void camp_netlink_put_text(struct nlmsghdr *message, uint16_t type, const char *text);
void camp_netlink_put_u32(struct nlmsghdr *message, uint16_t type, uint32_t value);

/* Appends an attribute whose value is all that is appended until camp_netlink_close(). */
struct nlattr *camp_netlink_open(struct nlmsghdr *message, uint16_t type);
void camp_netlink_close(struct nlmsghdr *message, struct nlattr *attribute);

/* What follows the header of a message. nlmsg_len must be at least the size of the header. */
const void *camp_netlink_payload(const struct nlmsghdr *message);
size_t camp_netlink_payload_length(const struct nlmsghdr *message);

/* The attributes that were not read yet. */
struct camp_netlink_attributes {
    const char *at;
    const char *end;
};

/* The attributes that follow the first `header_size` bytes of the payload. There are none if the
 * payload is shorter. */
struct camp_netlink_attributes camp_netlink_attributes(const struct nlmsghdr *message,
                                                       size_t header_size);

/* The attributes in the value of an attribute. */
struct camp_netlink_attributes camp_netlink_nested(const struct nlattr *attribute);

/* The next attribute, whose whole value is in the message. NULL after the last one, and if the rest
 * is malformed. */
const struct nlattr *camp_netlink_next(struct camp_netlink_attributes *rest);

/* The type without the flags of nested attributes and of byte order. */
uint16_t camp_netlink_type(const struct nlattr *attribute);
const void *camp_netlink_value(const struct nlattr *attribute);
size_t camp_netlink_value_length(const struct nlattr *attribute);
