/*
 * A client of a web server that sends requests at a fixed rate, whatever the server does (an open
 * loop, as httperf's), and reports how long the answers took.
 *
 *   paper_client ADDRESS PORT PATH CLIENTS RATE GROUP GROUP_SECONDS SECONDS close|keep
 *
 * CLIENTS start in groups of GROUP, one group every GROUP_SECONDS. Each client sends RATE requests
 * a second, at times that are fixed when it starts. The time of an answer counts from the fixed
 * time of its request to its last byte: if the server stalls, each request that had to wait counts
 * (in a closed loop, only one would). `close`: a connection for each request, as httperf makes
 * them; `keep`: a connection for each client.
 *
 * Prints one object: requests, failures, seconds, bytes, and the mean, p50, p95, p99 and maximum of
 * the answers' times, in us. httperf itself, which the paper used, polls without a pause (a whole
 * CPU) and has no percentiles; wrk sends a request only after the last answer.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000ull
#define CLIENTS_MAX 1000
#define HEAD_MAX 4096 /* size of an answer's head, in which its length is searched for */

struct client {
    uint64_t due_ns; /* start of the current request, or of the next one */
    int fd;          /* -1: not connected */
    bool waiting;    /* a request is not answered yet */
    bool written;
    size_t head_length; /* bytes of the answer's head so far */
    uint64_t received, expected;
    char head[HEAD_MAX];
};

static struct {
    struct sockaddr_in address;
    char request[512];
    size_t request_length;
    bool keep;
    struct client clients[CLIENTS_MAX];
    size_t count;
    uint64_t period_ns, end_ns;
    double *times_us;
    size_t answered, capacity, failed;
    uint64_t bytes;
} load;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}

/* ------------------------------------------------------------------------- One request -- */

static void disconnect(struct client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
}

/* Ends the request. The start of the next one does not depend on when this one ended. */
static void finish(struct client *client, bool answered)
{
    if (answered && load.answered < load.capacity)
        load.times_us[load.answered++] = (double)(now_ns() - client->due_ns) / 1e3;
    load.failed += !answered;
    client->waiting = false;
    client->due_ns += load.period_ns;
    if (!answered || !load.keep)
        disconnect(client);
}

static void begin(struct client *client)
{
    client->waiting = true;
    client->written = false;
    client->head_length = 0;
    client->received = 0;
    client->expected = 0;
    if (client->fd >= 0)
        return;
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (client->fd < 0 ||
        (connect(client->fd, (struct sockaddr *)&load.address, sizeof load.address) != 0 &&
         errno != EINPROGRESS))
        finish(client, false);
}

/* Returns the length of the whole answer, once its head is known; 0: not known yet. */
static uint64_t answer_length(struct client *client)
{
    const char *end, *length;

    client->head[client->head_length] = '\0';
    end = strstr(client->head, "\r\n\r\n");
    length = strcasestr(client->head, "\r\nContent-Length:");
    if (end == NULL || length == NULL || length > end)
        return 0;
    return (uint64_t)(end + 4 - client->head) + strtoull(length + 17, NULL, 10);
}

static void take(struct client *client, const char *bytes, size_t count)
{
    size_t room = sizeof client->head - 1 - client->head_length;

    load.bytes += count;
    client->received += count;
    if (client->expected == 0) {
        memcpy(client->head + client->head_length, bytes, count < room ? count : room);
        client->head_length += count < room ? count : room;
        client->expected = answer_length(client);
    }
    if (client->expected != 0 && client->received >= client->expected)
        finish(client, strncmp(client->head, "HTTP/1.1 200", 12) == 0);
}

static void advance(struct client *client)
{
    char bytes[65536];
    ssize_t count;

    if (!client->written) {
        if (send(client->fd, load.request, load.request_length, MSG_NOSIGNAL) !=
            (ssize_t)load.request_length) {
            finish(client, false);
            return;
        }
        client->written = true;
        return;
    }
    count = recv(client->fd, bytes, sizeof bytes, 0);
    if (count > 0)
        take(client, bytes, (size_t)count);
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
        finish(client, false);
}

/* ------------------------------------------------------------------------------- A run -- */

/* Starts the requests that are due; returns when the next one is due. The server may close a kept
 * connection between two requests: then the next request opens a new one. */
static uint64_t begin_due(uint64_t now)
{
    uint64_t next = UINT64_MAX;

    for (struct client *client = load.clients; client < load.clients + load.count; client++) {
        if (!client->waiting && client->due_ns <= now && client->due_ns < load.end_ns)
            begin(client);
        if (!client->waiting && client->due_ns < load.end_ns && client->due_ns < next)
            next = client->due_ns;
    }
    return next;
}

