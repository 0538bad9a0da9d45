#include "progress.h"

#include "counters/units.h"
#include "sources/source.h"

#include <stdio.h>
#include <unistd.h>

#define PATIENCE_NS (500 * NS_PER_MS)
#define REDRAW_NS (100 * NS_PER_MS)
#define BAR_WIDTH 40

static void draw(uint64_t done, uint64_t total)
{
    const double share = total > 0 && done < total ? (double)done / (double)total : 1;
    const int full = (int)(share * BAR_WIDTH);

    fprintf(stderr, "\r[");
    for (int i = 0; i < BAR_WIDTH; i++)
        fputc(i < full ? '#' : '.', stderr);
    fprintf(stderr, "] %3.0f %%", 100 * share);
    fflush(stderr);
}

void progress_show(void *context, uint64_t done, uint64_t total)
{
    struct progress *progress = context;
    const uint64_t now_ns = source_clock_ns(CLOCK_MONOTONIC);

    if (progress->begin_ns == 0)
        progress->begin_ns = now_ns;
    if (now_ns - progress->begin_ns < PATIENCE_NS || now_ns - progress->drawn_ns < REDRAW_NS ||
        !isatty(STDERR_FILENO))
        return;
    progress->drawn_ns = now_ns;
    progress->shown = true;
    draw(done, total);
}

void progress_clear(struct progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r%*s\r", BAR_WIDTH + 10, "");
    *progress = (struct progress){ 0 };
}
