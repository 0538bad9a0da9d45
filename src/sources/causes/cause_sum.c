#include "cause_sum.h"

#include "cause_fit.h"
#include "cause_names.h"
#include "counters/error.h"
#include "ledger/array.h"
#include "open_sleeps.h"

#include <stdlib.h>
#include <string.h>

#define SUM_MOST_NS (UINT64_C(1) << 62)
#define DEVICES "/sys/kernel/irq"
#define PROCESSES "/proc"

static bool is_same_group(const struct camp_states_group *a, const struct camp_states_group *b)
{
    return a->kind == b->kind && a->pid == b->pid &&
           (a->kind == CAMP_GROUP_PROCESS || strcmp(a->name, b->name) == 0);
}

static bool is_subject(const struct cause_sum *sum, const struct camp_states_group *group)
{
    if (group->kind == CAMP_GROUP_PROCESS && sum->subject_pid != 0)
        return group->pid == sum->subject_pid;
    return sum->subject != NULL && sum->subject_pid == 0 && group->kind == CAMP_GROUP_NAME &&
           strncmp(group->name, sum->subject, CAMP_STATES_NAME_SIZE - 1) == 0;
}

/* The last number is kept for the subject, and number 0 for the other processes. */
static uint32_t free_number(const struct cause_sum *sum, const struct camp_states_group *group)
{
    uint32_t number = group->kind == CAMP_GROUP_OTHER ? 0 : 1;

    if (is_subject(sum, group))
        return CAUSE_GROUPS - 1;
    while (number < CAUSE_GROUPS - 1 && cause_group_find(&sum->causes, number) != NULL)
        number++;
    return number < CAUSE_GROUPS - 1 ? number : 0;
}

static struct camp_states_group *find_group(struct cause_sum *sum,
                                            const struct camp_states_group *group)
{
    for (size_t i = 0; i < sum->causes.group_count; i++) {
        if (is_same_group(&sum->causes.groups[i], group))
            return &sum->causes.groups[i];
    }
    return NULL;
}

/* Keeps a group for cause_sum.met. */
static void meet(struct cause_sum *sum, const struct camp_states_group *group)
{
    size_t at = 0;

    while (at < sum->met_count && !is_same_group(&sum->met[at], group))
        at++;
    if (at == CAUSE_GROUPS)
        return;
    if (at == sum->met_count)
        sum->met[sum->met_count++] = *group;
    else if (group->name[0] != '\0')
        sum->met[at] = *group;
}

/* Returns the number that a group has in the sum. */
static uint32_t number_group(struct cause_sum *sum, const struct camp_states_group *group)
{
    struct camp_states_group *known = find_group(sum, group);
    const uint32_t number = known != NULL ? known->number : free_number(sum, group);

    if (known != NULL && group->name[0] != '\0')
        memcpy(known->name, group->name, sizeof known->name);
    if (known == NULL && cause_group_find(&sum->causes, number) == NULL) {
        sum->causes.groups[sum->causes.group_count] = *group;
        sum->causes.groups[sum->causes.group_count++].number = number;
    }
    return number;
}

static void number_groups(struct cause_sum *sum, const struct causes *more)
{
    const struct camp_states_group other = { .kind = CAMP_GROUP_OTHER };

    memset(sum->numbers, 0, sizeof sum->numbers);
    number_group(sum, &other);
    for (size_t i = 0; i < more->group_count; i++) {
        if (more->groups[i].number >= CAUSE_GROUPS)
            continue;
        sum->numbers[more->groups[i].number] = number_group(sum, &more->groups[i]);
        meet(sum, &more->groups[i]);
    }
}

