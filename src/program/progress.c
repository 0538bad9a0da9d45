#include "progress.h"

#include "counters/units.h"
#include "sources/source.h"
#include "views/terminal/terminal.h"
#include "views/view.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
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
    if (progress->is_off || now_ns - progress->begin_ns < PATIENCE_NS ||
        now_ns - progress->drawn_ns < REDRAW_NS || !isatty(STDERR_FILENO))
        return;
    progress->drawn_ns = now_ns;
    progress->width = BAR_WIDTH + 10;
    draw(done, total);
}

void progress_text(struct progress *progress, const char *text)
{
    size_t length = strlen(text), most;

    if (progress->is_off || !isatty(STDERR_FILENO) || terminal_is_of_other_job(stderr))
        return;
    most = view_width(stderr) - 1; /* In the last column the cursor would move to the next line. */
    if (length > most)
        length = most;
    fprintf(stderr, "\r%-*.*s", (int)progress->width, (int)length, text);
    fflush(stderr);
    if (length > progress->width)
        progress->width = length;
}

void progress_clear(struct progress *progress)
{
    if (progress->width > 0)
        fprintf(stderr, "\r%*s\r", (int)progress->width, "");
    *progress = (struct progress){ .is_off = progress->is_off };
}
