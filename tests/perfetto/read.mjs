// node read.mjs TRACE [PID]: reads a trace that camp record --when wrote, checks what must hold of every
// trace, and prints what it found as JSON. PID is the recorder, whose snapshots are timed. Ends with
// status 1 and a line on stderr if a claim is false.
//
// Perfetto's own reader (trace_processor) is a program of 20 MB that its project builds and that no
// package of Debian or of npm has, so these tests do not have it. This reader is the nearest thing:
// the definitions below are written from Perfetto's documentation of its fields
// (protos/perfetto/trace in its sources), independently of src/views/perfetto, and a library of
// another project (protobufjs) decodes the bytes by them. What Perfetto makes of the numbers, such
// as the states of a thread between its events, this reader computes by the rules that Perfetto
// documents; it is no proof that Perfetto draws them.
import { readFileSync } from 'node:fs'
import protobuf from 'protobufjs'

const definitions = `
syntax = "proto2";
message Trace { repeated TracePacket packet = 1; }
message TracePacket {
  optional uint64 timestamp = 8;
  optional uint32 timestamp_clock_id = 58;
  optional uint32 trusted_packet_sequence_id = 10;
  optional uint32 sequence_flags = 13;
  optional FtraceEventBundle ftrace_events = 1;
  optional ProcessTree process_tree = 2;
  optional ClockSnapshot clock_snapshot = 6;
  optional TrackEvent track_event = 11;
  optional SystemInfo system_info = 45;
  optional TrackDescriptor track_descriptor = 60;
}
message ClockSnapshot {
  message Clock { optional uint32 clock_id = 1; optional uint64 timestamp = 2; }
  repeated Clock clocks = 1;
}
message Utsname {
  optional string sysname = 1; optional string version = 2;
  optional string release = 3; optional string machine = 4;
}
message SystemInfo { optional Utsname utsname = 1; }
message ProcessTree {
  message Thread { optional int32 tid = 1; optional string name = 2; optional int32 tgid = 3; }
  message Process { optional int32 pid = 1; optional int32 ppid = 2; repeated string cmdline = 3; }
  repeated Process processes = 1;
  repeated Thread threads = 2;
}
message FtraceEventBundle { optional uint32 cpu = 1; repeated FtraceEvent event = 2; }
message FtraceEvent {
  optional uint64 timestamp = 1;
  optional uint32 pid = 2;
  optional SchedSwitchFtraceEvent sched_switch = 4;
  optional SchedWakingFtraceEvent sched_waking = 20;
}
message SchedSwitchFtraceEvent {
  optional string prev_comm = 1; optional int32 prev_pid = 2; optional int32 prev_prio = 3;
  optional int64 prev_state = 4;
  optional string next_comm = 5; optional int32 next_pid = 6; optional int32 next_prio = 7;
}
message SchedWakingFtraceEvent {
  optional string comm = 1; optional int32 pid = 2; optional int32 prio = 3;
  optional int32 success = 4; optional int32 target_cpu = 5;
}
message TrackDescriptor {
  optional uint64 uuid = 1; optional string name = 2; optional CounterDescriptor counter = 8;
}
message CounterDescriptor { optional int32 unit = 3; }
message DebugAnnotation { optional string name = 10; optional string string_value = 6; }
message TrackEvent {
  repeated DebugAnnotation debug_annotations = 4;
  optional int32 type = 9;
  optional uint64 track_uuid = 11;
  optional string name = 23;
  optional int64 counter_value = 30;
}
`
const REALTIME = 1
const MONOTONIC = 3
const BOOTTIME = 6

function must(claim, ...facts) {
  if (claim) return
  console.error('false:', ...facts)
  process.exit(1)
}

const type = protobuf.parse(definitions, { keepCase: true }).root.lookupType('Trace')
const bytes = readFileSync(process.argv[2])
const trace = type.toObject(type.decode(bytes), { longs: BigInt, arrays: true })
must(trace.packet.length > 0, 'a trace has packets')
// An unknown field would be missing in what is encoded again.
must(type.encode(type.decode(bytes)).finish().length === bytes.length, 'every field is known')