static int add_states(struct cause_sum *sum, const struct causes *more, struct camp_error *error)
{
    uint64_t threads[CAUSE_GROUPS] = { 0 };

    for (uint32_t group = 0; group < CAUSE_GROUPS; group++) {
        const uint32_t number = sum->numbers[group];

        for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++) {
            const uint64_t time_ns = more->state_ns[group][state];

            if (time_ns > SUM_MOST_NS - sum->total_ns)
                return camp_fail(error, CAMP_E_FORMAT, 0,
                                 "the times of the causes are too long to be added up");
            sum->total_ns += time_ns;
            sum->causes.state_ns[number][state] += time_ns;
            if (more->lengths[group][state].count > 0)
                wait_lengths_add(&sum->causes.lengths[number][state], &more->lengths[group][state]);
        }
        threads[number] += more->threads[group];
        sum->causes.reduced_ns[number] += more->reduced_ns[group];
    }
    for (uint32_t i = 0; i < CAUSE_GROUPS; i++) {
        if (threads[i] > sum->causes.threads[i])
            sum->causes.threads[i] = threads[i];
    }
    return CAMP_OK;
}

static bool is_same_cause(const void *context, uint32_t position, const void *key)
{
    const struct cause_sum *sum = context;

    return cause_is_same(&sum->causes.rows.items[position], key);
}

static bool add_row(struct cause_sum *sum, const struct cause *row)
{
    struct cause_list *rows = &sum->causes.rows;
    const uint32_t key[] = { row->group, row->state, row->kind, row->id };
    const uint32_t hash = index_hash_bytes(key, sizeof key);
    const struct index_slot *slot = index_find(&sum->rows, hash, is_same_cause, sum, row);

    if (row->wait_ns == 0)
        return true;
    if (slot != NULL) {
        rows->items[slot->position].wait_ns += row->wait_ns;
        return true;
    }
    if (!index_reserve(&sum->rows, rows->count + 1) || !cause_add(rows, row))
        return false;
    index_add(&sum->rows, hash, (uint32_t)rows->count - 1);
    return true;
}

static bool name_device(struct cause_sum *sum, const struct causes *more, uint32_t number)
{
    struct causes *causes = &sum->causes;
    struct cause_device *devices;

    for (size_t i = 0; i < causes->device_count; i++) {
        if (causes->devices[i].number == number)
            return true;
    }
    devices = realloc(causes->devices, (causes->device_count + 1) * sizeof *devices);
    if (devices == NULL)
        return false;
    causes->devices = devices;
    devices[causes->device_count].number = number;
    cause_who(devices[causes->device_count].name, more, CAMP_CAUSE_DEVICE, number, DEVICES);
    causes->device_count++;
    return true;
}

static bool add_rows(struct cause_sum *sum, const struct causes *more)
{
    for (size_t i = 0; i < more->rows.count; i++) {
        struct cause row = more->rows.items[i];

        row.group = sum->numbers[row.group % CAUSE_GROUPS];
        if (row.kind == CAMP_CAUSE_GROUP)
            row.id = sum->numbers[row.id % CAUSE_GROUPS];
        if (!add_row(sum, &row) ||
            (row.kind == CAMP_CAUSE_DEVICE && !name_device(sum, more, row.id)))
            return false;
    }
    return true;
}

/* A call of the sum, to be found. */
struct call_key {
    const struct camp_call_sleeps *sleeps;
    const struct call_name *names;
};

static bool is_same_call(const void *context, uint32_t position, const void *key)
{
    const struct causes *causes = &((const struct cause_sum *)context)->causes;
    const struct camp_call_sleeps *sleeps = &causes->calls.items[position];
    const struct call_key *wanted = key;

    return sleeps->pid == wanted->sleeps->pid && sleeps->state == wanted->sleeps->state &&
           strcmp(causes->call_names[position].call, wanted->names->call) == 0 &&
           strcmp(causes->call_names[position].object, wanted->names->object) == 0;
}

static uint32_t hash_of(const struct call_key *key)
{
    const uint32_t numbers[] = {
        (uint32_t)key->sleeps->pid,
        key->sleeps->state,
        index_hash_bytes(key->names->call, strlen(key->names->call)),
        index_hash_bytes(key->names->object, strlen(key->names->object)),
    };

    return index_hash_bytes(numbers, sizeof numbers);
}

