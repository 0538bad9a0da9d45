/*
 * transfer-rate INTERFACE [SECONDS]: bytes a second that a network interface carries, both ways.
 *
 * The derived function of Figure 1 of the CAMP paper, with what that one leaves open: time is
 * measured, not assumed, and a counter that wrapped or was reset in between does no harm.
 */
#include <camp/camp.h>

#include <stdio.h>
#include <stdlib.h>

static int transfer_rate(const char *interface, double seconds, double *ret_bytes_per_second,
                         struct camp_error *error)
{
    struct camp_utilisation all;
    struct camp_network initial;
    struct camp_network final;
    double received;
    double sent;
    uint64_t elapsed_ns;
    int result;

    result = camp_network_read(NULL, interface, &initial, sizeof initial, error);
    if (result < 0)
        return result;
    result = camp_cpu_utilisation(NULL, CAMP_CPU_TOTAL, (unsigned)(seconds * 1000), NULL, NULL,
                                  &all, sizeof all, error); /* waits */
    if (result == CAMP_OK)
        result = camp_network_read(NULL, interface, &final, sizeof final, error);
    if (result < 0)
        return result;
    elapsed_ns = final.time_ns - initial.time_ns;
    result = camp_rate(initial.received_bytes, final.received_bytes, 64, elapsed_ns, &received);
    if (result >= 0)
        result = camp_rate(initial.sent_bytes, final.sent_bytes, 64, elapsed_ns, &sent);
    if (result >= 0)
        *ret_bytes_per_second = received + sent;
    return result;
}

int main(int argc, char **argv)
{
    double seconds = argc > 2 ? atof(argv[2]) : 1;
    struct camp_error error = { 0 };
    double rate = 0;

    if (argc < 2 || argc > 3 || !(seconds >= 0.01 && seconds <= 3600)) {
        fprintf(stderr, "usage: transfer-rate INTERFACE [SECONDS]\n");
        return 2;
    }
    if (transfer_rate(argv[1], seconds, &rate, &error) < 0) {
        fprintf(stderr, "transfer-rate: %s\n", error.message);
        return 1;
    }
    printf("%.0f\n", rate);
    return 0;
}
