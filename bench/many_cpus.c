/*
 * What it costs to read the lists of a machine with 2, 64, 256 and 2,000 CPUs. This is a
 * simulation: the files are synthetic, and lie in a temporary folder. So the cost of the kernel,
 * which collects the numbers from all CPUs, is not in the figures.
 *
 *   many_cpus ROUNDS
 */
#include "many_cpus.h"

#include "sources/machine/interrupts.h"
#include "sources/source.h"

#include <camp/camp.h>

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define INTERRUPT_ROWS 100

static const volatile sig_atomic_t never_stop;
static char folder[] = "/tmp/camp-many-cpus-XXXXXX";
static char stat_path[sizeof folder + 8], interrupts_path[sizeof folder + 16];

static struct camp_reader reader;
static struct camp_cpu cpus[MANY_MOST_CPUS + 1];
static struct source *source;
static struct interrupts interrupts;

static bool write_stat(size_t count)
{
    FILE *file = fopen(stat_path, "w");

    if (file == NULL)
        return false;
    fprintf(file, "cpu  %zu 0 %zu %zu 0 0 0 0 0 0\n", count, count, count);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "cpu%zu %zu 12 345678 98765432 4321 0 5678 90 0 0\n", i, 1234567 + i);
    fprintf(file, "intr 123456789012");
    for (size_t i = 0; i < 200 + 8 * count; i++)
        fprintf(file, " %d", i % 16 == 0 ? 123456 : 0);
    fprintf(file, "\nctxt 123456789\nbtime 1700000000\nprocesses 123456\n");
    return fclose(file) == 0;
}

static bool write_interrupts(size_t count)
{
    FILE *file = fopen(interrupts_path, "w");

    if (file == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        fprintf(file, "       CPU%zu", i);
    for (int row = 0; row < INTERRUPT_ROWS; row++) {
        fprintf(file, "\n%4d:", row);
        for (size_t i = 0; i < count; i++)
            fprintf(file, " %10zu", (size_t)row * i);
        fprintf(file, "  PCI-MSI  edge  nvme0q%d", row);
    }
    fputc('\n', file);
    return fclose(file) == 0;
}

static bool read_stat(void)
{
    size_t count;

    return camp_reader_cpus(&reader, cpus, sizeof cpus[0], MANY_MOST_CPUS + 1, &count, NULL) ==
           CAMP_OK;
}

static bool read_frame(void)
{
    const struct frame *frame;

    return source->next(source, 0, &frame, NULL) == CAMP_OK;
}

static bool read_interrupts(void)
{
    FILE *file = fopen(interrupts_path, "re");
    bool succeeded;

    if (file == NULL)
        return false;
    succeeded = interrupts_scan(file, &interrupts) == CAMP_OK;
    fclose(file);
    return succeeded;
}

static bool measure(size_t count, size_t rounds)
{
    const struct camp_source root = { .proc = folder, .sys = folder };
    bool succeeded = write_stat(count) && write_interrupts(count) &&
                     camp_reader_open_cpus(&reader, &root, NULL) == CAMP_OK &&
                     cpus_source_open(&root, &never_stop, &source, NULL) == CAMP_OK;

    succeeded = succeeded && many_measure("camp_reader_cpus()", count, rounds, read_stat) &&
                many_measure("a frame of all CPUs", count, rounds, read_frame) &&
                many_measure("100 rows of /proc/interrupts", count, rounds / 4, read_interrupts);
    if (source != NULL)
        source_close(source);
    source = NULL;
    camp_reader_close(&reader);
    return succeeded;
}

int main(int argc, char **argv)
{
    const long rounds = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    bool succeeded = rounds >= 4 && mkdtemp(folder) != NULL;

    if (!succeeded) {
        fprintf(stderr, "usage: many_cpus ROUNDS, at least 4\n");
        return 2;
    }
    snprintf(stat_path, sizeof stat_path, "%s/stat", folder);
    snprintf(interrupts_path, sizeof interrupts_path, "%s/interrupts", folder);
    for (size_t i = 0; succeeded && i < MANY_COUNTS; i++)
        succeeded = measure(many_counts[i], (size_t)rounds);
    interrupts_release(&interrupts);
    unlink(stat_path);
    unlink(interrupts_path);
    rmdir(folder);
    return succeeded ? 0 : 1;
}