static bool add_call(struct cause_sum *sum, const struct camp_call_sleeps *sleeps,
                     const struct call_name *names)
{
    const struct call_key key = { sleeps, names };
    const uint32_t hash = hash_of(&key);
    const struct index_slot *slot = index_find(&sum->calls, hash, is_same_call, sum, &key);
    struct call_list *calls = &sum->causes.calls;

    if (slot != NULL) {
        calls->items[slot->position].sleep_ns += sleeps->sleep_ns;
        calls->items[slot->position].count += sleeps->count;
        return true;
    }
    if (!ARRAY_RESERVE(calls->items, calls->capacity, calls->count + 1) ||
        !ARRAY_RESERVE(sum->causes.call_names, sum->name_capacity, calls->count + 1) ||
        !index_reserve(&sum->calls, calls->count + 1))
        return false;
    index_add(&sum->calls, hash, (uint32_t)calls->count);
    calls->items[calls->count] = *sleeps;
    sum->causes.call_names[calls->count++] = *names;
    return true;
}

static int add_calls(struct cause_sum *sum, const struct causes *more, struct camp_error *error)
{
    for (size_t i = 0; i < more->calls.count; i++) {
        const struct camp_call_sleeps *sleeps = &more->calls.items[i];
        struct call_name names;

        if (sleeps->sleep_ns > SUM_MOST_NS - sum->call_ns)
            return camp_fail(error, CAMP_E_FORMAT, 0,
                             "the times of the system calls are too long to be added up");
        sum->call_ns += sleeps->sleep_ns;
        cause_call_names(&names, more, i, PROCESSES);
        if (!add_call(sum, sleeps, &names))
            return CAMP_E_NOMEM;
    }
    return CAMP_OK;
}

/* A sleep that has not ended, with what is known of it, to be found. */
struct open_key {
    const struct camp_call_sleeps *call;
    const struct open_fact *fact;
};

static bool is_same_open(const void *context, uint32_t position, const void *key)
{
    const struct causes *causes = &((const struct cause_sum *)context)->causes;
    const struct camp_call_sleeps *call = &causes->open_calls.items[position];
    const struct open_fact *fact = &causes->open_facts[position];
    const struct open_key *wanted = key;

    return call->pid == wanted->call->pid && call->state == wanted->call->state &&
           fact->group == wanted->fact->group &&
           strcmp(fact->names.call, wanted->fact->names.call) == 0 &&
           strcmp(fact->names.object, wanted->fact->names.object) == 0;
}

/* Adds the times; what else is known is that of the last interval that has it. */
static bool add_open_call(struct cause_sum *sum, const struct camp_call_sleeps *call,
                          const struct open_fact *fact)
{
    const struct open_key key = { call, fact };
    const uint32_t hash = hash_of(&(struct call_key){ call, &fact->names });
    const struct index_slot *slot = index_find(&sum->open, hash, is_same_open, sum, &key);
    struct causes *causes = &sum->causes;

    if (slot != NULL) {
        struct camp_call_sleeps *has = &causes->open_calls.items[slot->position];
        struct open_fact more = *fact;

        more.state_ns += causes->open_facts[slot->position].state_ns;
        has->sleep_ns += call->sleep_ns;
        has->count = call->count > has->count ? call->count : has->count;
        causes->open_facts[slot->position] = more;
        return true;
    }
    if (!index_reserve(&sum->open, causes->open_calls.count + 1) ||
        !open_call_add(causes, &sum->open_capacity, call, fact))
        return false;
    index_add(&sum->open, hash, (uint32_t)causes->open_calls.count - 1);
    return true;
}

static int add_open_calls(struct cause_sum *sum, const struct causes *more,
                          struct camp_error *error)
{
    for (size_t i = 0; more->open_facts != NULL && i < more->open_calls.count; i++) {
        const struct camp_call_sleeps *call = &more->open_calls.items[i];
        struct open_fact fact = more->open_facts[i];

        if (call->sleep_ns > SUM_MOST_NS - sum->open_ns ||
            fact.state_ns > SUM_MOST_NS - sum->open_ns)
            return camp_fail(error, CAMP_E_FORMAT, 0,
                             "the times of the open sleeps are too long to be added up");
        sum->open_ns += call->sleep_ns > fact.state_ns ? call->sleep_ns : fact.state_ns;
        if (fact.group < CAUSE_GROUPS)
            fact.group = sum->numbers[fact.group];
        if (!add_open_call(sum, call, &fact))
            return CAMP_E_NOMEM;
    }
    return CAMP_OK;
}

