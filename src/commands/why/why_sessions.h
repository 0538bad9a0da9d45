/* `camp why --from` a database, or a recording of its sessions: who blocks whom. */
#pragma once

#include "program/from_options.h"
#include "views/view.h"

struct why_sessions {
    struct from_options *from;
    struct source *source;
    const struct from_facts *facts;
    const char *subject; /* NULL: all sessions; else a name of sessions, or with a `pid` its text */
    int32_t pid;
    uint64_t interval_ns; /* 0: 1 s; of a recording all of it */
    uint64_t count;       /* of intervals; 0: no limit */
    bool shows_literals;
    size_t most;
    const struct view *view;
    const struct view_options *view_options;
};

/* Returns whether --from is a database that is asked now. Its statements can be shown without their
 * literals. */
bool why_sessions_is_database(const char *from);

/* Shows who blocks whom in each interval. Returns an exit status, after an error message. */
int why_sessions_show(const struct why_sessions *sessions);
