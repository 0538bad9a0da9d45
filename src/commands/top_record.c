#include "top_record.h"

#include "counters/units.h"

#include <inttypes.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *const top_group_names[] = { "thread", "process", "user", "command", NULL };

static const struct field summary_fields[] = {
    { "time", NULL, "wall clock of the interval's end", 0, 0, false, NULL },
    { "interval_s", NULL, "its length", 0, 6, false, NULL },
    { "source", NULL, "threads", 0, 0, false, NULL },
    { "tier", NULL, "bpf", 0, 0, false, NULL },
    { "group", NULL, "what a row is: thread, process, user or command", 0, 0, false, NULL },
};

#define STATE(name)                                                                                \
    {                                                                                              \
        name, NULL, "ns in this state", 0, 0, false, "states"                                      \
    }
#define COUNTER(name)                                                                              \
    {                                                                                              \
        name, NULL, "in the interval", 0, 0, false, "counters"                                     \
    }
#define PERCENT(title, help)                                                                       \
    {                                                                                              \
        NULL, title, help, 5, 1, false, NULL                                                       \
    }

/* What JSON and CSV have of a row, behind what stands out in text. */
#define NUMBERS                                                                                    \
    STATE("user"), STATE("system"), STATE("irq"), STATE("text_fault"), STATE("data_fault"),        \
        STATE("kernel_fault"), STATE("lock"), STATE("disk"), STATE("poll"), STATE("socket"),       \
        STATE("pipe"), STATE("timer"), STATE("child"), STATE("other_sleep"), STATE("run_queue"),   \
        STATE("stopped"), COUNTER("system_calls"), COUNTER("signals"),                             \
        COUNTER("voluntary_switches"), COUNTER("involuntary_switches"), COUNTER("minor_faults"),   \
        COUNTER("major_faults"), COUNTER("read_bytes"), COUNTER("written_bytes"),                  \
        COUNTER("read_chars"), COUNTER("written_chars"), COUNTER("cpu_ns"),                        \
        COUNTER("run_delay_ns"), COUNTER("sampled_ns"),                                            \
    {                                                                                              \
        "unaccounted_ns", NULL, "wall time in no state", 0, 0, false, NULL                         \
    }

/* Before the numbers: 8 cells of the row, 8 percentages. */
static const struct field row_fields[] = {
    { "id", "id", "tid, pid or uid", 7, 0, false, NULL },
    { "name", "name", "of the thread, process, user or command", -15, 0, false, NULL },
    { "pid", NULL, "its process", 0, 0, false, NULL },
    { "user_name", NULL, "effective user", 0, 0, false, NULL },
    { "threads", "thr", "how many are in the row", 4, 0, false, NULL },
    { "new", NULL, "began in the interval", 0, 0, false, NULL },
    { "ended", NULL, "ended in it", 0, 0, false, NULL },
    { "elapsed_ns", NULL, "wall time of its threads in the interval", 0, 0, false, NULL },
    PERCENT("usr%", "user, of the interval"),
    PERCENT("sys%", "system and irq"),
    PERCENT("runq%", "run_queue"),
    PERCENT("flt%", "text_fault, data_fault and kernel_fault"),
    PERCENT("disk%", "disk"),
    PERCENT("lock%", "lock"),
    PERCENT("slp%", "all other states"),
    { NULL, "un%", "unaccounted", 4, 1, false, NULL },
    NUMBERS,
};

/* prstat -mL, in percent of the row's own wall time. Traps are part of user here. */
static const struct field prstat_fields[] = {
    { "id", "PID", "", 6, 0, false, NULL },
    { "name", NULL, "", 0, 0, false, NULL },
    { "pid", NULL, "", 0, 0, false, NULL },
    { "user_name", "USERNAME", "", -8, 0, false, NULL },
    { "threads", NULL, "", 0, 0, false, NULL },
    { "new", NULL, "", 0, 0, false, NULL },
    { "ended", NULL, "", 0, 0, false, NULL },
    { "elapsed_ns", NULL, "", 0, 0, false, NULL },
    { NULL, "USR", "", 4, 1, false, NULL },
    { NULL, "SYS", "", 4, 1, false, NULL },
    { NULL, "TRP", "", 3, 1, false, NULL },
    { NULL, "TFL", "", 4, 1, false, NULL },
    { NULL, "DFL", "", 4, 1, false, NULL },
    { NULL, "LCK", "", 4, 1, false, NULL },
    { NULL, "SLP", "", 4, 1, false, NULL },
    { NULL, "LAT", "", 4, 1, false, NULL },
    NUMBERS,
    { NULL, "VCX", "", 4, 0, false, NULL },
    { NULL, "ICX", "", 4, 0, false, NULL },
    { NULL, "SCL", "", 4, 0, false, NULL },
    { NULL, "SIG", "", 3, 0, false, NULL },
    { NULL, "PROCESS/LWPID", "", -16, 0, false, NULL },
};

