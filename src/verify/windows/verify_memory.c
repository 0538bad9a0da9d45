/* Verifies memory and page faults by 32 MiB of which the load writes to each page. */
#include "verify_trials.h"

#include "counters/clock.h"
#include "program/command.h"

#include <camp/system.h>

#include <math.h>
#include <psapi.h>

#define BYTES ((double)ACT_MEMORY_BYTES)
#define OWN_MIB 1.0 /* what the subject may need beside the memory, such as page tables */
#define OWN_FAULTS 300.0

static double grown_mib(uint64_t before, uint64_t after)
{
    return ((double)after - (double)before) / MIB;
}

static void judge_faults(struct verification *verification, const struct observed *observed)
{
    const struct act_record *record = subject_record(&observed->subject);
    const double reported = (double)(uint32_t)(observed->after.faults - observed->before.faults);

    if (!is_observed(verification, "faults", observed, CAMP_TASK_FAULTS, "page faults"))
        return;
    if (record->faults.known)
        decide_between(verification, "faults", (double)record->faults.count, reported, 0,
                       OWN_FAULTS);
    else
        not_tested(verification, "faults", "the load could not count its page faults");
}

static void judge_total(struct verification *verification)
{
    PERFORMANCE_INFORMATION info = { .cb = sizeof info };
    struct camp_memory memory;
    struct camp_error error = { 0 };

    camp_memory_read(NULL, CAMP_MEMORY_TOTAL, &memory, sizeof memory, &error);
    if (has_failed(verification, "memory-total", &error) ||
        !is_known(verification, "memory-total", memory.known, CAMP_MEMORY_TOTAL, "memory"))
        return;
    if (K32GetPerformanceInfo(&info, sizeof info))
        decide(verification, "memory-total",
               (double)info.PhysicalTotal * (double)info.PageSize / MIB,
               (double)memory.total_bytes / MIB, 0);
    else
        not_tested(verification, "memory-total", "GetPerformanceInfo() failed");
}

void verify_memory(struct verification *verification)
{
    struct camp_system before = { .known = 0 }, after = { .known = 0 };
    struct observed observed = { .before = { .known = 0 } };
    struct camp_error error = { 0 }, system_error = { 0 };
    SYSTEM_INFO system;
    int r;

    GetSystemInfo(&system);
    judge_total(verification);
    camp_system_read(NULL, CAMP_SYSTEM_FAULTS, &before, sizeof before, &system_error);
    r = observe(&observed, ACT_MEMORY, NULL, 0, &error);
    camp_system_read(NULL, CAMP_SYSTEM_FAULTS, &after, sizeof after, &system_error);
    if (trial_succeeded(verification, r, &error, NULL)) {
        const struct camp_task *a = &observed.before, *b = &observed.after;

        if (is_observed(verification, "memory-resident", &observed, CAMP_TASK_RESIDENT,
                        "working sets"))
            decide(verification, "memory-resident", BYTES / MIB,
                   grown_mib(a->resident_bytes, b->resident_bytes), OWN_MIB);
        if (!is_of_wine(verification, "memory-virtual",
                        "reserves address space in advance, so its virtual size does not grow") &&
            is_observed(verification, "memory-virtual", &observed, CAMP_TASK_VIRTUAL,
                        "virtual sizes"))
            decide(verification, "memory-virtual", BYTES / MIB,
                   grown_mib(a->virtual_bytes, b->virtual_bytes), OWN_MIB);
        if (is_observed(verification, "memory-private", &observed, CAMP_TASK_COMMITTED,
                        "committed memory"))
            decide(verification, "memory-private", BYTES / MIB,
                   grown_mib(a->committed_bytes, b->committed_bytes), OWN_MIB);
        judge_faults(verification, &observed);
        if (!has_failed(verification, "system-faults", &system_error) &&
            is_known(verification, "system-faults", before.known & after.known, CAMP_SYSTEM_FAULTS,
                     "page faults"))
            decide_between(verification, "system-faults", BYTES / system.dwPageSize,
                           (double)(uint32_t)(after.faults - before.faults), 0, ANY);
    }
    subject_end(&observed.subject);
}

static int commit_grown(double *ret_mib, struct camp_memory *ret, struct camp_error *error,
                        struct camp_error *library)
{
    struct camp_memory before = { .known = 0 };
    struct subject subject;
    int r = subject_open(&subject, ACT_MEMORY, NULL, 0, error);

    camp_memory_read(NULL, CAMP_MEMORY_ALL, &before, sizeof before, library);
    if (r == CAMP_OK)
        r = subject_do(&subject, error);
    if (library->code == CAMP_OK)
        camp_memory_read(NULL, CAMP_MEMORY_ALL, ret, sizeof *ret, library);
    *ret_mib = grown_mib(before.committed_bytes, ret->committed_bytes);
    subject_end(&subject);
    return r;
}

struct page_files {
    double size, in_use; /* pages */
};

/* Without CALLBACK, as psapi.h declares it. */
static BOOL add_page_file(void *context, ENUM_PAGE_FILE_INFORMATION *file, LPCWSTR name)
{
    struct page_files *sum = context;

    (void)name;
    sum->size += (double)file->TotalSize;
    sum->in_use += (double)file->TotalInUse;
    return TRUE;
}

static void judge_page_files(struct verification *verification, const struct camp_memory *memory)
{
    struct page_files files = { .size = 0 };
    const bool is_listed = K32EnumPageFilesW(add_page_file, &files) != 0;
    SYSTEM_INFO system;
    double page_mib;

    GetSystemInfo(&system);
    page_mib = system.dwPageSize / MIB;
    if (is_known(verification, "memory-swap", memory->known, CAMP_MEMORY_SWAP_TOTAL,
                 "page files")) {
        if (is_listed)
            decide(verification, "memory-swap", files.size * page_mib,
                   (double)memory->swap_total_bytes / MIB, 0);
        else
            not_tested(verification, "memory-swap", "EnumPageFiles() failed");
    }
    if (is_known(verification, "memory-swap-free", memory->known, CAMP_MEMORY_SWAP_FREE,
                 "page files")) {
        if (is_listed)
            decide(verification, "memory-swap-free", (files.size - files.in_use) * page_mib,
                   (double)memory->swap_free_bytes / MIB, files.size * page_mib / 20);
        else
            not_tested(verification, "memory-swap-free", "EnumPageFiles() failed");
    }
}

/* Other programs commit memory, too, so the row may be tried again. */
void verify_commit(struct verification *verification)
{
    struct camp_memory memory = { .known = 0 };
    struct camp_error error = { 0 }, library = { 0 };
    double grown = 0, most;
    int r = commit_grown(&grown, &memory, &error, &library);

    if (!trial_succeeded(verification, r, &error, &library))
        return;
    most = (double)(memory.total_bytes + memory.swap_total_bytes) / MIB;
    if (is_known(verification, "memory-commit", memory.known, CAMP_MEMORY_COMMITTED,
                 "committed memory")) {
        if (fabs(grown - BYTES / MIB) > BYTES / MIB / 5)
            interfered(verification, "memory-commit", "it grew by %.0f MiB: other programs, too",
                       grown);
        decide(verification, "memory-commit", BYTES / MIB, grown, BYTES / MIB / 5);
    }
    if (is_known(verification, "memory-commit-limit", memory.known,
                 CAMP_MEMORY_COMMIT_LIMIT | CAMP_MEMORY_SWAP_TOTAL, "the commit limit"))
        decide(verification, "memory-commit-limit", most, (double)memory.commit_limit_bytes / MIB,
               most / 10);
    judge_page_files(verification, &memory);
}
