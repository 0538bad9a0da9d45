#include "load/load_children.h"
#include "load_system.h"

#include "counters/error.h"
#include "load/load_tools.h"

#include <inttypes.h>

#define ARGUMENTS 8 /* load child ROLE SECTION PARENT RATE NUMBER NUMBER */

static const struct {
    const char *name;
    int (*run)(const struct child_role *role);
} roles[] = { { "burn", child_burn }, { "subject", child_subject } };

void *section_create(size_t bytes, HANDLE *ret_section)
{
    SECURITY_ATTRIBUTES inherited = { sizeof inherited, NULL, TRUE };

    void *memory;

    *ret_section = CreateFileMappingW(INVALID_HANDLE_VALUE, &inherited, PAGE_READWRITE,
                                      (DWORD)((uint64_t)bytes >> 32), (DWORD)bytes, NULL);
    if (*ret_section == NULL)
        return NULL;
    memory = section_map(*ret_section);
    if (memory == NULL) {
        CloseHandle(*ret_section);
        *ret_section = NULL;
    }
    return memory;
}

void *section_map(HANDLE section)
{
    return MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, 0);
}

bool child_start(struct child *ret, const char *role, HANDLE section, uint64_t first,
                 uint64_t second)
{
    STARTUPINFOW startup = { .cb = sizeof startup };
    PROCESS_INFORMATION started;
    static wchar_t path[LONGEST_PATH];
    wchar_t line[200];
    const DWORD length = GetModuleFileNameW(NULL, path, LONGEST_PATH);
    HANDLE parent;
    BOOL is_started;

    if (length == 0 || length == LONGEST_PATH ||
        !DuplicateHandle(GetCurrentProcess(), GetCurrentProcess(), GetCurrentProcess(), &parent,
                         SYNCHRONIZE, TRUE, 0))
        return false;
    _snwprintf(line, sizeof line / sizeof line[0],
               L"camp load child %hs %" PRIuPTR " %" PRIuPTR " %.0f %" PRIu64 " %" PRIu64, role,
               (uintptr_t)section, (uintptr_t)parent, cycles_per_second(), first, second);
    is_started = CreateProcessW(path, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &started);
    CloseHandle(parent);
    if (!is_started)
        return false;
    CloseHandle(started.hThread);
    *ret = (struct child){ started.hProcess, started.dwProcessId };
    return true;
}

bool load_child_command(int argc, char **argv, int *ret_status)
{
    struct child_role role;

    if (argc != ARGUMENTS || strcmp(argv[1], "child") != 0)
        return false;
    role.section = (HANDLE)(uintptr_t)strtoull(argv[3], NULL, 10);
    role.parent = (HANDLE)(uintptr_t)strtoull(argv[4], NULL, 10);
    set_cycles_per_second(strtod(argv[5], NULL));
    role.numbers[0] = strtoull(argv[6], NULL, 10);
    role.numbers[1] = strtoull(argv[7], NULL, 10);
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        if (strcmp(roles[i].name, argv[2]) == 0) {
            *ret_status = roles[i].run(&role);
            return true;
        }
    }
    return false;
}

/* Children of `camp load fork`. The section has the array of reported times. */

#define SHARED_SIZE (LOAD_CHILDREN_MAX * sizeof(_Atomic uint64_t))

int load_children_open(struct load_children *ret, struct camp_error *error)
{
    HANDLE section;

    clock_has_cycles(); /* measures the rate of the cycles, which the children get */
    *ret = (struct load_children){ .reported_ns = section_create(SHARED_SIZE, &section) };
    ret->section = (intptr_t)section;
    return ret->reported_ns != NULL
               ? CAMP_OK
               : windows_failed(error, GetLastError(), "memory shared with the children");
}

void load_children_close(struct load_children *children)
{
    UnmapViewOfFile((void *)children->reported_ns);
    CloseHandle((HANDLE)children->section);
}

int child_burn(const struct child_role *role)
{
    _Atomic uint64_t *reported_ns = section_map(role->section);

    if (reported_ns == NULL || role->numbers[0] >= LOAD_CHILDREN_MAX)
        return 1;
    load_burn(load_process_ns, role->numbers[1], 0, UINT64_MAX);
    atomic_store(&reported_ns[role->numbers[0]], load_process_ns());
    return 0;
}

bool load_child_start(struct load_children *children, unsigned place, uint64_t burn_ns)
{
    struct child child;

    atomic_store(&children->reported_ns[place], 0);
    if (!child_start(&child, "burn", (HANDLE)children->section, place, burn_ns))
        return false;
    children->processes[place] = (intptr_t)child.process;
    return true;
}

/* The clock of a process stays as long as its handle is open. Wine's clock of an ended process is
 * 0, or on a busy machine that of a process whose exit is not finished: it is unknown.
 */
bool load_child_reap(struct load_children *children, unsigned place, bool wait,
                     struct load_child_times *ret)
{
    HANDLE process = (HANDLE)children->processes[place];

    if (WaitForSingleObject(process, wait ? INFINITE : 0) == WAIT_TIMEOUT)
        return false;
    ret->reported_ns = atomic_load(&children->reported_ns[place]);
    ret->whole_ns = process_clock_ns(process);
    ret->has_whole = !is_wine() && ret->whole_ns >= ret->reported_ns && ret->whole_ns > 0;
    CloseHandle(process);
    children->processes[place] = 0;
    return true;
}