static const struct field loss_fields[] = {
    { "unseen", NULL, "switches that the kernel told nobody of, in the interval", 0, 0, false,
      NULL },
    { "lost", NULL, "threads without an account or without last numbers", 0, 0, false, NULL },
};

#define HEAD_CELLS 8
#define PERCENT_CELLS 8
#define FIRST_NUMBER (HEAD_CELLS + PERCENT_CELLS)

/* ----------------------------------------------------------------------------- Selecting -- */

static bool is_selected(const struct frame *threads, size_t row,
                        const struct top_selection *selection)
{
    const struct entity *entity = &threads->entities[row];
    bool wanted = selection->pid_count == 0;

    if (!selection->kernel_threads && (entity->flags & ENTITY_KERNEL) != 0)
        return false;
    for (size_t i = 0; i < selection->pid_count && !wanted; i++)
        wanted = entity->pid == selection->pids[i];
    return wanted;
}

static int select_rows(struct frame *ret, const struct frame *threads,
                       const struct top_selection *selection)
{
    const size_t columns = threads->schema->column_count;

    frame_clear(ret);
    ret->start_ns = threads->start_ns;
    ret->end_ns = threads->end_ns;
    ret->wall_clock_ns = threads->wall_clock_ns;
    ret->losses = threads->losses;
    for (size_t i = 0; i < threads->entity_count; i++) {
        struct entity *entity;

        if (!is_selected(threads, i, selection))
            continue;
        entity = frame_add(ret);
        if (entity == NULL)
            return CAMP_E_NOMEM;
        *entity = threads->entities[i];
        ret->elapsed_ns[ret->entity_count - 1] = threads->elapsed_ns[i];
        memcpy(frame_values(ret, ret->entity_count - 1), frame_values(threads, i),
               columns * sizeof *threads->values);
    }
    return CAMP_OK;
}

static uint64_t on_cpu_ns(const uint64_t *values)
{
    return values[CAMP_STATE_USER] + values[CAMP_STATE_SYSTEM] + values[CAMP_STATE_IRQ];
}

struct sorting {
    const struct frame *frame;
    int sort;
};

/* By what was asked for; who is equal in it, by CPU and run queue; then by id. */
static int compare_rows(const void *a, const void *b, void *context)
{
    const struct sorting *sorting = context;
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;
    const uint64_t *l = frame_values(sorting->frame, left);
    const uint64_t *r = frame_values(sorting->frame, right);
    uint64_t lefts[3] = { sorting->sort < 0 ? on_cpu_ns(l) : l[sorting->sort], on_cpu_ns(l),
                          l[CAMP_STATE_RUN_QUEUE] };
    uint64_t rights[3] = { sorting->sort < 0 ? on_cpu_ns(r) : r[sorting->sort], on_cpu_ns(r),
                           r[CAMP_STATE_RUN_QUEUE] };

    for (int i = 0; i < 3; i++) {
        if (lefts[i] != rights[i])
            return lefts[i] > rights[i] ? -1 : 1;
    }
    return left < right ? -1 : left > right;
}

/* ------------------------------------------------------------------------------- Filling -- */

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : NAN;
}

static uint64_t faults_ns(const uint64_t *values)
{
    return values[CAMP_STATE_TEXT_FAULT] + values[CAMP_STATE_DATA_FAULT] +
           values[CAMP_STATE_KERNEL_FAULT];
}

static uint64_t other_sleep_ns(const uint64_t *values)
{
    return values[CAMP_STATE_POLL] + values[CAMP_STATE_SOCKET] + values[CAMP_STATE_PIPE] +
           values[CAMP_STATE_TIMER] + values[CAMP_STATE_CHILD] + values[CAMP_STATE_OTHER_SLEEP] +
           values[CAMP_STATE_STOPPED];
}

static void fill_percents(struct cell *cells, const uint64_t *values, uint64_t whole,
                          int64_t unaccounted)
{
    *cells++ = cell_real(percent(values[CAMP_STATE_USER], whole));
    *cells++ = cell_real(percent(values[CAMP_STATE_SYSTEM] + values[CAMP_STATE_IRQ], whole));
    *cells++ = cell_real(percent(values[CAMP_STATE_RUN_QUEUE], whole));
    *cells++ = cell_real(percent(faults_ns(values), whole));
    *cells++ = cell_real(percent(values[CAMP_STATE_DISK], whole));
    *cells++ = cell_real(percent(values[CAMP_STATE_LOCK], whole));
    *cells++ = cell_real(percent(other_sleep_ns(values), whole));
    *cells++ = cell_real(whole > 0 ? 100.0 * (double)unaccounted / (double)whole : NAN);
}

