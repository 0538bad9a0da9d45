/*
 * The numbers of fields are those of Perfetto's own definitions (protos/perfetto/trace:
 * trace.proto, trace_packet.proto, clock_snapshot.proto, system_info.proto, ps/process_tree.proto,
 * ftrace/{ftrace_event_bundle,ftrace_event,sched}.proto,
 * track_event/{track_descriptor,counter_descriptor,track_event,debug_annotation}.proto).
 *
 * A new thread becomes ready by its parent, which the kernel reports as an event of its own. It is
 * written as sched_waking, because Perfetto starts a wait for a CPU, and draws its cause, only
 * there.
 */
#include "perfetto.h"

#include "trace_names.h"
#include "views/protobuf.h"

#include <errno.h>
#include <string.h>

enum { TRACE_PACKET = 1 };

enum packet_field {
    PACKET_FTRACE_EVENTS = 1,
    PACKET_PROCESS_TREE = 2,
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_SYSTEM_INFO = 45,
    PACKET_TRACK_DESCRIPTOR = 60,
};
enum { STATE_CLEARED = 1 };

enum { SNAPSHOT_CLOCKS = 1, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { REALTIME = 1, MONOTONIC = 3, BOOTTIME = 6 }; /* numbers of clocks */

enum { SYSTEM_UTSNAME = 1 };
enum { UTSNAME_SYSNAME = 1, UTSNAME_RELEASE = 3, UTSNAME_MACHINE = 4 };

enum { TREE_PROCESSES = 1, TREE_THREADS = 2 };
enum { PROCESS_PID = 1, PROCESS_CMDLINE = 3 };
enum { THREAD_TID = 1, THREAD_NAME = 2, THREAD_TGID = 3 };

enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2 };
enum { EVENT_TIMESTAMP = 1, EVENT_PID = 2, EVENT_SWITCH = 4, EVENT_WAKING = 20 };
enum switch_field {
    SWITCH_PREV_COMM = 1,
    SWITCH_PREV_PID,
    SWITCH_PREV_PRIO,
    SWITCH_PREV_STATE,
    SWITCH_NEXT_COMM,
    SWITCH_NEXT_PID,
    SWITCH_NEXT_PRIO,
};
enum { WAKING_COMM = 1, WAKING_PID, WAKING_PRIO, WAKING_SUCCESS, WAKING_TARGET_CPU };

enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_COUNTER = 8 };
enum { COUNTER_UNIT = 3, UNIT_TIME_NS = 1, UNIT_COUNT = 2 };
enum track_event_field {
    EVENT_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER_VALUE = 30,
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { ANNOTATION_TEXT = 6, ANNOTATION_NAME = 10 };

#define SEQUENCE_ID 1 /* this file has one writer */
/* Tracks have numbers that no other writer of a merged trace is likely to use: "camp" and a digit.
 */
#define TRACK_OF_INTERVALS UINT64_C(0x63616d7000)
#define TRACK_OF_COUNTER(i) (TRACK_OF_INTERVALS + 1 + (i))

#define BUNDLE_EVENTS 4096 /* events in one packet */

struct writer {
    FILE *stream;
    const struct perfetto_trace *trace;
    struct trace_names names;
    struct bytes packet;
    size_t place; /* of the open packet */
    int system_error;
};

static struct bytes *begin_packet(struct writer *writer)
{
    bytes_clear(&writer->packet);
    writer->place = protobuf_begin(&writer->packet, TRACE_PACKET);
    protobuf_number(&writer->packet, PACKET_SEQUENCE_ID, SEQUENCE_ID);
    return &writer->packet;
}

static bool end_packet(struct writer *writer)
{
    const struct bytes *packet = &writer->packet;

    protobuf_end(&writer->packet, writer->place);
    errno = 0;
    if (packet->failed)
        writer->system_error = ENOMEM;
    else if (fwrite(packet->data, 1, packet->size, writer->stream) != packet->size)
        writer->system_error = errno != 0 ? errno : EIO;
    return writer->system_error == 0;
}

static void put_text(struct bytes *bytes, uint32_t field, const char *text)
{
    if (text != NULL)
        protobuf_text(bytes, field, text, SIZE_MAX);
}

static void put_clock(struct bytes *packet, uint64_t id, uint64_t time_ns)
{
    const size_t clock = protobuf_begin(packet, SNAPSHOT_CLOCKS);

    protobuf_number(packet, CLOCK_ID, id);
    protobuf_number(packet, CLOCK_TIMESTAMP, time_ns);
    protobuf_end(packet, clock);
}

static bool write_clocks(struct writer *writer)
{
    const struct switches_copy *clocks = writer->trace->switches;
    struct bytes *packet = begin_packet(writer);
    size_t snapshot;

    protobuf_number(packet, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
    protobuf_number(packet, PACKET_TIMESTAMP, clocks->boot_ns);
    snapshot = protobuf_begin(packet, PACKET_CLOCK_SNAPSHOT);
    put_clock(packet, BOOTTIME, clocks->boot_ns);
    put_clock(packet, MONOTONIC, clocks->monotonic_ns);
    put_clock(packet, REALTIME, (uint64_t)clocks->real_ns);
    protobuf_end(packet, snapshot);
    return end_packet(writer);
}

/* Perfetto reads the states of threads by the version of the kernel. */
static bool write_system(struct writer *writer)
{
    const struct perfetto_kernel *kernel = &writer->trace->kernel;
    struct bytes *packet = begin_packet(writer);
    const size_t system = protobuf_begin(packet, PACKET_SYSTEM_INFO);
    const size_t utsname = protobuf_begin(packet, SYSTEM_UTSNAME);

    put_text(packet, UTSNAME_SYSNAME, kernel->system);
    put_text(packet, UTSNAME_RELEASE, kernel->release);
    put_text(packet, UTSNAME_MACHINE, kernel->machine);
    protobuf_end(packet, utsname);
    protobuf_end(packet, system);
    return end_packet(writer);
}

static void find_name(const struct perfetto_trace *trace, struct traced_thread *thread)
{
    const char *name = thread->name[0] == '\0' && trace->name_of != NULL
                           ? trace->name_of(trace->context, thread->tid)
                           : NULL;

    if (name != NULL)
        memcpy(thread->name, name, strnlen(name, sizeof thread->name));
}

static void put_thread(struct bytes *packet, const struct traced_thread *thread)
{
    const bool is_process = thread->tid == thread->tgid;
    const size_t place = protobuf_begin(packet, is_process ? TREE_PROCESSES : TREE_THREADS);

    protobuf_signed(packet, is_process ? PROCESS_PID : THREAD_TID, thread->tid);
    if (!is_process)
        protobuf_signed(packet, THREAD_TGID, thread->tgid);
    if (thread->name[0] != '\0')
        protobuf_text(packet, is_process ? PROCESS_CMDLINE : THREAD_NAME, thread->name,
                      sizeof thread->name);
    protobuf_end(packet, place);
}

static bool write_threads(struct writer *writer)
{
    struct bytes *packet;
    size_t tree;

    if (!trace_names_collect(&writer->names, writer->trace->switches)) {
        writer->system_error = ENOMEM;
        return false;
    }
    packet = begin_packet(writer);
    protobuf_number(packet, PACKET_TIMESTAMP, writer->trace->switches->boot_ns);
    tree = protobuf_begin(packet, PACKET_PROCESS_TREE);
    for (size_t i = 0; i < writer->names.count; i++) {
        find_name(writer->trace, &writer->names.threads[i]);
        put_thread(packet, &writer->names.threads[i]);
    }
    protobuf_end(packet, tree);
    return end_packet(writer);
}

/* Kernel's names of the bits of a thread's state. */
#define TASK_UNINTERRUPTIBLE 0x2u
#define TASK_REPORT 0x7fu
#define TASK_NOLOAD 0x400u
#define TASK_RTLOCK_WAIT 0x1000u
#define TASK_FROZEN 0x8000u
#define REPORTED_IDLE 0x80u
#define REPORTED_PREEMPTED 0x100u

/* As __task_state_index() of the kernel, which reports only the highest bit. */
uint32_t perfetto_state(const struct switch_event *event)
{
    const uint32_t reported = event->state & TASK_REPORT;

    if (event->kind == SWITCH_PREEMPTED)
        return REPORTED_PREEMPTED;
    if ((event->state & (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)) ==
            (TASK_UNINTERRUPTIBLE | TASK_NOLOAD) &&
        reported == TASK_UNINTERRUPTIBLE)
        return REPORTED_IDLE;
    if (reported == 0)
        return (event->state & (TASK_RTLOCK_WAIT | TASK_FROZEN)) != 0 ? TASK_UNINTERRUPTIBLE : 0;
    for (uint32_t bit = TASK_REPORT - TASK_REPORT / 2; bit > 1; bit /= 2) {
        if ((reported & bit) != 0)
            return bit;
    }
    return 1;
}

/* The kernel's name of the idle thread of a CPU. */
static void put_idle_name(struct bytes *packet, uint32_t field, uint32_t cpu)
{
    char name[SWITCH_NAME_SIZE + 8];

    snprintf(name, sizeof name, "swapper/%u", (unsigned)cpu);
    protobuf_text(packet, field, name, sizeof name);
}

static void put_next_name(const struct writer *writer, struct bytes *packet, uint32_t cpu,
                          int32_t tid)
{
    const struct traced_thread *thread = tid != 0 ? trace_names_find(&writer->names, tid) : NULL;

    if (tid == 0)
        put_idle_name(packet, SWITCH_NEXT_COMM, cpu);
    else if (thread != NULL && thread->name[0] != '\0')
        protobuf_text(packet, SWITCH_NEXT_COMM, thread->name, sizeof thread->name);
}

static void put_switch(const struct writer *writer, struct bytes *packet, uint32_t cpu,
                       const struct switch_event *event)
{
    const size_t place = protobuf_begin(packet, EVENT_SWITCH);

    protobuf_text(packet, SWITCH_PREV_COMM, event->name, sizeof event->name);
    protobuf_signed(packet, SWITCH_PREV_PID, event->tid);
    protobuf_signed(packet, SWITCH_PREV_PRIO, event->prio);
    protobuf_signed(packet, SWITCH_PREV_STATE, perfetto_state(event));
    put_next_name(writer, packet, cpu, event->other_tid);
    protobuf_signed(packet, SWITCH_NEXT_PID, event->other_tid);
    protobuf_signed(packet, SWITCH_NEXT_PRIO, event->other_prio);
    protobuf_end(packet, place);
}

static void put_wake(struct bytes *packet, const struct switch_event *event)
{
    const size_t place = protobuf_begin(packet, EVENT_WAKING);

    protobuf_text(packet, WAKING_COMM, event->name, sizeof event->name);
    protobuf_signed(packet, WAKING_PID, event->tid);
    protobuf_signed(packet, WAKING_PRIO, event->prio);
    protobuf_signed(packet, WAKING_SUCCESS, 1);
    protobuf_signed(packet, WAKING_TARGET_CPU, event->target_cpu);
    protobuf_end(packet, place);
}

static void put_event(const struct writer *writer, struct bytes *packet, uint32_t cpu,
                      const struct switch_event *event)
{
    const bool is_wake = event->kind == SWITCH_WAKE;
    const size_t place = protobuf_begin(packet, BUNDLE_EVENT);

    protobuf_number(packet, EVENT_TIMESTAMP, event->time_ns);
    /* the thread that was on the CPU */
    protobuf_signed(packet, EVENT_PID, is_wake ? event->other_tid : event->tid);
    if (is_wake)
        put_wake(packet, event);
    else
        put_switch(writer, packet, cpu, event);
    protobuf_end(packet, place);
}

static bool write_ring(struct writer *writer, const struct switches_of_cpu *ring)
{
    for (size_t i = 0; i < ring->count;) {
        const size_t end = ring->count - i < BUNDLE_EVENTS ? ring->count : i + BUNDLE_EVENTS;
        struct bytes *packet = begin_packet(writer);
        const size_t bundle = protobuf_begin(packet, PACKET_FTRACE_EVENTS);

        protobuf_number(packet, BUNDLE_CPU, ring->cpu);
        for (; i < end; i++)
            put_event(writer, packet, ring->cpu, &ring->events[i]);
        protobuf_end(packet, bundle);
        if (!end_packet(writer))
            return false;
    }
    return true;
}

static bool write_track(struct writer *writer, uint64_t uuid, const char *name,
                        const struct perfetto_counter *counter)
{
    struct bytes *packet = begin_packet(writer);
    const size_t track = protobuf_begin(packet, PACKET_TRACK_DESCRIPTOR);

    protobuf_number(packet, TRACK_UUID, uuid);
    put_text(packet, TRACK_NAME, name);
    if (counter != NULL) {
        const size_t place = protobuf_begin(packet, TRACK_COUNTER);

        protobuf_number(packet, COUNTER_UNIT, counter->is_time ? UNIT_TIME_NS : UNIT_COUNT);
        protobuf_end(packet, place);
    }
    protobuf_end(packet, track);
    return end_packet(writer);
}

static void put_facts(struct bytes *packet, const struct perfetto_trace *trace)
{
    for (size_t i = 0; i < trace->fact_count; i++) {
        const size_t place = protobuf_begin(packet, EVENT_ANNOTATIONS);

        put_text(packet, ANNOTATION_NAME, trace->facts[i].name);
        put_text(packet, ANNOTATION_TEXT, trace->facts[i].text);
        protobuf_end(packet, place);
    }
}

/* Writes the start or the end of the interval, or the moment at which the condition held. */
static bool write_moment(struct writer *writer, uint64_t time_ns, uint64_t type)
{
    struct bytes *packet = begin_packet(writer);
    size_t event;

    protobuf_number(packet, PACKET_TIMESTAMP, time_ns);
    event = protobuf_begin(packet, PACKET_TRACK_EVENT);
    protobuf_number(packet, EVENT_TYPE, type);
    protobuf_number(packet, EVENT_TRACK, TRACK_OF_INTERVALS);
    if (type != SLICE_END) {
        put_text(packet, EVENT_NAME, type == INSTANT ? writer->trace->title : "interval");
        put_facts(packet, writer->trace);
    }
    protobuf_end(packet, event);
    return end_packet(writer);
}

static bool write_interval(struct writer *writer)
{
    const struct perfetto_trace *trace = writer->trace;

    return write_track(writer, TRACK_OF_INTERVALS, "camp record --when", NULL) &&
           write_moment(writer, trace->start_ns, SLICE_BEGIN) &&
           write_moment(writer, trace->end_ns, SLICE_END) &&
           write_moment(writer, trace->end_ns, INSTANT);
}

static bool write_sample(struct writer *writer, uint64_t track,
                         const struct perfetto_sample *sample)
{
    struct bytes *packet = begin_packet(writer);
    size_t event;

    protobuf_number(packet, PACKET_TIMESTAMP, sample->start_ns);
    event = protobuf_begin(packet, PACKET_TRACK_EVENT);
    protobuf_number(packet, EVENT_TYPE, COUNTER);
    protobuf_number(packet, EVENT_TRACK, track);
    protobuf_signed(packet, EVENT_COUNTER_VALUE, (int64_t)sample->value);
    protobuf_end(packet, event);
    return end_packet(writer);
}

static bool write_counter(struct writer *writer, size_t i)
{
    const struct perfetto_counter *counter = &writer->trace->counters[i];
    bool written = write_track(writer, TRACK_OF_COUNTER(i), counter->name, counter);

    for (size_t n = 0; written && n < counter->count; n++)
        written = write_sample(writer, TRACK_OF_COUNTER(i), &counter->samples[n]);
    return written;
}

int perfetto_write(FILE *stream, const struct perfetto_trace *trace)
{
    struct writer writer = { .stream = stream, .trace = trace };
    bool written = write_clocks(&writer) && write_system(&writer) && write_threads(&writer) &&
                   write_interval(&writer);

    for (size_t i = 0; written && i < trace->counter_count; i++)
        written = write_counter(&writer, i);
    for (size_t i = 0; written && i < trace->switches->cpu_count; i++)
        written = write_ring(&writer, &trace->switches->cpus[i]);
    trace_names_release(&writer.names);
    bytes_release(&writer.packet);
    return writer.system_error;
}
