/*
 * Finds out why a session was refused. The error code of libbpf is often that of its last attempt:
 * the verifier returns EACCES or EINVAL, and libbpf also returns EINVAL if it cannot open a file of
 * /proc. So the causes that can be checked here are checked first, and the kernel is blamed last.
 */
#include "refusal.h"
#include "counters/error.h"

#include <camp/linux.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Files besides those of programs and maps: the BTF of the kernel, the BTF of the programs, the
 * ring of exits and the iterator of threads. */
#define FILES_BESIDE 4
/* Added to the advised limit for the command's own files, such as a recording and its journal. */
#define FILES_SPARE 16
/* If the limit of open files is higher than this, it is not the cause of a refusal, and the open
 * files are not counted. */
#define LIMIT_MAX 4096

int camp_refused_btf(int system_error, struct camp_error *error)
{
    const char *unmounted = camp_unmounted(CAMP_BTF_PATH);
    const int file = open(CAMP_BTF_PATH, O_RDONLY | O_CLOEXEC);
    const int refused = file < 0 ? errno : 0;

    if (file >= 0)
        close(file);
    if (refused == EMFILE || refused == ENFILE) /* libbpf returns ESRCH */
        return camp_fail_errno(error, refused, CAMP_BTF_PATH);
    if (unmounted != NULL)
        return camp_fail(error, CAMP_E_NOTSUP, system_error, "%s", unmounted);
    if (refused == 0)
        return camp_fail(error, CAMP_E_NOTSUP, system_error,
                         "microstates: " CAMP_BTF_PATH " could not be read (%s); try again later",
                         strerror(system_error));
    return camp_fail(error,
                     system_error == EACCES || system_error == EPERM ? CAMP_E_PERM : CAMP_E_NOTSUP,
                     system_error,
                     "this kernel has no BTF (" CAMP_BTF_PATH "): microstates need a kernel with "
                     "CONFIG_DEBUG_INFO_BTF; camp check works without microstates");
}

/* Numbers of capabilities(7). CAP_SYS_ADMIN includes CAP_PERFMON and CAP_BPF, which exist since
 * Linux 5.8. */
enum { SYS_ADMIN = 21, PERFMON = 38, BPF = 39 };

struct rights {
    bool are_known, bpf, perfmon;
};

static bool holds(const struct camp_linux *facts, int capability)
{
    return facts->capabilities >> capability & 1 || facts->capabilities >> SYS_ADMIN & 1;
}

static struct rights read_rights(void)
{
    struct camp_linux facts = { 0 };

    camp_linux_read(NULL, &facts, sizeof facts, NULL);
    if ((facts.known & CAMP_LINUX_CAPABILITIES) == 0)
        return (struct rights){ 0 };
    return (struct rights){ true, holds(&facts, BPF), holds(&facts, PERFMON) };
}

bool camp_has_rights_for_programs(void)
{
    const struct rights rights = read_rights();

    return rights.bpf && rights.perfmon;
}

/* If a process is refused although it has both capabilities, it has them only inside a container.
 * The programs see the whole machine and need the machine's capabilities. */
static int refused_permission(int system_error, struct rights rights, const char *what,
                              struct camp_error *error)
{
    if (rights.bpf && rights.perfmon)
        return camp_fail(error, CAMP_E_PERM, system_error,
                         "%s need CAP_BPF and CAP_PERFMON of the machine: run camp outside "
                         "of this container",
                         what);
    return camp_fail(error, CAMP_E_PERM, system_error, "%s need %s" CAMP_ADVICE_PRIVILEGE, what,
                     rights.bpf       ? "CAP_PERFMON, too"
                     : rights.perfmon ? "CAP_BPF, too"
                                      : "CAP_BPF and CAP_PERFMON");
}

/* If a capability is missing, the verifier may return EACCES or EINVAL, which it also returns for a
 * program that it does not accept. */
static bool may_lack_capability(int system_error, struct rights rights)
{
    const bool from_verifier = system_error == EACCES || system_error == EINVAL;

    return system_error == EPERM ||
           (from_verifier && rights.are_known && !(rights.bpf && rights.perfmon));
}

int camp_refused_programs(int result, const char *what, const char *without,
                          struct camp_error *error)
{
    const struct rights rights = read_rights();
    const char *unmounted = camp_unmounted("/proc");

    if (unmounted != NULL)
        return camp_fail(error, CAMP_E_NOTSUP, -result, "%s", unmounted);
    if (may_lack_capability(-result, rights))
        return refused_permission(-result, rights, what, error);
    if (result == -EMFILE || result == -ENFILE || result == -ENOMEM)
        return camp_fail_errno(error, -result, what);
    return camp_fail(error, CAMP_E_NOTSUP, -result,
                     "this kernel refuses the programs of %s (%s); %s", what, strerror(-result),
                     without);
}

size_t camp_refusal_files_needed(const struct bpf_object *object)
{
    struct bpf_program *program;
    const struct bpf_map *map;
    size_t count = FILES_BESIDE;

    bpf_object__for_each_map(map, object) count += bpf_map__autocreate(map);
    /* two files: the program and its link */
    bpf_object__for_each_program(program, object) count += bpf_program__autoload(program) ? 2 : 0;
    return count;
}

static size_t count_open_files(rlim_t limit)
{
    size_t count = 0;

    for (rlim_t i = 0; i < limit; i++)
        count += fcntl((int)i, F_GETFD) >= 0;
    return count;
}

int camp_refused_by_limit(int result, size_t needed, const char *what, struct camp_error *error)
{
    struct rlimit limit;
    size_t open_files;

    if (result == CAMP_E_PERM || getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur > LIMIT_MAX)
        return result;
    open_files = count_open_files(limit.rlim_cur);
    if (open_files + needed <= limit.rlim_cur)
        return result;
    return camp_fail(error, CAMP_E_NOMEM, EMFILE,
                     "%s need %zu open files, and the limit is %zu: run ulimit -n %zu", what,
                     open_files + needed + FILES_SPARE, (size_t)limit.rlim_cur,
                     open_files + needed + FILES_SPARE);
}