const clocks = trace.packet[0].clock_snapshot?.clocks
must(clocks, 'the first packet has the clocks')
const clock = (id) => clocks.find((one) => one.clock_id === id)?.timestamp
for (const id of [REALTIME, MONOTONIC, BOOTTIME]) must(clock(id) > 0n, 'clock', id)
must(trace.packet[0].sequence_flags === 1, 'the first packet starts the sequence')
for (const packet of trace.packet) must(packet.trusted_packet_sequence_id === 1, 'one sequence')

const system = trace.packet.find((one) => one.system_info)?.system_info.utsname
must(/^\d+\.\d+/.test(system?.release ?? ''), 'the version of the kernel')

// Processes and threads
const process_of = new Map([[0, 0]])
const names = new Map()
for (const { process_tree } of trace.packet) {
  for (const one of process_tree?.processes ?? []) {
    must(!process_of.has(one.pid), 'process', one.pid, 'is listed once')
    process_of.set(one.pid, one.pid)
    if (one.cmdline.length > 0) names.set(one.pid, one.cmdline[0])
  }
  for (const one of process_tree?.threads ?? []) {
    must(!process_of.has(one.tid), 'thread', one.tid, 'is listed once')
    process_of.set(one.tid, one.tgid)
    if (one.name) names.set(one.tid, one.name)
  }
}
for (const tgid of process_of.values()) must(process_of.get(tgid) === tgid, 'process', tgid, 'is listed')

// Events of each CPU
const cpus = new Map()
for (const { ftrace_events } of trace.packet) {
  if (!ftrace_events) continue
  if (!cpus.has(ftrace_events.cpu)) cpus.set(ftrace_events.cpu, [])
  cpus.get(ftrace_events.cpu).push(...ftrace_events.event)
}
let wakes = 0
let breaks = 0
const named = new Set()
const nameless = new Set()
for (const [cpu, events] of cpus) {
  let before = null
  let time = 0n
  for (const event of events) {
    must(event.timestamp >= time, 'times of CPU', cpu, 'grow')
    must(event.timestamp <= clock(BOOTTIME), 'an event is before the clocks were read')
    time = event.timestamp
    must(process_of.has(event.pid), 'thread', event.pid, 'has a process')
    if (event.sched_waking) {
      wakes++
      must(event.sched_waking.pid !== 0, 'an idle thread is never woken')
      must(process_of.has(event.sched_waking.pid), 'thread', event.sched_waking.pid, 'has a process')
      must(event.sched_waking.comm, 'thread', event.sched_waking.pid, 'has a name')
      named.add(event.sched_waking.pid)
      continue
    }
    const change = event.sched_switch
    must(change, 'an event is a switch or a wake')
    must(change.prev_pid === event.pid, 'the thread that leaves is the current one')
    must(change.prev_comm, 'thread', change.prev_pid, 'has a name')
    named.add(change.prev_pid)
    if (!change.next_comm) nameless.add(change.next_pid)
    // Some switches have no event (docs/design.md), so a few breaks are possible.
    if (before && before.next_pid !== change.prev_pid) breaks++
    before = change
  }
}

// A name comes with the event of a thread that leaves or is woken.
for (const tid of nameless) must(!named.has(tid), 'thread', tid, 'has a name everywhere')

