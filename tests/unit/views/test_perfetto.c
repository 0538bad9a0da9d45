/* Traces for Perfetto: the exact bytes of a small one, and a large one that is read back. Another
 * reader is in tests/perfetto. */
#include "views/perfetto/perfetto.h"

#include "counters/units.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BOOT_NS 1000
#define MONOTONIC_NS 900
#define REAL_NS 5000

static const struct switch_event two_events[] = {
    { .time_ns = 300,
      .tid = 12,
      .tgid = 11,
      .other_tid = 7,
      .other_tgid = 7,
      .name = "db",
      .kind = SWITCH_WAKE,
      .target_cpu = 3,
      .prio = 120 },
    { .time_ns = 400,
      .tid = 7,
      .tgid = 7,
      .other_tid = 12,
      .other_tgid = 11,
      .name = "sh\xff",
      .state = 1,
      .kind = SWITCH_OF_THREADS,
      .prio = 120,
      .other_prio = 99 },
};

static const char *name_of(void *context, int32_t tid)
{
    (void)context;
    return tid == 11 ? "server" : NULL;
}

struct text {
    char *data;
    size_t size;
};

static struct text written(struct perfetto_trace *trace, struct switches_of_cpu *rings,
                           size_t ring_count)
{
    const struct switches_copy copy = {
        .cpu_count = ring_count,
        .cpus = rings,
        .boot_ns = BOOT_NS,
        .monotonic_ns = MONOTONIC_NS,
        .real_ns = REAL_NS,
    };
    struct text text = { 0 };
    FILE *stream = open_memstream(&text.data, &text.size);

    assert_non_null(stream);
    trace->switches = &copy;
    assert_int_equal(perfetto_write(stream, trace), 0);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static struct perfetto_trace small_trace(void)
{
    return (struct perfetto_trace){
        .kernel = { "Linux", "6.1", "x" },
        .start_ns = 200,
        .end_ns = 900,
        .title = "t",
        .name_of = name_of,
    };
}

/* Each line is a packet: field 1 of the trace, then the sequence (field 10) and the content. */
static const char small_bytes[] =
    /* flags 1, time 1000, snapshot: clocks 6, 3 and 1 */
    "\x0a\x1e\x50\x01\x68\x01\x40\xe8\x07\x32\x15"
    "\x0a\x05\x08\x06\x10\xe8\x07\x0a\x05\x08\x03\x10\x84\x07\x0a\x05\x08\x01\x10\x88\x27"
    /* system: names of the kernel */
    "\x0a\x16\x50\x01\xea\x02\x11\x0a\x0f\x0a\x05Linux\x1a\x03"
    "6.1\x22\x01x"
    /* threads: process 7 "sh?", thread 12 of 11 "db", process 11 "server" */
    "\x0a\x26\x50\x01\x40\xe8\x07\x12\x1f"
    "\x0a\x07\x08\x07\x1a\x03sh?"
    "\x12\x08\x08\x0c\x18\x0b\x12\x02"
    "db"
    "\x0a\x0a\x08\x0b\x1a\x06server"
    /* track, start, end and moment: 200, 900 and 900 */
    "\x0a\x20\x50\x01\xe2\x03\x1b\x08\x80\xe0\xb5\x8b\xb6\x0c\x12\x12"
    "camp record --when"
    "\x0a\x1b\x50\x01\x40\xc8\x01\x5a\x14\x48\x01\x58\x80\xe0\xb5\x8b\xb6\x0c\xba\x01\x08interval"
    "\x0a\x10\x50\x01\x40\x84\x07\x5a\x09\x48\x02\x58\x80\xe0\xb5\x8b\xb6\x0c"
    "\x0a\x14\x50\x01\x40\x84\x07\x5a\x0d\x48\x03\x58\x80\xe0\xb5\x8b\xb6\x0c\xba\x01\x01t"
    /* CPU 2: a wake and a switch */
    "\x0a\x38\x50\x01\x0a\x34\x08\x02"
    "\x12\x14\x08\xac\x02\x10\x07\xa2\x01\x0c\x0a\x02"
    "db\x10\x0c\x18\x78\x20\x01\x28\x03"
    "\x12\x1a\x08\x90\x03\x10\x07\x22\x13"
    "\x0a\x03sh?\x10\x07\x18\x78\x20\x01\x2a\x02"
    "db\x30\x0c\x38\x63";

static void a_small_trace_has_exactly_these_bytes(void **state)
{
    struct switches_of_cpu ring = { .cpu = 2, .count = 2, .events = two_events };
    struct perfetto_trace trace = small_trace();
    struct text text = written(&trace, &ring, 1);

    (void)state;
    for (size_t i = 0; i < text.size && i < sizeof small_bytes - 1; i++) {
        if (text.data[i] != small_bytes[i])
            fail_msg("byte %zu is %02x, not %02x", i, (uint8_t)text.data[i],
                     (uint8_t)small_bytes[i]);
    }
    assert_int_equal(text.size, sizeof small_bytes - 1);
    free(text.data);
}

/* A reader of the wire format. */
struct field {
    uint32_t number;
    uint64_t value;            /* of a number */
    const uint8_t *data, *end; /* of a message or a text */
};

static uint64_t read_varint(const uint8_t **at, const uint8_t *end)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        assert_true(*at < end && shift < 64);
        value |= (uint64_t)(**at & 0x7f) << shift;
        if ((*(*at)++ & 0x80) == 0)
            return value;
    }
}

