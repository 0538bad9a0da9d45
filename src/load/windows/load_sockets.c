#include "load/load_sockets.h"
#include "load_adapters.h"
#include "load_system.h"

#include "counters/error.h"
#include "load/load_tools.h"
#include "program/command.h"

#ifndef IP_DONTFRAGMENT
#define IP_DONTFRAGMENT 14
#endif
#ifndef IPV6_DONTFRAG
#define IPV6_DONTFRAG 14
#endif
#define PATIENCE_MS 20
#define MULTICAST 0xe0000000u /* 224.0.0.0, of which four bits count */

struct connection {
    const char *target_text;
    struct sockaddr_storage target;
    int target_size;
    SOCKET sender, receiver;
};

static int failed(struct camp_error *error, const char *what)
{
    return windows_failed(error, (DWORD)WSAGetLastError(), what);
}

static int refused(struct camp_error *error, const struct connection *run)
{
    return camp_fail(error, CAMP_E_INVALID, WSAGetLastError(),
                     "%s is not an address of this machine: packets go to nobody else",
                     run->target_text);
}

static int read_target(struct connection *run, struct camp_error *error)
{
    struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_DGRAM };
    struct addrinfo *found;

    if (getaddrinfo(run->target_text, NULL, &hints, &found) != 0)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "'%s' is not an IPv4 or IPv6 address such as 127.0.0.1", run->target_text);
    memcpy(&run->target, found->ai_addr, found->ai_addrlen);
    run->target_size = (int)found->ai_addrlen;
    freeaddrinfo(found);
    return CAMP_OK;
}

/* Returns false for a wildcard, broadcast or multicast address: packets to them could reach other
 * programs. */
static bool is_one_address(const struct sockaddr_storage *address)
{
    const struct sockaddr_in *ip = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *ip6 = (const struct sockaddr_in6 *)address;

    if (address->ss_family == AF_INET)
        return (ntohl(ip->sin_addr.s_addr) & 0xf0000000u) != MULTICAST &&
               ip->sin_addr.s_addr != INADDR_ANY && ip->sin_addr.s_addr != INADDR_BROADCAST;
    return !IN6_IS_ADDR_MULTICAST(&ip6->sin6_addr) && !IN6_IS_ADDR_UNSPECIFIED(&ip6->sin6_addr);
}

static bool is_same(const struct sockaddr_storage *target, const struct sockaddr *address)
{
    const struct sockaddr_in *ip = (const struct sockaddr_in *)target;
    const struct sockaddr_in6 *ip6 = (const struct sockaddr_in6 *)target;

    if (target->ss_family != address->sa_family)
        return false;
    if (target->ss_family == AF_INET)
        return memcmp(&ip->sin_addr, &((const struct sockaddr_in *)address)->sin_addr,
                      sizeof ip->sin_addr) == 0;
    return memcmp(&ip6->sin6_addr, &((const struct sockaddr_in6 *)address)->sin6_addr,
                  sizeof ip6->sin6_addr) == 0;
}

IP_ADAPTER_ADDRESSES *adapters_read(void)
{
    IP_ADAPTER_ADDRESSES *list = NULL;
    ULONG size = 0, result;

    /* The list may grow between two calls. */
    while ((result = GetAdaptersAddresses(AF_UNSPEC, 0, NULL, list, &size)) ==
           ERROR_BUFFER_OVERFLOW) {
        free(list);
        list = malloc(size);
        if (list == NULL)
            return NULL;
    }
    if (result == NO_ERROR)
        return list;
    free(list);
    return NULL;
}

/* Returns whether an adapter of this machine has the address. bind() alone does not tell: Wine also
 * binds addresses of other machines. */
static bool is_own_address(const struct sockaddr_storage *target)
{
    IP_ADAPTER_ADDRESSES *adapters = adapters_read();
    bool is_own = false;

    for (const IP_ADAPTER_ADDRESSES *adapter = adapters; adapter != NULL; adapter = adapter->Next)
        for (const IP_ADAPTER_UNICAST_ADDRESS *address = adapter->FirstUnicastAddress;
             address != NULL; address = address->Next)
            is_own |= is_same(target, address->Address.lpSockaddr);
    free(adapters);
    return is_own;
}

static bool set_number(SOCKET socket, int level, int option, DWORD value)
{
    return setsockopt(socket, level, option, (const char *)&value, sizeof value) == 0;
}

