/* States by their names alone: what threads, CPUs and database sessions call them. */
#include "frame.h"

#include <string.h>

static const struct {
    const char *name, *short_title;
    enum column_class class;
} known[] = {
    { "user", "usr", CLASS_CPU },         { "system", "sys", CLASS_CPU },
    { "irq", NULL, CLASS_CPU },           { "softirq", "soft", CLASS_CPU },
    { "nice", NULL, CLASS_CPU },          { "guest", NULL, CLASS_CPU },
    { "guest_nice", "gnice", CLASS_CPU }, { "cpu", NULL, CLASS_CPU },
    { "busy", NULL, CLASS_CPU },          { "run_queue", "runq", CLASS_READY },
    { "steal", "stl", CLASS_READY },      { "text_fault", "flt", CLASS_IO },
    { "data_fault", "flt", CLASS_IO },    { "kernel_fault", "flt", CLASS_IO },
    { "disk", "dsk", CLASS_IO },          { "iowait", "iow", CLASS_IO },
    { "lock", "lck", CLASS_CONTENTION },  { "contention", "cont", CLASS_CONTENTION },
    { "wait", NULL, CLASS_OTHER_WAIT },   { "poll", "slp", CLASS_IDLE },
    { "socket", "slp", CLASS_IDLE },      { "pipe", "slp", CLASS_IDLE },
    { "timer", "slp", CLASS_IDLE },       { "child", "slp", CLASS_IDLE },
    { "other_sleep", "slp", CLASS_IDLE }, { "stopped", "slp", CLASS_IDLE },
    { "off_cpu", "off", CLASS_IDLE },     { "idle", NULL, CLASS_IDLE },
};

#define KNOWN_COUNT (sizeof known / sizeof known[0])

/* "user" of "user_ns". KNOWN_COUNT: none. */
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

/* The columns of a session's rules: "contention_row_lock_ns". */
static enum column_class class_of_rule(const char *name)
{
    static const struct {
        const char *prefix;
        enum column_class class;
    } states[] = {
        { "cpu_", CLASS_CPU },
        { "run_queue_", CLASS_READY },
        { "contention_", CLASS_CONTENTION },
        { "wait_", CLASS_OTHER_WAIT },
        { "idle_", CLASS_IDLE },
    };

    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (strncmp(name, states[i].prefix, strlen(states[i].prefix)) == 0)
            return states[i].class;
    }
    return CLASS_NONE;
}

enum column_class column_class_of(const char *name)
{
    const size_t at = find(name);

    return at < KNOWN_COUNT ? known[at].class : class_of_rule(name);
}

const char *column_short_title_of(const char *name)
{
    const size_t at = find(name);

    return at < KNOWN_COUNT ? known[at].short_title : NULL;
}
