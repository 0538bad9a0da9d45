/* Parser: src/microstates/linux/snapshot.c */
/* Parser: src/microstates/linux/read.c */
/* Parser: src/microstates/linux/known.c */
/*
 * Reads any bytes as what the programs of microstates write in the kernel: records of an iterator,
 * records in a ring, and maps.
 *
 * Random bytes seldom have ascending tids in records of 328 bytes. So the input is a list of
 * instructions, each with the few bytes of a record that matter, and one instruction has a whole
 * record. The session must keep its list of threads in order, and must report no unknown state.
 */
#include "../unit/fake_session.h"

#include <stdint.h>

#define SNAPSHOT_BYTES (128u << 10)
#define THREADS_MOST 64
#define SIZE_MAXIMUM 2048

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *at, *end;
};

static char written[SNAPSHOT_BYTES]; /* by the iterator */
static struct camp_thread_states exits[64];
static int32_t tid;

static uint32_t number(struct input *input, size_t bytes)
{
    uint32_t value = 0;

    for (; bytes > 0 && input->at < input->end; bytes--)
        value = value << 8 | *input->at++;
    return value;
}

static void copy(struct input *input, void *to, size_t length)
{
    const size_t left = (size_t)(input->end - input->at);
    const size_t taken = left < length ? left : length;

    memset(to, 0, length);
    memcpy(to, input->at, taken);
    input->at += taken;
}

static int32_t next_tid(struct input *input)
{
    return tid += (int8_t)number(input, 1);
}

static struct camp_thread_states read_thread(struct input *input)
{
    struct camp_thread_states thread = { .count = 1, .name = "made-up" };

    thread.tid = next_tid(input);
    thread.pid = thread.tid - (int32_t)(number(input, 1) % 4);
    thread.state = number(input, 1) % (CAMP_STATE_COUNT + 1);
    thread.flags = number(input, 1);
    thread.begin_ns = number(input, 1);
    thread.time_ns = number(input, 2);
    thread.name[CAMP_STATES_NAME_SIZE - 1] = (char)(number(input, 1) == 1);
    return thread;
}

static struct unchanged_thread read_unchanged(struct input *input)
{
    struct unchanged_thread unchanged = { .name = "renamed" };

    unchanged.tid = -next_tid(input);
    unchanged.parent = (int32_t)number(input, 1);
    unchanged.time_ns = number(input, 2);
    return unchanged;
}

static void write_record(const void *record, size_t length)
{
    if (fake_snapshot_length + length > sizeof written)
        return;
    memcpy(written + fake_snapshot_length, record, length);
    fake_snapshot_length += length;
}

static void write_exit(struct input *input, struct camp_thread_states thread)
{
    if (fake_exit_count == sizeof exits / sizeof *exits)
        return;
    exits[fake_exit_count] = thread;
    fake_exits[fake_exit_count] =
        (struct fake_exit){ &exits[fake_exit_count], sizeof thread - (number(input, 1) == 7) };
    fake_exit_count++;
}

/* A map has each key once. */
static void write_map(struct input *input, struct fake_map *map)
{
    char key[sizeof map->keys[0]];

    copy(input, key, map->key_size);
    if (map->count == FAKE_KEYS_MOST || fake_index(map, key) < map->count)
        return;
    memcpy(map->keys[map->count], key, map->key_size);
    copy(input, map->values[map->count], map->value_size);
    fake_cpus[number(input, 1)].exits_added_up++;
    map->count++;
}

static void write_cpu(struct input *input)
{
    struct cpu_account *cpu = &fake_cpus[number(input, 1) % 4];

    copy(input, cpu, sizeof *cpu);
    cpu->sequence &= ~UINT64_C(1); /* odd within a switch, for which the session would wait */
}

static void check_thread(const struct camp_thread_states *thread)
{
    if (thread->state >= CAMP_STATE_COUNT || thread->name[CAMP_STATES_NAME_SIZE - 1] != '\0')
        abort();
}

static void seen(void *context, const struct camp_thread_states *before,
                 const struct camp_thread_states *now, uint32_t *note)
{
    (void)context;
    if (before != NULL)
        check_thread(before);
    check_thread(now);
    *note = (uint32_t)now->pid;
}