static void fill_prstat_percents(struct cell *cells, const uint64_t *values, uint64_t whole)
{
    *cells++ = cell_real(percent(values[CAMP_STATE_USER], whole));
    *cells++ = cell_real(percent(values[CAMP_STATE_SYSTEM] + values[CAMP_STATE_IRQ], whole));
    *cells++ = cell_unknown();
    *cells++ = cell_real(percent(values[CAMP_STATE_TEXT_FAULT], whole));
    *cells++ =
        cell_real(percent(values[CAMP_STATE_DATA_FAULT] + values[CAMP_STATE_KERNEL_FAULT], whole));
    *cells++ = cell_real(percent(values[CAMP_STATE_LOCK], whole));
    *cells++ = cell_real(percent(other_sleep_ns(values) + values[CAMP_STATE_DISK], whole));
    *cells++ = cell_real(percent(values[CAMP_STATE_RUN_QUEUE], whole));
}

static void name_user(char ret[32], uint32_t uid)
{
    const struct passwd *user = getpwuid(uid);

    if (user != NULL)
        snprintf(ret, 32, "%.31s", user->pw_name);
    else
        snprintf(ret, 32, "%" PRIu32, uid);
}

static void fill_head(struct cell *cells, const struct frame *frame, size_t row,
                      const struct top_selection *selection, const char *user)
{
    const struct entity *entity = &frame->entities[row];
    const bool numbered =
        selection->group == GROUP_USER || (selection->group != GROUP_NAME && entity->id != 0);
    const bool of_process =
        selection->group == GROUP_NONE || (selection->group == GROUP_PROCESS && entity->id != 0);

    *cells++ = numbered ? cell_integer(entity->id) : cell_unknown();
    *cells++ = cell_text(selection->group == GROUP_USER ? user : entity->name);
    *cells++ = of_process ? cell_integer(entity->pid) : cell_unknown();
    *cells++ = selection->group == GROUP_NAME ? cell_unknown() : cell_text(user);
    *cells++ = cell_natural(entity->count);
    *cells++ = cell_boolean((entity->flags & ENTITY_NEW) != 0);
    *cells++ = cell_boolean((entity->flags & ENTITY_ENDED) != 0);
    *cells++ = cell_natural(frame->elapsed_ns[row]);
}

static struct cell *fill_numbers(struct cell *cells, const struct frame *frame, size_t row)
{
    const uint64_t *values = frame_values(frame, row);

    for (size_t i = 0; i < frame->schema->column_count; i++)
        *cells++ = cell_natural(values[i]);
    *cells++ = cell_integer(frame_unaccounted_ns(frame, row));
    return cells;
}

static void fill_row(struct top_record *ret, struct cell *cells, size_t row,
                     const struct top_selection *selection, char user[32])
{
    const struct frame *frame = &ret->groups;
    const uint64_t *values = frame_values(frame, row);

    name_user(user, frame->entities[row].uid);
    fill_head(cells, frame, row, selection, user);
    if (selection->prstat)
        fill_prstat_percents(cells + HEAD_CELLS, values, frame->elapsed_ns[row]);
    else
        fill_percents(cells + HEAD_CELLS, values, frame->end_ns - frame->start_ns,
                      frame_unaccounted_ns(frame, row));
    cells = fill_numbers(cells + FIRST_NUMBER, frame, row);
    if (!selection->prstat)
        return;
    *cells++ = cell_natural(values[THREADS_VOLUNTARY_SWITCHES]);
    *cells++ = cell_natural(values[THREADS_INVOLUNTARY_SWITCHES]);
    *cells++ = cell_natural(values[THREADS_SYSTEM_CALLS]);
    *cells++ = cell_natural(values[THREADS_SIGNALS]);
    *cells++ = cell_text(frame->entities[row].name);
}

static int reserve(struct top_record *ret, size_t rows, size_t fields)
{
    if (rows * fields > ret->cell_capacity || ret->cells == NULL) {
        free(ret->cells);
        free(ret->users);
        ret->cell_capacity = rows * fields + fields;
        ret->cells = calloc(ret->cell_capacity, sizeof *ret->cells);
        ret->users = calloc(rows + 1, sizeof *ret->users);
    }
    if (ret->groups.entity_count > ret->order_capacity || ret->order == NULL) {
        free(ret->order);
        ret->order_capacity = ret->groups.entity_count + 1;
        ret->order = calloc(ret->order_capacity, sizeof *ret->order);
    }
    return ret->cells != NULL && ret->users != NULL && ret->order != NULL ? CAMP_OK : CAMP_E_NOMEM;
}

