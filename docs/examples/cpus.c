/*
 * cpus [SECONDS]: how busy each CPU was in an interval, by its idle time and by its busy times.
 *
 * Both should be equal. Where the kernel measures one and samples the other, they often are not.
 */
#include <camp/camp.h>

#include <stdio.h>
#include <stdlib.h>

#define CPUS 1024

static struct camp_cpu before[CPUS], after[CPUS];

static void print_percent(uint32_t known, double percent)
{
    if (known != 0)
        printf(" %9.1f", percent);
    else
        printf(" %9s", "unknown");
}

static void print_cpu(const struct camp_cpu *first, const struct camp_cpu *second, size_t cpus,
                      const struct camp_kernel *kernel)
{
    struct camp_utilisation busy;

    if (camp_cpu_difference(first, second, cpus, kernel, &busy, sizeof busy) < 0)
        return;
    if (second->cpu == CAMP_CPU_TOTAL)
        printf("all");
    else
        printf("%3d", (int)second->cpu);
    print_percent(busy.known & CAMP_UTILISATION_MEASURED_BUSY, busy.measured_busy_percent);
    printf(" (%s)", camp_provenance_name(busy.busy_provenance));
    print_percent(busy.known & CAMP_UTILISATION_SAMPLED_BUSY, busy.sampled_busy_percent);
    print_percent(busy.known & CAMP_UTILISATION_SUM, busy.sum_percent);
    printf("\n");
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    struct camp_error error = { 0 };
    struct camp_utilisation all;
    struct camp_kernel kernel;
    size_t first = 0, second = 0, i, j = 0;
    int result;

    if (argc > 2 || !(seconds >= 0.01 && seconds <= 3600)) {
        fprintf(stderr, "usage: cpus [SECONDS]\n");
        return 2;
    }
    result = camp_kernel_read(NULL, &kernel, sizeof kernel, &error);
    if (result == CAMP_OK)
        result = camp_cpu_read_all(NULL, before, sizeof before[0], CPUS, &first, &error);
    if (result == CAMP_OK) /* waits */
        result = camp_cpu_utilisation(NULL, CAMP_CPU_TOTAL, (unsigned)(seconds * 1000), &kernel,
                                      NULL, &all, sizeof all, &error);
    if (result == CAMP_OK)
        result = camp_cpu_read_all(NULL, after, sizeof after[0], CPUS, &second, &error);
    if (result < 0) {
        fprintf(stderr, "cpus: %s\n", error.message);
        return 1;
    }
    printf("cpu 100-idle%%              busy%%      sum%%\n");
    /* Both arrays ascend by id. A CPU may have come or gone meanwhile. */
    for (i = 0; i < first; i++) {
        while (j < second && after[j].cpu < before[i].cpu)
            j++;
        if (j < second && after[j].cpu == before[i].cpu)
            print_cpu(&before[i], &after[j], i == 0 ? first - 1 : 1, &kernel);
    }
    return 0;
}
