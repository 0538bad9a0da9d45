/* Finds the class and the short title of a state by the name of its column. The states are those of
 * threads, CPUs and database sessions. */
#include "frame.h"
#include "microstates/table.h"

#include <stdbool.h>
#include <string.h>

#define MICROSTATE(state, name, title, short_title, class, ...)                                    \
    { name, short_title, CLASS_##class },
static const struct {
    const char *name, *short_title;
    enum column_class class;
} known[] = { { "nice", NULL, CLASS_CPU },
              /* "irq" is also in MICROSTATES, with the short title of "system". find() finds this
               * row first, so that irq has a column of its own. */
              { "irq", NULL, CLASS_CPU },
              { "softirq", "soft", CLASS_CPU },
              { "guest", NULL, CLASS_CPU },
              { "guest_nice", "gnice", CLASS_CPU },
              { "cpu", NULL, CLASS_CPU },
              { "busy", NULL, CLASS_CPU },
              { "steal", "stl", CLASS_READY },
              { "iowait", "iow", CLASS_IO },
              { "contention", "cont", CLASS_CONTENTION },
              { "wait", NULL, CLASS_OTHER_WAIT },
              /* Names that people give to columns of tables. */
              { "i_o", NULL, CLASS_IO },
              { "net", NULL, CLASS_NETWORK },
              { "parked", "slp", CLASS_IDLE }, /* sources/groups.c */
              { "cpu_wait", NULL, CLASS_READY },
              { "off_cpu", "off", CLASS_IDLE },
              { "idle", NULL, CLASS_IDLE },
              MICROSTATES(MICROSTATE) };

#define KNOWN_COUNT (sizeof known / sizeof known[0])

/* Returns the index of a column in known[], or KNOWN_COUNT if its name is unknown. The column
 * "user_ns" is "user" in known[]. */
static size_t find(const char *name)
{
    size_t at = 0;

    for (; at < KNOWN_COUNT; at++) {
        const size_t length = strlen(known[at].name);

        if (strncmp(name, known[at].name, length) == 0 && strcmp(name + length, "_ns") == 0)
            break;
    }
    return at;
}

static enum column_class class_of_rule(const char *name)
{
    static const struct {
        const char *prefix;
        enum column_class class;
    } states[] = {
        { "cpu_wait_", CLASS_READY },
        { "cpu_waiting_", CLASS_READY },
        { "cpu_queue_", CLASS_READY },
        { "cpu_", CLASS_CPU }, /* after the names that start with it */
        { "run_queue_", CLASS_READY },
        { "contention_", CLASS_CONTENTION },
        { "wait_disk_", CLASS_IO },
        { "wait_file_", CLASS_IO },
        { "wait_wal_", CLASS_IO },
        { "wait_commit_", CLASS_IO },
        { "wait_page_fault_", CLASS_IO },
        { "wait_user_io_", CLASS_IO },
        { "wait_system_io_", CLASS_IO },
        { "wait_network_", CLASS_NETWORK },
        { "wait_client_", CLASS_NETWORK },
        { "wait_cluster_", CLASS_NETWORK },
        { "wait_replication_", CLASS_NETWORK },
        { "wait_", CLASS_OTHER_WAIT }, /* after the names that start with it */
        { "idle_", CLASS_IDLE },
    };

    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (strncmp(name, states[i].prefix, strlen(states[i].prefix)) == 0)
            return states[i].class;
    }
    return CLASS_NONE;
}

/* Returns whether one of the words of `name`, which "_" divides, is `word`. */
static bool has_word(const char *name, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = name; at != NULL; at = strchr(at, '_')) {
        at += *at == '_';
        if (strncmp(at, word, length) == 0 && (at[length] == '_' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* Guesses the class from the words of a name that the author of a table has chosen, such as
 * "db_wait_ns" or "cpu_usage_ns". */
static enum column_class class_of_words(const char *name)
{
    static const struct {
        const char *word;
        enum column_class class;
    } words[] = {
        { "lock", CLASS_CONTENTION },    { "disk", CLASS_IO },   { "io", CLASS_IO },
        { "network", CLASS_NETWORK },    { "idle", CLASS_IDLE }, { "wait", CLASS_OTHER_WAIT },
        { "waiting", CLASS_OTHER_WAIT }, { "cpu", CLASS_CPU },
    };

    if (has_word(name, "cpu") &&
        (has_word(name, "wait") || has_word(name, "waiting") || has_word(name, "queue")))
        return CLASS_READY;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (has_word(name, words[i].word))
            return words[i].class;
    }
    return CLASS_NONE;
}

enum column_class column_class_of(const char *name)
{
    const size_t at = find(name), length = strlen(name);
    enum column_class class = at < KNOWN_COUNT ? known[at].class : class_of_rule(name);

    if (class == CLASS_NONE && length > 3 && strcmp(name + length - 3, "_ns") == 0)
        class = class_of_words(name);
    return class;
}

const char *column_short_title_of(const char *name)
{
    const size_t at = find(name);

    return at < KNOWN_COUNT ? known[at].short_title : NULL;
}

static const struct {
    const char *name, *title;
} classes[CLASS_COUNT] = {
    [CLASS_NONE] = { "", "unknown" },
    [CLASS_CPU] = { "cpu", "CPU" },
    [CLASS_READY] = { "run_queue", "run queue" },
    [CLASS_THROTTLED] = { "throttled", "throttled" },
    [CLASS_IO] = { "disk", "disk" },
    [CLASS_CONTENTION] = { "lock", "lock" },
    [CLASS_NETWORK] = { "network", "network" },
    [CLASS_OTHER_WAIT] = { "wait", "other waits" },
    [CLASS_IDLE] = { "idle", "idle" },
};

const char *column_class_name(enum column_class class)
{
    return classes[class].name;
}

const char *column_class_title(enum column_class class)
{
    return classes[class].title;
}