static void waited(void *context, const struct camp_states_wait *wait)
{
    (void)context;
    check_thread(wait->thread);
    if (wait->state != wait->thread->state)
        abort();
}

static void ended(void *context, const struct camp_thread_states *before,
                  const struct camp_thread_states *last, uint32_t note)
{
    (void)context, (void)note;
    if (before != NULL)
        check_thread(before);
    check_thread(last);
}

static void missed(void *context, const struct camp_thread_states *before, uint32_t note)
{
    (void)context;
    (void)note;
    check_thread(before);
}

static void idle(void *context, uint64_t time_ns)
{
    (void)context;
    (void)time_ns;
}

/* Each known thread has a record of its own, and the list is in order. */
static void check_session(const struct camp_states *session)
{
    for (size_t i = 0; i < session->known_count; i++) {
        const struct known_thread *known = &session->known[i];

        if (known->place >= session->record_count ||
            session->records[known->place].tid != known->tid ||
            (i > 0 && known->tid <= known[-1].tid))
            abort();
    }
}

static void read_lists(struct camp_states *session)
{
    static struct camp_thread_states threads[THREADS_MOST];
    static struct camp_cpu_states cpus[4];
    static struct camp_disk_wait waits[FAKE_KEYS_MOST];
    struct camp_states_losses losses;
    size_t count;

    if (camp_states_threads(session, threads, sizeof *threads, THREADS_MOST, &count, NULL) ==
        CAMP_OK) {
        for (size_t i = 0; i < count; i++)
            check_thread(&threads[i]);
        for (size_t i = 1; i < count; i++) {
            if (threads[i].tid <= threads[i - 1].tid)
                abort();
        }
    }
    if (camp_states_exits(session, threads, sizeof *threads, 4, &count, NULL) == CAMP_OK) {
        for (size_t i = 0; i < count; i++)
            check_thread(&threads[i]);
    }
    (void)camp_states_cpus(session, cpus, sizeof *cpus, 4, &count, NULL);
    (void)camp_states_disk_waits(session, waits, sizeof *waits, FAKE_KEYS_MOST, &count, NULL);
    (void)camp_states_losses(session, &losses, sizeof losses, NULL);
}

static void read_session(struct camp_states *session, bool by_visitor)
{
    static const struct camp_states_visitor visitor = { NULL, seen, waited, ended, missed, idle };
    static const struct camp_states_visitor brief = { NULL, seen, NULL, ended, missed, idle };

    fake_snapshot = written;
    if (by_visitor) {
        (void)camp_states_visit(session, &visitor, sizeof visitor, NULL);
        (void)camp_states_visit_exits(session, &visitor, sizeof visitor, NULL);
        (void)camp_states_visit(session, &brief, sizeof brief, NULL);
    } else {
        read_lists(session);
    }
    check_session(session);
    fake_snapshot_length = 0;
    tid = 0;
}

static void follow(struct input *input, struct camp_states *session)
{
    struct camp_thread_states thread;
    struct unchanged_thread unchanged;

    switch (number(input, 1) % 10) {
    case 0:
        thread = read_thread(input);
        write_record(&thread, sizeof thread);
        break;
    case 1:
        unchanged = read_unchanged(input);
        write_record(&unchanged, sizeof unchanged);
        break;
    case 2:
        unchanged.tid = -next_tid(input);
        write_record(&unchanged.tid, sizeof unchanged.tid);
        break;
    case 3:
        copy(input, &thread, sizeof thread);
        write_record(&thread, number(input, 2) % (sizeof thread + 1));
        break;
    case 4:
        write_exit(input, read_thread(input));
        break;
    case 5:
        write_map(input, FAKE_TOTALS);
        break;
    case 6:
        write_map(input, FAKE_DISK_WAITS);
        break;
    case 7:
        write_cpu(input);
        break;
    case 8:
        read_session(session, false);
        break;
    default:
        read_session(session, true);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = { data, data + size };
    struct camp_states session;

    if (size > SIZE_MAXIMUM)
        return 0;
    tid = 0;
    open_fake_session(&session);
    while (input.at < input.end)
        follow(&input, &session);
    read_session(&session, true);
    read_session(&session, false);
    release_fake_session(&session);
    return 0;
}
