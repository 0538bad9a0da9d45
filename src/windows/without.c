/* The sources that this system does not have. parts.c has the reasons. */
#include "commands/report/converter.h"
#include "commands/report/page_blockers.h"
#include "commands/report/page_causes.h"
#include "counters/error.h"
#include "ledger/words.h"
#include "parts.h"
#include "program/command.h"
#include "recording/recording.h"
#include "sources/causes/threads_causes.h"
#include "sources/causes/waits_source.h"
#include "sources/containers/container_labels.h"
#include "sources/containers/thread_cgroups.h"
#include "sources/groups.h"
#include "sources/machine/threads_schedstat.h"
#include "sources/sessions/odbc/odbc.h"
#include "sources/source.h"
#include "sources/user_names.h"

static int fail_without_threads(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_NOTSUP, 0, "%s; `camp list sources` lists what there is",
                     absent_parts[PART_STATES].why);
}

int threads_source_open(uint32_t options, const volatile sig_atomic_t *stop, struct source **ret,
                        struct camp_error *error)
{
    (void)options, (void)stop, (void)ret;
    return fail_without_threads(error);
}

int threads_schedstat_open(const struct schedstat_selection *selection,
                           const volatile sig_atomic_t *stop, struct source **ret,
                           struct camp_error *error)
{
    (void)selection, (void)stop, (void)ret;
    return fail_without_threads(error);
}

/* Never called, because there are no threads with causes. */
int threads_causes_open(uint32_t options, int32_t pid, const char *name,
                        const volatile sig_atomic_t *stop, struct source **ret,
                        struct camp_error *error)
{
    (void)options, (void)pid, (void)name, (void)stop, (void)ret;
    return fail_without_threads(error);
}

int waits_source_open(uint32_t options, const volatile sig_atomic_t *stop, struct source **ret,
                      struct camp_error *error)
{
    (void)options, (void)stop, (void)ret;
    return fail_without_threads(error);
}

/* Never called, because it groups threads. */
int groups_source_open(struct source *threads, enum group_key key, struct source **ret,
                       struct camp_error *error)
{
    (void)key, (void)ret;
    source_close(threads);
    return fail_without_threads(error);
}

/* Never called, because only threads have users. */
const char *user_names_get(struct user_names *users, uint32_t uid)
{
    (void)users, (void)uid;
    return "?";
}

void user_names_release(struct user_names *users)
{
    *users = (struct user_names){ 0 };
}

/* Never called, because it names the containers of threads. */
int container_labels_open(struct source *tasks, struct source **ret, struct camp_error *error)
{
    (void)ret;
    source_close(tasks);
    return fail_without_threads(error);
}

uint32_t thread_cgroups_option(void)
{
    return 0;
}

bool container_label_is_group(const char *name)
{
    (void)name;
    return false;
}

int odbc_source_open(const struct from *from, const char *place, struct source **ret,
                     struct from_facts *facts, struct camp_error *error)
{
    (void)from, (void)place, (void)ret, (void)facts;
    return camp_fail(error, CAMP_E_NOTSUP, 0, "%s", absent_parts[PART_ODBC].why);
}

bool recording_is_path(const char *path)
{
    return ends_with(path, ".camp");
}

int recording_replay_open(const struct from *from, const char *path, struct source **ret,
                          struct from_facts *facts, struct camp_error *error)
{
    return recording_source_open(from, path, ret, facts, error);
}

/* Never called, because no source has causes of waits. */
void page_causes_words(char ret[PAGE_CAUSES_WORDS])
{
    ret[0] = '\0';
}

int page_causes_read(struct bytes *ret, struct source *source)
{
    (void)source;
    bytes_clear(ret);
    return CAMP_OK;
}

bool page_blockers_are_known(const struct schema *schema)
{
    (void)schema;
    return false;
}

/* Never called, because no source has known blockers. */
int page_blockers_read(struct bytes *ret, struct blocker_tree *tree, const struct frame *frame,
                       bool shows_literals)
{
    (void)tree, (void)frame, (void)shows_literals;
    bytes_clear(ret);
    return CAMP_OK;
}

const char converter_change[] =
    "needs " CONVERTER ", which camp starts on Linux only: give a file that ends with .svg";

bool converter_exists(void)
{
    return false;
}

/* Never called, because there is no converter. */
int converter_run(bool is_png, const char *svg, size_t length, FILE *output)
{
    (void)is_png, (void)svg, (void)length, (void)output;
    return STATUS_FAILURE;
}