// How long each thread was ready without a CPU: from the moment at which it was preempted or woken.
const merged = [...cpus.values()].flat().sort((a, b) => Number(a.timestamp - b.timestamp))
const marks = []
const tracks = new Map()
const counters = new Map()
let begin = null
let end = null
for (const { timestamp, track_event, track_descriptor } of trace.packet) {
  if (track_descriptor) {
    tracks.set(track_descriptor.uuid, track_descriptor.name)
    continue
  }
  if (!track_event) continue
  must(tracks.has(track_event.track_uuid), 'a track is described before its events')
  const facts = Object.fromEntries(track_event.debug_annotations.map((one) => [one.name, one.string_value]))
  if (track_event.type === 1) begin = timestamp
  if (track_event.type === 2) end = timestamp
  if (track_event.type === 3) marks.push({ name: track_event.name, time_ns: Number(timestamp), facts })
  if (track_event.type === 4) {
    const name = tracks.get(track_event.track_uuid)
    if (!counters.has(name)) counters.set(name, [])
    counters.get(name).push({ time_ns: Number(timestamp), value: Number(track_event.counter_value) })
  }
}
must(begin !== null && end !== null && begin < end, 'the interval has a start and an end')
const ready = new Map()
const queued = new Map()
const inside = (from, to) => {
  const start = from > begin ? from : begin
  const stop = to < end ? to : end
  return stop > start ? Number(stop - start) : 0
}
// Threads of which a switch was not seen: their waits may be wrong.
const unseen = new Set()
const wait_ends = (tid, time) => {
  const since = ready.get(tid)
  if (since === undefined) return
  ready.delete(tid)
  queued.set(tid, (queued.get(tid) ?? 0) + inside(since, time))
}
const running = new Set()
for (const { timestamp, sched_switch, sched_waking } of merged) {
  if (sched_waking) {
    if (!ready.has(sched_waking.pid) && !running.has(sched_waking.pid)) ready.set(sched_waking.pid, timestamp)
    continue
  }
  if (ready.has(sched_switch.prev_pid)) unseen.add(sched_switch.prev_pid)
  if (running.has(sched_switch.next_pid)) unseen.add(sched_switch.next_pid)
  ready.delete(sched_switch.prev_pid)
  wait_ends(sched_switch.next_pid, timestamp)
  running.add(sched_switch.next_pid)
  running.delete(sched_switch.prev_pid)
  if (sched_switch.prev_pid !== 0 && (sched_switch.prev_state === 0n || sched_switch.prev_state === 0x100n))
    ready.set(sched_switch.prev_pid, timestamp)
}
for (const tid of [...ready.keys()]) wait_ends(tid, end)

// The recorder wakes at the end of an interval, notes the time and then reads the threads, while other
// threads may have the CPU. So a row may start and end later than the interval, at most until the
// recorder has slept or had 5 ms of a CPU: a snapshot takes about 1 ms (docs/cost.md). A longer time
// than MOST_NS would let any wait pass.
const SNAPSHOT_NS = 5000000n
const MOST_NS = 100000000n
const recorder = Number(process.argv[3] ?? 0)
let recorder_seen = true
const is_ready = (state) => state === 0n || state === 0x100n
const reading_ns = (moment) => {
  const own = merged.filter(({ sched_switch: one }) => one && [one.prev_pid, one.next_pid].includes(recorder))
  const earlier = own.filter(({ timestamp }) => timestamp <= moment).at(-1)
  // otherwise the switch to the recorder had no event
  recorder_seen &&= !earlier || earlier.sched_switch.next_pid === recorder
  let left = SNAPSHOT_NS
  let since = moment
  let runs = true
  for (const { timestamp, sched_switch: change } of own) {
    if (timestamp <= moment) continue
    if (runs && timestamp - since >= left) break
    if (change.prev_pid === recorder) {
      left -= runs ? timestamp - since : 0n
      runs = false
      if (!is_ready(change.prev_state)) {
        since = timestamp
        left = 0n
        break
      }
    }
    if (change.next_pid === recorder) {
      runs = true
      since = timestamp
    }
  }
  const length = since + left - moment
  return Number(length < MOST_NS ? length : MOST_NS)
}

const wakers = {}
for (const { pid, sched_waking } of merged) {
  if (sched_waking) wakers[`${pid} ${sched_waking.pid}`] = (wakers[`${pid} ${sched_waking.pid}`] ?? 0) + 1
}

console.log(
  JSON.stringify({
    release: system.release,
    monotonic_ns: Number(clock(MONOTONIC)),
    real_ns: Number(clock(REALTIME)),
    boot_ns: Number(clock(BOOTTIME)),
    begin_ns: Number(begin),
    end_ns: Number(end),
    cpus: [...cpus.keys()],
    switches: merged.length - wakes,
    wakes,
    breaks,
    first_ns: Number(merged[0]?.timestamp ?? 0n),
    last_ns: Number(merged.at(-1)?.timestamp ?? 0n),
    reading_ns: recorder ? reading_ns(begin) + reading_ns(end) : null,
    recorder_seen,
    marks,
    counters: Object.fromEntries(counters),
    // queued in the interval: the longest twenty
    queued: [...queued]
      .sort((a, b) => b[1] - a[1])
      .slice(0, 20)
      .map(([tid, ns]) => ({ tid, pid: process_of.get(tid), name: names.get(tid) ?? '', ns, unseen: unseen.has(tid) })),
    // which thread woke which: waker and woken, with the number of times
    wakers,
  }),
)