static bool read_field(const uint8_t **at, const uint8_t *end, struct field *ret)
{
    uint64_t tag;

    if (*at == end)
        return false;
    tag = read_varint(at, end);
    *ret = (struct field){ .number = (uint32_t)(tag >> 3) };
    ret->value = read_varint(at, end);
    if ((tag & 7) == 2) {
        assert_true(ret->value <= (uint64_t)(end - *at));
        ret->data = *at;
        ret->end = *at += ret->value;
    } else {
        assert_int_equal(tag & 7, 0);
    }
    return true;
}

/* Returns the first field with this number in data[..end], or a field of number 0. */
static struct field find(const uint8_t *data, const uint8_t *end, uint32_t number)
{
    struct field field;

    while (read_field(&data, end, &field)) {
        if (field.number == number)
            return field;
    }
    return (struct field){ 0 };
}

#define MANY 10000u

/* Compares the switches of a bundle with what was written, from *next on. */
static void check_bundle(const struct field *bundle, const struct switch_event *events,
                         size_t *next)
{
    const uint8_t *at = bundle->data;
    struct field field;

    while (read_field(&at, bundle->end, &field)) {
        const struct switch_event *event = &events[*next];
        struct field content;

        if (field.number != 2)
            continue;
        assert_int_equal(find(field.data, field.end, 1).value, event->time_ns);
        content = find(field.data, field.end, event->kind == SWITCH_WAKE ? 20 : 4);
        assert_int_equal(content.number, event->kind == SWITCH_WAKE ? 20 : 4);
        assert_int_equal((int32_t)find(content.data, content.end, 2).value, event->tid);
        assert_int_equal((int64_t)find(content.data, content.end, 3).value, event->prio);
        ++*next;
    }
}

static void every_event_of_a_large_ring_is_read_back(void **state)
{
    struct switch_event *events = calloc(MANY, sizeof *events);
    struct switches_of_cpu ring = { .cpu = 1, .count = MANY, .events = events };
    struct perfetto_trace trace = small_trace();
    struct text text;
    const uint8_t *at;
    struct field packet;
    size_t next = 0, bundles = 0;

    (void)state;
    assert_non_null(events);
    for (size_t i = 0; i < MANY; i++) {
        events[i] = (struct switch_event){
            .time_ns = UINT64_C(1) << 60 | i,
            .tid = (int32_t)(i % 3000),
            .tgid = (int32_t)(i % 3000),
            .other_tid = 4194304 - (int32_t)i,
            .other_tgid = 4194304,
            .kind = (uint16_t)(i % 3),
            .prio = (int16_t)(i % 5 == 0 ? -1 : 139),
        };
        memcpy(events[i].name, "\x01\xfe\xff\xc3 name too lo", SWITCH_NAME_SIZE);
    }
    text = written(&trace, &ring, 1);
    at = (const uint8_t *)text.data;
    while (read_field(&at, (const uint8_t *)text.data + text.size, &packet)) {
        const struct field bundle = find(packet.data, packet.end, 1);

        assert_int_equal(packet.number, 1);
        assert_int_equal(find(packet.data, packet.end, 10).value, 1);
        bundles += bundle.number == 1;
        if (bundle.number == 1)
            check_bundle(&bundle, events, &next);
    }
    assert_int_equal(next, MANY);
    assert_int_equal(bundles, 3);
    free(text.data);
    free(events);
}

static uint32_t state_of(uint32_t state, enum switch_kind kind)
{
    const struct switch_event event = { .state = state, .kind = (uint16_t)kind };

    return perfetto_state(&event);
}

/* include/linux/sched.h and fs/proc/array.c of the kernel */
static void a_state_is_that_which_the_kernel_reports(void **state)
{
    (void)state;
    assert_int_equal(state_of(0, SWITCH_OF_THREADS), 0);
    assert_int_equal(state_of(0, SWITCH_PREEMPTED), 0x100);
    assert_int_equal(state_of(1, SWITCH_PREEMPTED), 0x100);
    assert_int_equal(state_of(1, SWITCH_OF_THREADS), 1);
    assert_int_equal(state_of(2, SWITCH_OF_THREADS), 2);
    assert_int_equal(state_of(0x102, SWITCH_OF_THREADS), 2);    /* TASK_KILLABLE */
    assert_int_equal(state_of(0x402, SWITCH_OF_THREADS), 0x80); /* TASK_IDLE */
    assert_int_equal(state_of(4, SWITCH_OF_THREADS), 4);
    assert_int_equal(state_of(8, SWITCH_OF_THREADS), 8);
    assert_int_equal(state_of(0x80 | 0x20, SWITCH_OF_THREADS), 0x20); /* a zombie */
    assert_int_equal(state_of(0x80 | 0x10, SWITCH_OF_THREADS), 0x10);
    assert_int_equal(state_of(0x40, SWITCH_OF_THREADS), 0x40);
    assert_int_equal(state_of(0x8000, SWITCH_OF_THREADS), 2);
    assert_int_equal(state_of(0x1000, SWITCH_OF_THREADS), 2);
}

static void the_error_of_a_failed_write_is_returned(void **state)
{
    struct switches_of_cpu ring = { .cpu = 2, .count = 2, .events = two_events };
    const struct switches_copy copy = { .cpu_count = 1, .cpus = &ring };
    struct perfetto_trace trace = small_trace();
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    assert_non_null(full);
    setvbuf(full, NULL, _IONBF, 0);
    trace.switches = &copy;
    assert_int_equal(perfetto_write(full, &trace), ENOSPC);
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_trace_has_exactly_these_bytes),
        cmocka_unit_test(every_event_of_a_large_ring_is_read_back),
        cmocka_unit_test(a_state_is_that_which_the_kernel_reports),
        cmocka_unit_test(the_error_of_a_failed_write_is_returned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
