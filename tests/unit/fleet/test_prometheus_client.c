/* Questions to a server that answers one of them late. */
#include "counters/clock.h"
#include "sources/fleet/prometheus_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND_NS ((uint64_t)NS_PER_S)

struct server {
    int listener;
    pthread_mutex_t late; /* held while the question "late" must not be answered */
};

struct exchange {
    struct server *server;
    int connection;
};

static void answer(int connection, const char *value)
{
    char body[160], head[160];

    snprintf(body, sizeof body,
             "{\"status\":\"success\",\"data\":{\"resultType\":\"scalar\",\"result\":[1,\"%s\"]}}",
             value);
    snprintf(head, sizeof head,
             "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
             "Content-Length: %zu\r\n\r\n",
             strlen(body));
    if (write(connection, head, strlen(head)) < 0 || write(connection, body, strlen(body)) < 0)
        return; /* the client has dropped the question */
}

static void *serve_one(void *context)
{
    const struct exchange exchange = *(const struct exchange *)context;
    char text[4096] = "";
    size_t length = 0;
    ssize_t got = 1;

    free(context);
    while (got > 0 && strstr(text, "query=") == NULL && length + 1 < sizeof text) {
        got = read(exchange.connection, text + length, sizeof text - 1 - length);
        length += got > 0 ? (size_t)got : 0;
        text[length] = '\0';
    }
    if (strstr(text, "query=late") != NULL) {
        pthread_mutex_lock(&exchange.server->late);
        answer(exchange.connection, "1");
        pthread_mutex_unlock(&exchange.server->late);
    } else {
        answer(exchange.connection, "2");
    }
    close(exchange.connection);
    return NULL;
}

static void *serve(void *context)
{
    struct server *server = context;
    int connection;

    while ((connection = accept(server->listener, NULL, NULL)) >= 0) {
        struct exchange *exchange = malloc(sizeof *exchange);
        pthread_t thread;

        if (exchange == NULL)
            break;
        *exchange = (struct exchange){ server, connection };
        if (pthread_create(&thread, NULL, serve_one, exchange) == 0)
            pthread_detach(thread);
    }
    return NULL;
}

/* Starts a server, and writes its address. */
static void start(struct server *server, char ret[64])
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof address;
    pthread_t thread;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(server->listener >= 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(server->listener, 8), 0);
    assert_int_equal(getsockname(server->listener, (struct sockaddr *)&address, &size), 0);
    pthread_mutex_init(&server->late, NULL);
    pthread_mutex_lock(&server->late);
    assert_int_equal(pthread_create(&thread, NULL, serve, server), 0);
    pthread_detach(thread);
    snprintf(ret, 64, "http://127.0.0.1:%u", ntohs(address.sin_port));
}

static double value_of(struct prometheus_answer *answer)
{
    struct prometheus_series series;
    double value;

    prometheus_answer_series(answer, 0, &series);
    assert_int_equal(series.sample_count, 1);
    value = series.samples[0].value;
    prometheus_answer_release(answer);
    return value;
}

static int ask(struct prometheus_client *client, const char *query, uint64_t limit_ns,
               struct prometheus_answer *ret)
{
    struct camp_error error = { 0 };
    const int r = prometheus_client_ask(client, "query", query, "",
                                        now_ns(CLOCK_MONOTONIC) + limit_ns, ret, &error);

    if (r < 0)
        print_message("%s\n", error.message);
    return r;
}

/* Starts the server, and opens a client of it. */
static struct prometheus_client *client_of(struct server *server)
{
    struct prometheus_client *client = NULL;
    struct camp_error error;
    char address[64];

    start(server, address);
    if (prometheus_client_open(address, NULL, NULL, &client, &error) != CAMP_OK) {
        print_message("skipped: %s\n", error.message);
        skip();
    }
    return client;
}

static void a_query_never_gets_the_answer_to_an_earlier_query(void **state)
{
    static struct server server;
    struct prometheus_answer answer;
    struct prometheus_client *client = client_of(&server);

    (void)state;
    assert_int_equal(ask(client, "late", SECOND_NS / 10, &answer), REMOTE_PENDING);
    assert_true(prometheus_client_is_asked(client));
    pthread_mutex_unlock(&server.late);
    assert_int_equal(ask(client, "other", 20 * SECOND_NS, &answer), CAMP_OK);
    assert_float_equal(value_of(&answer), 2, 0);
    assert_int_equal(ask(client, "late", 20 * SECOND_NS, &answer), CAMP_OK);
    assert_float_equal(value_of(&answer), 1, 0);
    prometheus_client_close(client);
}

static void a_repeated_query_gets_the_answer_to_the_first_query(void **state)
{
    static struct server server;
    struct prometheus_answer answer;
    struct prometheus_client *client = client_of(&server);

    (void)state;
    assert_int_equal(ask(client, "late", SECOND_NS / 10, &answer), REMOTE_PENDING);
    assert_int_equal(ask(client, "late", SECOND_NS / 10, &answer), REMOTE_PENDING);
    pthread_mutex_unlock(&server.late);
    assert_int_equal(ask(client, "late", 20 * SECOND_NS, &answer), CAMP_OK);
    assert_float_equal(value_of(&answer), 1, 0);
    prometheus_client_close(client);
}

static void an_answer_arrives_while_a_client_with_the_same_connections_waits(void **state)
{
    static struct server server;
    struct prometheus_answer answer;
    struct prometheus_client *late = client_of(&server), *other = NULL;
    struct camp_error error;

    (void)state;
    assert_int_equal(
        prometheus_client_open(prometheus_client_shown(late), NULL, late, &other, &error), CAMP_OK);
    assert_int_equal(ask(late, "late", 0, &answer), REMOTE_PENDING);
    assert_int_equal(ask(other, "other", 0, &answer), REMOTE_PENDING);
    assert_int_equal(ask(late, "late", SECOND_NS, &answer), REMOTE_PENDING);
    assert_int_equal(ask(other, "other", 0, &answer), CAMP_OK);
    assert_float_equal(value_of(&answer), 2, 0);
    pthread_mutex_unlock(&server.late);
    assert_int_equal(ask(late, "late", 20 * SECOND_NS, &answer), CAMP_OK);
    assert_float_equal(value_of(&answer), 1, 0);
    prometheus_client_close(other);
    prometheus_client_close(late);
}

static void a_dropped_query_is_sent_again(void **state)
{
    static struct server server;
    struct prometheus_answer answer;
    struct prometheus_client *client = client_of(&server);

    (void)state;
    assert_int_equal(ask(client, "late", SECOND_NS / 10, &answer), REMOTE_PENDING);
    prometheus_client_drop(client);
    assert_false(prometheus_client_is_asked(client));
    pthread_mutex_unlock(&server.late);
    assert_int_equal(ask(client, "late", 20 * SECOND_NS, &answer), CAMP_OK);
    assert_float_equal(value_of(&answer), 1, 0);
    prometheus_client_close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_never_gets_the_answer_to_an_earlier_query),
        cmocka_unit_test(a_repeated_query_gets_the_answer_to_the_first_query),
        cmocka_unit_test(an_answer_arrives_while_a_client_with_the_same_connections_waits),
        cmocka_unit_test(a_dropped_query_is_sent_again),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
