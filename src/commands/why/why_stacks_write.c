#include "counters/error.h"
#include "program/command.h"
#include "views/stacks/folded.h"
#include "views/stacks/pprof.h"
#include "why_record.h"
#include "why_stacks.h"

#include <errno.h>
#include <stdio.h>

static int write_profile(const struct why_stacks *stacks)
{
    const struct pprof_times times = { stacks->start_ns, stacks->duration_ns };
    struct bytes bytes = { 0 };
    int status = STATUS_OK;

    pprof_write(&bytes, &stacks->all, &times);
    if (bytes.failed)
        status = complain(STATUS_FAILURE, "no memory for the profile");
    else
        fwrite(bytes.data, 1, bytes.size, stdout);
    bytes_release(&bytes);
    return status;
}

int why_stacks_write(struct why_stacks *stacks, bool as_profile)
{
    int status = STATUS_OK;

    stack_sums_sort(&stacks->all);
    if (as_profile)
        status = write_profile(stacks);
    else
        folded_write(stdout, &stacks->all);
    if (why_stacks_hide_kernel(stacks))
        complain(STATUS_OK, WHY_KERNEL_IS_HIDDEN);
    errno = 0;
    return fflush(stdout) != 0 || ferror(stdout) ? output_failed(errno) : status;
}
