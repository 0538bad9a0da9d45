#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The numbers are the same on all architectures. */
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446

#define VERSION_FLAG 1u /* LANDLOCK_CREATE_RULESET_VERSION */
#define RULE_PATH_BENEATH 1

#define OF_FILES (LANDLOCK_EXECUTE | LANDLOCK_WRITE | LANDLOCK_TERMINAL | UINT64_C(1) << 2)
#define BIND_TCP (UINT64_C(1) << 0)
#define CONNECT_TCP (UINT64_C(1) << 1)
#define ABSTRACT_SOCKETS_AND_SIGNALS UINT64_C(3)

struct ruleset {
    uint64_t files, tcp, scoped;
};

struct path_rule {
    uint64_t rights;
    int32_t parent;
} __attribute__((packed));

/* The number of rights to files in each version of the interface. */
static const int rights_of_version[] = { 0, 13, 14, 15, 15, 16 };

int landlock_version(void)
{
    const long version = syscall(CREATE_RULESET, NULL, 0, VERSION_FLAG);

    return version > 0 ? (int)version : 0;
}

/* An older kernel refuses a longer struct, and bits that it does not know. */
static size_t size_for(int version)
{
    return version >= 6   ? sizeof(struct ruleset)
           : version >= 4 ? offsetof(struct ruleset, scoped)
                          : offsetof(struct ruleset, tcp);
}

void landlock_note_failure(struct landlock *landlock)
{
    if (landlock->failed == 0 &&
        (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO))
        landlock->failed = errno;
}

void landlock_init(struct landlock *ret, bool binds, bool connects)
{
    const int version = landlock_version();
    const int newest = (int)(sizeof rights_of_version / sizeof rights_of_version[0]) - 1;
    const struct ruleset ruleset = {
        .files = (UINT64_C(1) << rights_of_version[version < newest ? version : newest]) - 1,
        .tcp = (binds ? 0 : BIND_TCP) | (connects ? 0 : CONNECT_TCP),
        .scoped = ABSTRACT_SOCKETS_AND_SIGNALS,
    };

    ret->handled = ruleset.files;
    ret->failed = 0;
    ret->rules = version > 0 ? (int)syscall(CREATE_RULESET, &ruleset, size_for(version), 0) : -1;
    if (version > 0 && ret->rules < 0)
        landlock_note_failure(ret);
}

void landlock_allow_open(struct landlock *landlock, int descriptor, uint64_t rights)
{
    struct stat status;
    struct path_rule rule = { rights & landlock->handled, descriptor };

    /* The kernel refuses rights of folders for another file. */
    if (fstat(descriptor, &status) == 0 && !S_ISDIR(status.st_mode))
        rule.rights &= OF_FILES;
    if (rule.rights != 0 && syscall(ADD_RULE, landlock->rules, RULE_PATH_BENEATH, &rule, 0) != 0)
        landlock_note_failure(landlock);
}

void landlock_allow(struct landlock *landlock, const char *path, uint64_t rights)
{
    const int descriptor = landlock->rules >= 0 ? open(path, O_PATH | O_CLOEXEC) : -1;

    if (descriptor < 0) {
        if (landlock->rules >= 0)
            landlock_note_failure(landlock);
        return;
    }
    landlock_allow_open(landlock, descriptor, rights);
    close(descriptor);
}

void landlock_enter(struct landlock *landlock)
{
    if (landlock->rules < 0)
        return;
    if (syscall(RESTRICT_SELF, landlock->rules, 0) != 0)
        landlock_note_failure(landlock);
    close(landlock->rules);
    landlock->rules = -1;
}