/* Waits until `next` for answers, and reads them. Returns the number of open connections. */
static size_t attend(uint64_t next)
{
    static struct pollfd polled[CLIENTS_MAX];
    static struct client *owners[CLIENTS_MAX];
    const uint64_t now = now_ns();
    const uint64_t until = next > load.end_ns ? load.end_ns + NS : next,
                   left = until > now ? until - now : 0;
    const struct timespec timeout = { (time_t)(left / NS), (long)(left % NS) };
    size_t count = 0;

    for (struct client *client = load.clients; client < load.clients + load.count; client++)
        if (client->fd >= 0) {
            const short events = client->waiting && !client->written ? POLLOUT : POLLIN;

            polled[count] = (struct pollfd){ client->fd, events, 0 };
            owners[count++] = client;
        }
    if (ppoll(polled, (nfds_t)count, &timeout, NULL) > 0)
        for (size_t i = 0; i < count; i++) {
            if (polled[i].revents == 0)
                continue;
            if (owners[i]->waiting)
                advance(owners[i]);
            else
                disconnect(owners[i]);
        }
    return count;
}

static void run(void)
{
    /* Waits up to a second for the answers to the last requests. */
    while (true) {
        const uint64_t now = now_ns(), next = begin_due(now);
        bool waiting = false;

        for (size_t i = 0; i < load.count; i++)
            waiting |= load.clients[i].waiting;
        if (next == UINT64_MAX && (!waiting || now > load.end_ns + NS))
            break;
        attend(next);
    }
    for (size_t i = 0; i < load.count; i++) {
        load.failed += load.clients[i].waiting;
        disconnect(&load.clients[i]);
    }
}

/* ------------------------------------------------------------------------------ Result -- */

static int ascending(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static double at_share(double share)
{
    return load.times_us[(size_t)(share * (double)(load.answered - 1) + 0.5)];
}

static void show(double seconds)
{
    double sum = 0;

    qsort(load.times_us, load.answered, sizeof *load.times_us, ascending);
    for (size_t i = 0; i < load.answered; i++)
        sum += load.times_us[i];
    printf("{\"requests\": %zu, \"failures\": %zu, \"seconds\": %.6f, \"bytes\": %llu",
           load.answered, load.failed, seconds, (unsigned long long)load.bytes);
    if (load.answered > 0)
        printf(", \"mean_us\": %.2f, \"p50_us\": %.2f, \"p95_us\": %.2f, \"p99_us\": %.2f, "
               "\"most_us\": %.2f",
               sum / (double)load.answered, at_share(0.5), at_share(0.95), at_share(0.99),
               at_share(1));
    printf("}\n");
}

static int prepare(char **argv, double seconds)
{
    const double rate = atof(argv[5]), group_s = atof(argv[7]);
    const size_t group = strtoul(argv[6], NULL, 10);
    const uint64_t start = now_ns() + NS / 100;

    load.count = strtoul(argv[4], NULL, 10);
    load.keep = strcmp(argv[9], "keep") == 0;
    load.address.sin_family = AF_INET;
    load.address.sin_port = htons((uint16_t)atoi(argv[2]));
    if (inet_pton(AF_INET, argv[1], &load.address.sin_addr) != 1 || load.count < 1 ||
        load.count > CLIENTS_MAX || group < 1 || !(rate > 0) || !(seconds > 0))
        return -1;
    load.request_length =
        (size_t)snprintf(load.request, sizeof load.request,
                         "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: %s\r\n\r\n", argv[3],
                         load.keep ? "keep-alive" : "close");
    load.period_ns = (uint64_t)(1e9 / rate);
    load.end_ns = start + (uint64_t)(seconds * 1e9);
    for (size_t i = 0; i < load.count; i++) {
        const double joins_s = (double)(i / group) * group_s;

        load.clients[i].fd = -1;
        load.clients[i].due_ns =
            start + (uint64_t)(joins_s * 1e9) + load.period_ns * (i % group) / group;
    }
    load.capacity = (size_t)(rate * seconds + 2) * load.count;
    load.times_us = malloc(load.capacity * sizeof *load.times_us);
    return load.times_us != NULL && load.request_length < sizeof load.request ? 0 : -1;
}

int main(int argc, char **argv)
{
    const double seconds = argc == 10 ? atof(argv[8]) : 0;
    uint64_t begun;

    if (argc != 10 || prepare(argv, seconds) != 0) {
        fprintf(stderr, "usage: paper_client ADDRESS PORT PATH CLIENTS RATE GROUP GROUP_SECONDS "
                        "SECONDS close|keep\n");
        return 2;
    }
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    begun = now_ns();
    run();
    show((double)(now_ns() - begun) / 1e9);
    free(load.times_us);
    return load.answered > 0 ? 0 : 1;
}
