/* One interval of camp top as a record (schema camp.frame/1). */
#ifndef CAMP_COMMANDS_TOP_RECORD_H
#define CAMP_COMMANDS_TOP_RECORD_H

#include "ledger/group.h"
#include "sources/source.h"
#include "views/record.h"

#include <regex.h>

#define TOP_NOTE_SIZE 160

struct top_selection {
    enum group_key group;
    const regex_t *filter; /* of names; NULL: all */
    const int32_t *pids;   /* [pid_count]; none: all */
    size_t pid_count;
    bool kernel_threads;
    bool prstat; /* text: the columns of prstat -mL */
    size_t top;  /* 0: all */
    int sort;    /* index of a state; TOP_SORT_CPU: on a CPU */
};
#define TOP_SORT_CPU (-1)

struct top_record {
    struct record record;
    struct table tables[3];
    struct frame selected, groups; /* owned: top_record_release() */
    size_t *order;
    struct cell *cells;
    size_t cell_capacity, order_capacity;
    char (*users)[32];
    char time[48], headline[TOP_NOTE_SIZE];
    char note[TOP_NOTE_SIZE];
    const char *note_list[2];
    struct cell summary[5], losses[2];
};

/* CAMP_OK or CAMP_E_NOMEM. `losses`: since the session began. */
int top_record_fill(struct top_record *ret, const struct frame *threads,
                    const struct top_selection *selection, const struct camp_states_losses *losses,
                    const char *tier, const char *time);
void top_record_release(struct top_record *record);

extern const char *const top_group_names[]; /* by enum group_key; NULL-terminated */

#endif
