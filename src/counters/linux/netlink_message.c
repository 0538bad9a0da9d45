#include "netlink_message.h"

#include <string.h>

_Static_assert(sizeof(struct nlattr) % 4 == 0 && sizeof(struct nlmsghdr) % 4 == 0, "no padding");

static size_t padded(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

static char *end_of(struct nlmsghdr *message)
{
    return (char *)message + message->nlmsg_len;
}

void camp_netlink_append(struct nlmsghdr *message, const void *bytes, size_t size)
{
    const size_t padding = padded(size) - size;

    if (size > 0)
        memcpy(end_of(message), bytes, size);
    memset(end_of(message) + size, 0, padding);
    message->nlmsg_len += (uint32_t)(size + padding);
}

struct nlmsghdr *camp_netlink_start(void *memory, uint16_t type, uint16_t flags, const void *header,
                                    size_t size)
{
    struct nlmsghdr *message = memory;

    *message = (struct nlmsghdr){
        .nlmsg_len = sizeof *message,
        .nlmsg_type = type,
        .nlmsg_flags = NLM_F_REQUEST | flags,
    };
    camp_netlink_append(message, header, size);
    return message;
}

void camp_netlink_put(struct nlmsghdr *message, uint16_t type, const void *value, size_t size)
{
    const struct nlattr attribute = { .nla_len = (uint16_t)(sizeof(struct nlattr) + size),
                                      .nla_type = type };

    camp_netlink_append(message, &attribute, sizeof attribute);
    camp_netlink_append(message, value, size);
}

void camp_netlink_put_text(struct nlmsghdr *message, uint16_t type, const char *text)
{
    camp_netlink_put(message, type, text, strlen(text) + 1);
}

void camp_netlink_put_u32(struct nlmsghdr *message, uint16_t type, uint32_t value)
{
    camp_netlink_put(message, type, &value, sizeof value);
}

struct nlattr *camp_netlink_open(struct nlmsghdr *message, uint16_t type)
{
    struct nlattr *attribute = (void *)end_of(message);

    camp_netlink_put(message, type, NULL, 0);
    return attribute;
}

void camp_netlink_close(struct nlmsghdr *message, struct nlattr *attribute)
{
    attribute->nla_len = (uint16_t)(end_of(message) - (char *)attribute);
}

const void *camp_netlink_payload(const struct nlmsghdr *message)
{
    return message + 1;
}

size_t camp_netlink_payload_length(const struct nlmsghdr *message)
{
    return message->nlmsg_len - sizeof *message;
}

struct camp_netlink_attributes camp_netlink_attributes(const struct nlmsghdr *message,
                                                       size_t header_size)
{
    const char *payload = camp_netlink_payload(message);
    const size_t length = camp_netlink_payload_length(message);
    const size_t skipped = padded(header_size);

    return (struct camp_netlink_attributes){ payload + (skipped < length ? skipped : length),
                                             payload + length };
}

struct camp_netlink_attributes camp_netlink_nested(const struct nlattr *attribute)
{
    const char *value = camp_netlink_value(attribute);

    return (struct camp_netlink_attributes){ value, value + camp_netlink_value_length(attribute) };
}

const struct nlattr *camp_netlink_next(struct camp_netlink_attributes *rest)
{
    const struct nlattr *attribute = (const void *)rest->at;
    const size_t left = (size_t)(rest->end - rest->at);
    size_t length;

    if (left < sizeof *attribute || attribute->nla_len < sizeof *attribute ||
        attribute->nla_len > left)
        return NULL;
    length = padded(attribute->nla_len);
    rest->at += length < left ? length : left;
    return attribute;
}

uint16_t camp_netlink_type(const struct nlattr *attribute)
{
    return attribute->nla_type & (uint16_t)NLA_TYPE_MASK;
}

const void *camp_netlink_value(const struct nlattr *attribute)
{
    return attribute + 1;
}

size_t camp_netlink_value_length(const struct nlattr *attribute)
{
    return attribute->nla_len - sizeof *attribute;
}
