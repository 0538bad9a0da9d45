/*
 * Measures scans of the whole process table by libraries. Prints the CPU time of each scan in ms,
 * on one line.
 *
 *   scan floor|libproc2|libstatgrab COUNT
 */
#include "compare.h"
#include "subject.h"

#include <stdlib.h>
#include <string.h>

static int nothing_to_open(void)
{
    return 0;
}

static const struct scanner {
    const char *who;
    int (*open)(void);
    int (*scan)(void);
} scanners[] = {
    { "floor", nothing_to_open, floor_processes },
    { "libproc2", libproc2_open, libproc2_table },
    { "libstatgrab", libstatgrab_open, libstatgrab_table },
};

/* The first scan is not measured, because it allocates memory for all later scans. */
static int run(const struct scanner *scanner, size_t count)
{
    if (scanner->open() != 0 || scanner->scan() != 0)
        return 1;
    for (size_t i = 0; i < count; i++) {
        uint64_t before = thread_ns();

        if (scanner->scan() != 0)
            return 1;
        printf("%s%.4f", i == 0 ? "" : " ", (double)(thread_ns() - before) / 1e6);
    }
    printf("\n");
    return 0;
}

int main(int argc, char **argv)
{
    size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 5;

    for (size_t i = 0; argc > 1 && i < sizeof scanners / sizeof *scanners; i++) {
        if (strcmp(argv[1], scanners[i].who) == 0)
            return run(&scanners[i], count);
    }
    fprintf(stderr, "scan: who? floor, libproc2 or libstatgrab\n");
    return 2;
}
