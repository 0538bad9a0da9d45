/*
 * networks [SECONDS [PROC]]: bytes and packets a second of each network interface.
 *
 * A counter that restarted at zero in the interval, because the driver was loaded again, is marked
 * with '*': its rate is only that of the time since. PROC is a folder that is read instead of
 * /proc.
 */
#include <camp/camp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NETWORKS 256

static struct camp_network before[NETWORKS], after[NETWORKS];

static void print_rate(uint32_t known, uint64_t first, uint64_t second, uint64_t elapsed_ns)
{
    double rate = 0;
    int result = CAMP_E_INVALID;

    if (known != 0)
        result = camp_rate(first, second, 64, elapsed_ns, &rate);
    if (result < 0)
        printf(" %13s ", "unknown");
    else
        printf(" %13.0f%c", rate, result == CAMP_RESET ? '*' : ' ');
}

static void print_network(const struct camp_network *first, const struct camp_network *second)
{
    uint32_t known = first->known & second->known;
    uint64_t elapsed_ns = second->time_ns - first->time_ns;

    printf("%-16s", second->name);
    print_rate(known & CAMP_NETWORK_RECEIVED_BYTES, first->received_bytes, second->received_bytes,
               elapsed_ns);
    print_rate(known & CAMP_NETWORK_RECEIVED_PACKETS, first->received_packets,
               second->received_packets, elapsed_ns);
    print_rate(known & CAMP_NETWORK_SENT_BYTES, first->sent_bytes, second->sent_bytes, elapsed_ns);
    print_rate(known & CAMP_NETWORK_SENT_PACKETS, first->sent_packets, second->sent_packets,
               elapsed_ns);
    printf("\n");
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    struct camp_source folder = { NULL, NULL };
    const struct camp_source *source = argc > 2 ? &folder : NULL;
    struct camp_error error = { 0 };
    struct camp_utilisation all;
    size_t first = 0, second = 0, i, j;
    int result;

    if (argc > 3 || !(seconds >= 0.01 && seconds <= 3600)) {
        fprintf(stderr, "usage: networks [SECONDS [PROC]]\n");
        return 2;
    }
    folder.proc = argc > 2 ? argv[2] : NULL;
    result = camp_network_read_all(source, before, sizeof before[0], NETWORKS, &first, &error);
    if (result == CAMP_OK) /* waits */
        result = camp_cpu_utilisation(NULL, CAMP_CPU_TOTAL, (unsigned)(seconds * 1000), NULL, NULL,
                                      &all, sizeof all, &error);
    if (result == CAMP_OK)
        result = camp_network_read_all(source, after, sizeof after[0], NETWORKS, &second, &error);
    if (result < 0) {
        fprintf(stderr, "networks: %s\n", error.message);
        return 1;
    }
    printf("%-16s %13s  %13s  %13s  %13s\n", "interface", "received B/s", "packets/s", "sent B/s",
           "packets/s");
    for (i = 0; i < second; i++)
        for (j = 0; j < first; j++)
            if (strcmp(before[j].name, after[i].name) == 0)
                print_network(&before[j], &after[i]);
    return 0;
}