/* Which rows match, the first of them first. */
static size_t order_rows(struct top_record *ret, const struct top_selection *selection)
{
    struct sorting sorting = { &ret->groups, selection->sort };
    size_t count = 0;

    for (size_t i = 0; i < ret->groups.entity_count; i++) {
        if (selection->filter == NULL ||
            regexec(selection->filter, ret->groups.entities[i].name, 0, NULL, 0) == 0)
            ret->order[count++] = i;
    }
    qsort_r(ret->order, count, sizeof *ret->order, compare_rows, &sorting);
    return selection->top > 0 && count > selection->top ? selection->top : count;
}

static void fill_summary(struct top_record *ret, const struct top_selection *selection,
                         const char *tier, const char *time)
{
    struct cell *cells = ret->summary;

    *cells++ = cell_text(time);
    *cells++ = cell_real((double)(ret->groups.end_ns - ret->groups.start_ns) / NS_PER_S);
    *cells++ = cell_text("threads");
    *cells++ = cell_text(tier);
    *cells++ = cell_text(top_group_names[selection->group]);
    ret->losses[0] = cell_natural(ret->groups.losses.unseen);
    ret->losses[1] = cell_natural(ret->groups.losses.lost);
}

static void fill_texts(struct top_record *ret, const char *tier, const char *time,
                       const struct camp_states_losses *losses)
{
    const struct frame *frame = &ret->selected;
    const double wall = (double)(frame->end_ns - frame->start_ns);
    uint64_t on_cpu = 0, run_queue = 0, disk = 0, ended = 0;

    for (size_t i = 0; i < frame->entity_count; i++) {
        on_cpu += on_cpu_ns(frame_values(frame, i));
        run_queue += frame_values(frame, i)[CAMP_STATE_RUN_QUEUE];
        disk += frame_values(frame, i)[CAMP_STATE_DISK];
        ended += (frame->entities[i].flags & ENTITY_ENDED) != 0;
    }
    snprintf(ret->headline, sizeof ret->headline,
             "%s  %.2f s  tier %s  %zu threads, %" PRIu64 " ended", time, wall / NS_PER_S, tier,
             frame->entity_count, ended);
    snprintf(ret->note, sizeof ret->note,
             "on CPU %.1f %%, run queue %.1f %%, disk %.1f %%; unseen %.3f %% of switches",
             100 * (double)on_cpu / wall, 100 * (double)run_queue / wall, 100 * (double)disk / wall,
             losses->switches > 0 ? 100 * (double)losses->unseen / (double)losses->switches : 0.0);
    ret->note_list[0] = ret->note;
    ret->note_list[1] = NULL;
}

int top_record_fill(struct top_record *ret, const struct frame *threads,
                    const struct top_selection *selection, const struct camp_states_losses *losses,
                    const char *tier, const char *time)
{
    const struct field *fields = selection->prstat ? prstat_fields : row_fields;
    const size_t field_count = selection->prstat ? COUNT(prstat_fields) : COUNT(row_fields);
    size_t rows;
    int r;

    if (ret->selected.schema == NULL) {
        frame_init(&ret->selected, threads->schema);
        frame_init(&ret->groups, threads->schema);
    }
    r = select_rows(&ret->selected, threads, selection);
    if (r == CAMP_OK)
        r = group_frame(&ret->groups, &ret->selected, selection->group);
    if (r == CAMP_OK)
        r = reserve(ret, ret->groups.entity_count, field_count);
    if (r != CAMP_OK)
        return r;
    snprintf(ret->time, sizeof ret->time, "%s", time);
    rows = order_rows(ret, selection);
    for (size_t i = 0; i < rows; i++)
        fill_row(ret, &ret->cells[i * field_count], ret->order[i], selection, ret->users[i]);
    fill_summary(ret, selection, tier, ret->time);
    fill_texts(ret, tier, ret->time, losses);
    ret->tables[0] = (struct table){
        "summary", TABLE_INLINE, summary_fields, COUNT(summary_fields), ret->summary, 1, true
    };
    ret->tables[1] =
        (struct table){ "entities", TABLE_ROWS, fields, field_count, ret->cells, rows, false };
    ret->tables[2] =
        (struct table){ "losses", TABLE_OBJECT, loss_fields, COUNT(loss_fields), ret->losses,
                        1,        true };
    ret->record =
        (struct record){ "camp.frame/1", ret->headline, ret->tables, 3, 1, ret->note_list };
    return CAMP_OK;
}

void top_record_release(struct top_record *record)
{
    if (record->selected.schema != NULL) {
        frame_release(&record->selected);
        frame_release(&record->groups);
    }
    free(record->order);
    free(record->cells);
    free(record->users);
    *record = (struct top_record){ 0 };
}
