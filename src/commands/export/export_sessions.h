/* camp export --from: the sessions of a database instead of this computer. */
#pragma once

#include "metrics/exported.h"
#include "sources/from.h"

/* The words that shells complete after --from, NULL-terminated. */
extern const char *const export_session_words[];

struct export_sessions {
    struct from from;  /* text, tier, rules and background, as the user gave them */
    const char *group; /* of --group; NULL: the application, or the user if there is none */
    size_t groups, new_groups;
};

/* Gives up capabilities, connects, and starts to export. Returns OPTIONS_GO_ON, or an exit status
 * after an error message. */
int export_sessions_open(const struct export_sessions *sessions, struct exported **ret);