/* Sets options of the socket, so that no packet passes a gateway, and none is fragmented. */
static bool restrain(SOCKET sender, int family)
{
    if (!set_number(sender, SOL_SOCKET, SO_DONTROUTE, 1))
        return false;
    if (family == AF_INET)
        return set_number(sender, IPPROTO_IP, IP_TTL, 1) &&
               set_number(sender, IPPROTO_IP, IP_DONTFRAGMENT, 1);
    return set_number(sender, IPPROTO_IPV6, IPV6_UNICAST_HOPS, 1) &&
           set_number(sender, IPPROTO_IPV6, IPV6_DONTFRAG, 1);
}

static int connect_ends(struct connection *run, struct camp_error *error)
{
    struct sockaddr_storage from;
    int from_size = sizeof from;

    if (bind(run->receiver, (struct sockaddr *)&run->target, run->target_size) != 0)
        return WSAGetLastError() == WSAEADDRNOTAVAIL ? refused(error, run)
                                                     : failed(error, "the receiver's address");
    if (getsockname(run->receiver, (struct sockaddr *)&run->target, &run->target_size) != 0 ||
        !restrain(run->sender, run->target.ss_family))
        return failed(error, "the sockets' options");
    if (connect(run->sender, (struct sockaddr *)&run->target, run->target_size) != 0)
        return failed(error, "the way to the receiver");
    if (getsockname(run->sender, (struct sockaddr *)&from, &from_size) != 0 ||
        connect(run->receiver, (struct sockaddr *)&from, from_size) != 0 ||
        !set_number(run->receiver, SOL_SOCKET, SO_RCVTIMEO, PATIENCE_MS))
        return failed(error, "the way back to the sender");
    return CAMP_OK;
}

static int open_ends(struct connection *run, struct camp_error *error)
{
    run->sender = socket(run->target.ss_family, SOCK_DGRAM, 0);
    run->receiver = socket(run->target.ss_family, SOCK_DGRAM, 0);
    return run->sender != INVALID_SOCKET && run->receiver != INVALID_SOCKET
               ? connect_ends(run, error)
               : failed(error, "a UDP socket");
}

int load_sockets_open(struct load_sockets *ret, const struct load_net_plan *plan,
                      struct camp_error *error)
{
    struct connection run = { .target_text = plan->target != NULL ? plan->target : "127.0.0.1",
                              .sender = INVALID_SOCKET,
                              .receiver = INVALID_SOCKET };
    WSADATA data;
    int r = WSAStartup(MAKEWORD(2, 2), &data);

    if (r != 0)
        return windows_failed(error, (DWORD)r, "Windows Sockets");
    r = read_target(&run, error);
    if (r == CAMP_OK && !(is_one_address(&run.target) && is_own_address(&run.target)))
        r = refused(error, &run);
    if (r == CAMP_OK)
        r = open_ends(&run, error);
    *ret = (struct load_sockets){ run.sender != INVALID_SOCKET ? (intptr_t)run.sender : -1,
                                  run.receiver != INVALID_SOCKET ? (intptr_t)run.receiver : -1,
                                  run.target.ss_family == AF_INET6 };
    if (r != CAMP_OK)
        load_sockets_close(ret);
    return r;
}

void load_sockets_close(struct load_sockets *sockets)
{
    if (sockets->sender != -1)
        closesocket((SOCKET)sockets->sender);
    if (sockets->receiver != -1)
        closesocket((SOCKET)sockets->receiver);
    WSACleanup();
}

int64_t load_sockets_send(const struct load_sockets *sockets, const char *payload, size_t bytes,
                          struct camp_error *error)
{
    const int sent = send((SOCKET)sockets->sender, payload, (int)bytes, 0);

    if (sent >= 0)
        return sent;
    if (WSAGetLastError() == WSAEMSGSIZE)
        return camp_fail(error, CAMP_E_INVALID, WSAGetLastError(),
                         "%llu bytes do not fit in one packet of that interface; give fewer bytes",
                         (unsigned long long)bytes);
    return failed(error, "sending a packet");
}

int64_t load_sockets_receive(const struct load_sockets *sockets, char *ret, size_t size)
{
    return recv((SOCKET)sockets->receiver, ret, (int)size, 0);
}

int load_namespace_open(const char *name, int *ret)
{
    *ret = -1;
    if (name == NULL)
        return STATUS_OK;
    return complain(STATUS_FAILURE, "--from-namespace and --to-namespace: %s",
                    load_refusal(LOAD_NAMESPACES));
}
