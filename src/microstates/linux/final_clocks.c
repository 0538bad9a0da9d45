/*
 * The reader of final_clocks.h. Nothing is pinned, so the program and its ring end with this
 * process.
 */
#include "../final_clocks.h"
#include "counters/error.h"
#include "final_clocks.skel.h"
#include "refusal.h"

#include <bpf/libbpf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct final_clocks {
    struct final_clocks_bpf *programs;
    struct ring_buffer *ring;
    final_clock_visit *visit;
    void *context;
};

static int take(void *context, void *record, size_t length)
{
    const struct final_clocks *clocks = context;

    if (length >= sizeof(struct final_clock))
        clocks->visit(clocks->context, record);
    return 0;
}

static int load(struct final_clocks *clocks, struct camp_error *error)
{
    struct final_clocks_bpf *programs = final_clocks_bpf__open();
    int r;

    clocks->programs = programs;
    if (programs == NULL)
        return camp_fail(error, CAMP_E_NOMEM, errno, "no memory for the program of final clocks");
    r = final_clocks_bpf__load(programs);
    if (r == 0)
        r = final_clocks_bpf__attach(programs);
    if (r != 0)
        return camp_refused_programs(r, "final clocks of processes",
                                     "else a process ends with its exit record", error);
    clocks->ring = ring_buffer__new(bpf_map__fd(programs->maps.final_clocks), take, clocks, NULL);
    return clocks->ring != NULL
               ? CAMP_OK
               : camp_fail(error, CAMP_E_NOMEM, errno, "no memory for the ring of final clocks");
}

int final_clocks_open(struct final_clocks **ret, struct camp_error *error)
{
    struct final_clocks *clocks = calloc(1, sizeof *clocks);
    libbpf_print_fn_t before;
    int r;

    if (clocks == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for final clocks");
    before = libbpf_set_print(NULL);
    r = load(clocks, error);
    libbpf_set_print(before);
    if (r == CAMP_OK)
        *ret = clocks;
    else
        final_clocks_close(clocks);
    return r;
}

void final_clocks_read(struct final_clocks *clocks, final_clock_visit *visit, void *context)
{
    clocks->visit = visit;
    clocks->context = context;
    ring_buffer__consume(clocks->ring);
}

void final_clocks_close(struct final_clocks *clocks)
{
    if (clocks == NULL)
        return;
    ring_buffer__free(clocks->ring);
    final_clocks_bpf__destroy(clocks->programs);
    free(clocks);
}
