#include "session_sums.h"

#include "thread_sums.h"

#include <stdio.h>
#include <string.h>

#define IN_TRANSACTION "idle_in_transaction_ns"
#define NO_LABEL "(none)" /* as in tables that are grouped by a label */

const char *const session_sum_names[SESSION_SUM_STATES] = {
    "cpu", "run_queue", "contention", "wait", "idle", "idle_in_transaction", "throttled"
};

/* Without the operating system's counts the run queue is unknown; its column is then 0. */
static bool is_known(const struct schema *schema, size_t state, size_t column)
{
    const enum camp_provenance provenance = schema->columns[column].provenance;

    return state == SESSION_RUN_QUEUE ? provenance == CAMP_MEASURED : provenance != CAMP_UNKNOWN;
}

/* The states come first, in the order of enum session_state; throttled time is among them. */
static void find_states(struct session_sums *ret, const struct schema *schema)
{
    size_t state = 0;

    for (size_t i = 0; i < schema->state_count && state < SESSION_STATE_COUNT; i++) {
        if (strcmp(schema->columns[i].name, COLUMN_THROTTLED) == 0) {
            ret->throttled_column = i;
            ret->known |= 1u << SESSION_SUM_THROTTLED;
            continue;
        }
        ret->columns[state] = i;
        ret->known |= (uint32_t)is_known(schema, state, i) << state;
        state++;
    }
}

int session_sums_init(struct session_sums *ret, const struct schema *schema, size_t label,
                      size_t groups, size_t new_an_hour)
{
    *ret = (struct session_sums){ .label = label };
    find_states(ret, schema);
    ret->in_transaction_column = schema_find_counter(schema, IN_TRANSACTION);
    if (ret->in_transaction_column != SIZE_MAX)
        ret->known |= 1u << SESSION_SUM_IN_TRANSACTION;
    return top_k_init(&ret->top, SESSION_SUM_COUNT, groups, new_an_hour);
}

void session_sums_release(struct session_sums *sums)
{
    top_k_release(&sums->top);
}

/* Sets ret[SESSION_SUM_COUNT] to the times of a row. */
static void read_times(const struct session_sums *sums, const struct frame *frame, size_t row,
                       uint64_t *ret)
{
    const uint64_t *values = frame_values(frame, row);
    uint64_t in_transaction_ns = 0;

    for (size_t i = 0; i < SESSION_STATE_COUNT; i++)
        ret[i] = values[sums->columns[i]];
    ret[SESSION_SUM_THROTTLED] = sums->throttled_column != 0 ? values[sums->throttled_column] : 0;
    if (sums->in_transaction_column != SIZE_MAX)
        in_transaction_ns = values[sums->in_transaction_column];
    if (in_transaction_ns > ret[SESSION_IDLE])
        in_transaction_ns = ret[SESSION_IDLE];
    ret[SESSION_IDLE] -= in_transaction_ns;
    ret[SESSION_SUM_IN_TRANSACTION] = in_transaction_ns;
    ret[SESSION_SUM_ELAPSED] = frame->elapsed_ns[row];
}

static int add_row(struct session_sums *sums, const struct frame *frame, size_t row)
{
    const char *value = labels_value(frame->entities[row].labels, sums->label);
    const int64_t unaccounted_ns = frame_unaccounted_ns(frame, row);
    uint64_t times[SESSION_SUM_COUNT], active_ns = 0;
    struct top_k_key key = { 0 };
    uint32_t group;
    int r;

    _Static_assert(TOP_K_TEXT_SIZE >= LABELS_VALUE_SIZE, "no name is cut");
    snprintf(key.text, sizeof key.text, "%s", value[0] != '\0' ? value : NO_LABEL);
    r = top_k_find(&sums->top, &key, &group);
    if (r != CAMP_OK)
        return r;
    read_times(sums, frame, row, times);
    if ((frame->entities[row].flags & ENTITY_UNTHROTTLED) != 0)
        sums->known &= ~(1u << SESSION_SUM_THROTTLED);
    for (size_t i = 0; i < SESSION_IDLE; i++)
        active_ns += times[i];
    active_ns += times[SESSION_SUM_THROTTLED];
    top_k_add(&sums->top, group, times, active_ns);
    if (unaccounted_ns > 0)
        sums->unaccounted_ns += (uint64_t)unaccounted_ns;
    else
        sums->overlapping_ns += frame_unaccounted_size_ns(frame, row);
    return CAMP_OK;
}

static int name_groups(struct top_k *top)
{
    for (size_t i = 0; i < top->count; i++) {
        struct top_k_group *group = &top->groups[i];

        if (group->shown == NULL || group->name != NULL)
            continue;
        group->name = members_unique_name(top, group, group->key.text);
        if (group->name == NULL)
            return CAMP_E_NOMEM;
    }
    return CAMP_OK;
}

int session_sums_add(struct session_sums *sums, const struct frame *frame, size_t server)
{
    int r = CAMP_OK;

    top_k_start(&sums->top, frame->end_ns - frame->start_ns);
    for (size_t i = 0; i < frame->entity_count && r == CAMP_OK; i++) {
        if (server == 0 || (size_t)(frame->entities[i].id >> ENTITY_SERVER_SHIFT) == server)
            r = add_row(sums, frame, i);
    }
    if (r == CAMP_OK)
        r = top_k_finish(&sums->top);
    return r == CAMP_OK ? name_groups(&sums->top) : r;
}
