/* Parser: src/counters/illumos/process_files.c */
/* Parser: src/counters/illumos/process.c */
/* Parser: src/microstates/illumos/lusage.c */
/* Takes any bytes for each binary file of /proc that the port to illumos reads. */
#include "counters/illumos/process.h"
#include "microstates/illumos/lusage.h"

#include <camp/camp.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Texts must end, and the parts of the CPU time must add up to it. */
static void check_task(const struct camp_task *task)
{
    if (memchr(task->name, '\0', sizeof task->name) == NULL)
        abort();
    if (task->cpu_ns != task->user_ns + task->system_ns || task->cpu_ns > INT64_MAX)
        abort();
    if ((task->known & CAMP_TASK_STATE) != 0 && strchr("RSTZ", task->state) == NULL)
        abort();
}

static void try_task_files(const void *bytes, size_t size)
{
    struct camp_task task = { 0 };
    lwpsinfo_t lwpsinfo;
    prusage_t usage;
    psinfo_t psinfo;

    if (camp_psinfo_parse(bytes, size, &psinfo)) {
        camp_task_of_psinfo(&psinfo, &task);
        if (memchr(psinfo.pr_psargs, '\0', sizeof psinfo.pr_psargs) == NULL)
            abort();
    }
    if (camp_lwpsinfo_parse(bytes, size, &lwpsinfo))
        camp_task_of_lwpsinfo(&lwpsinfo, &task);
    if (camp_usage_parse(bytes, size, &usage))
        camp_task_of_usage(&usage, &task);
    check_task(&task);
}

static void try_lusage(const void *bytes, size_t size)
{
    struct lusage lusage;

    if (!lusage_parse(bytes, size, &lusage))
        return;
    if (lusage_length(bytes, size) > size || lusage.count == 0)
        abort();
    for (size_t i = 0; i < lusage.count; i++) {
        prusage_t usage;

        if (lusage_entry(&lusage, i, &usage) && usage.pr_lwpid < 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The copy has no spare bytes, so that a sanitizer detects reads past its end. */
    char *bytes = malloc(size > 0 ? size : 1);

    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    try_task_files(bytes, size);
    try_lusage(bytes, size);
    free(bytes);
    return 0;
}