int cause_sum_add(struct cause_sum *sum, const struct causes *more, struct camp_error *error)
{
    int r;

    number_groups(sum, more);
    r = add_states(sum, more, error);
    if (r == CAMP_OK && !add_rows(sum, more))
        r = CAMP_E_NOMEM;
    if (r == CAMP_OK)
        r = add_calls(sum, more, error);
    if (r == CAMP_OK)
        r = add_open_calls(sum, more, error);
    unowned_add(&sum->causes.unowned, &more->unowned);
    sum->causes.is_recorded = true;
    sum->causes.end_ns += more->end_ns - more->start_ns;
    sum->causes.wall_clock_ns = more->wall_clock_ns;
    sum->causes.unseen += more->unseen;
    sum->causes.has_open_facts =
        more->has_open_facts && (sum->intervals == 0 || sum->causes.has_open_facts);
    sum->causes.intervals = ++sum->intervals;
    return r;
}

/* A call of the sum with its names, to be sorted. */
struct named_call {
    struct camp_call_sleeps sleeps;
    struct call_name names;
};

static int compare_calls(const void *a, const void *b)
{
    const struct named_call *left = a, *right = b;

    if (left->sleeps.sleep_ns != right->sleeps.sleep_ns)
        return left->sleeps.sleep_ns < right->sleeps.sleep_ns ? 1 : -1;
    return strcmp(left->names.object, right->names.object);
}

/* Without memory the calls stay in the order in which they came. */
static void sort_calls(struct causes *causes)
{
    struct named_call *calls = calloc(causes->calls.count + 1, sizeof *calls);

    if (calls == NULL)
        return;
    for (size_t i = 0; i < causes->calls.count; i++)
        calls[i] = (struct named_call){ causes->calls.items[i], causes->call_names[i] };
    qsort(calls, causes->calls.count, sizeof *calls, compare_calls);
    for (size_t i = 0; i < causes->calls.count; i++) {
        causes->calls.items[i] = calls[i].sleeps;
        causes->call_names[i] = calls[i].names;
    }
    free(calls);
}

const struct causes *cause_sum_finish(struct cause_sum *sum)
{
    cause_sort(&sum->causes.rows);
    sort_calls(&sum->causes);
    open_calls_sort(&sum->causes);
    return &sum->causes;
}

/* The other groups free their numbers for those of the next intervals. */
static void keep_subject(struct cause_sum *sum)
{
    struct causes *causes = &sum->causes;
    size_t left = 0;

    for (size_t i = 0; i < causes->group_count; i++) {
        if (is_subject(sum, &causes->groups[i]))
            causes->groups[left++] = causes->groups[i];
    }
    causes->group_count = left;
}

void cause_sum_clear(struct cause_sum *sum)
{
    struct causes *causes = &sum->causes;

    memset(causes->threads, 0, sizeof causes->threads);
    memset(causes->state_ns, 0, sizeof causes->state_ns);
    memset(causes->reduced_ns, 0, sizeof causes->reduced_ns);
    memset(causes->lengths, 0, sizeof causes->lengths);
    keep_subject(sum);
    causes->rows.count = causes->calls.count = causes->open_calls.count = 0;
    causes->end_ns = causes->unseen = 0;
    causes->unowned = (struct unowned_waits){ 0 };
    sum->intervals = causes->intervals = sum->total_ns = sum->call_ns = sum->open_ns = 0;
    index_clear(&sum->rows);
    index_clear(&sum->calls);
    index_clear(&sum->open);
}

void cause_sum_release(struct cause_sum *sum)
{
    free(sum->causes.rows.items);
    free(sum->causes.calls.items);
    free(sum->causes.call_names);
    free(sum->causes.devices);
    free(sum->causes.open_calls.items);
    free(sum->causes.open_facts);
    index_release(&sum->open);
    index_release(&sum->rows);
    index_release(&sum->calls);
    *sum = (struct cause_sum){ 0 };
}
