// The block of the causes of waits in a frame (docs/stream.md), checked before use: a recording may be of anybody.
import { plain } from './why_data';

/** What the numbers of the blocks mean, from the head. */
export interface CauseWords {
  states: string[];
  kinds: string[]; // of causes; "on_cpu" is time on a CPU
}

/** Kinds of groups (include/camp/states.h). */
export const OTHER = 0, KERNEL = 1, OUTSIDE = 2, NAME = 3, PROCESS = 4;
export const GROUPS = 64;
export const BUCKETS = 48; // of lengths of waits

export interface CauseGroup {
  number: number;
  kind: number;
  pid: number; // of a process
  threads: number;
  reduced: number; // ns
  name: string;
}

export interface CauseRow {
  group: number;
  state: number;
  kind: number;
  id: number; // of a group or of a device
  ns: number;
}

export interface CauseLengths {
  group: number;
  state: number;
  longest: number; // ns
  counts: number[]; // bucket and count in turn
}

export interface CauseCall {
  pid: number;
  state: number;
  ns: number;
  count: number;
  call: string;
  object: string;
}

export interface Causes {
  error: string; // why there are none; '': there are
  unseen: number;
  groups: CauseGroup[];
  rows: CauseRow[];
  devices: Map<number, string>;
  lengths: CauseLengths[];
  calls: CauseCall[];
}

const none = (error: string): Causes => ({ error, unseen: 0, groups: [], rows: [], devices: new Map(), lengths: [], calls: [] });

const ROWS = 100_000; // of a table

class Damaged extends Error {}

/** Returns a whole number from 0 to `most`. Those of camp have 64 bits, so that sums of them are finite. */
export function whole(value: unknown, most = 2 ** 64): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > most) throw new Damaged();
  return value;
}

export function list(value: unknown, most = ROWS): unknown[] {
  if (!Array.isArray(value) || value.length > most) throw new Damaged();
  return value;
}

export const text = (value: unknown): string => {
  if (typeof value !== 'string') throw new Damaged();
  return plain(value);
};

const PID = 2 ** 31 - 1, ID = 2 ** 32 - 1;

function read(of: Record<string, unknown>, { states, kinds }: CauseWords): Causes {
  if (of.error !== undefined) return none(text(of.error));
  const rowsOf = (name: string, most?: number) => list(of[name], most).map((row) => list(row));
  const group = (one: unknown) => whole(one, GROUPS - 1), state = (one: unknown) => whole(one, states.length - 1);
  return {
    error: '', unseen: whole(of.unseen),
    groups: rowsOf('groups', GROUPS).map(([number, kind, pid, threads, reduced, name]) =>
      ({ number: group(number), kind: whole(kind), pid: whole(pid, PID), threads: whole(threads), reduced: whole(reduced), name: text(name) })),
    rows: rowsOf('rows').map(([number, at, kind, id, ns]) =>
      ({ group: group(number), state: state(at), kind: whole(kind, kinds.length - 1), id: whole(id, ID), ns: whole(ns) })),
    devices: new Map(rowsOf('devices').map(([number, name]) => [whole(number, ID), text(name)])),
    lengths: rowsOf('lengths').map(([number, at, longest, counts]) =>
      ({ group: group(number), state: state(at), longest: whole(longest), counts: list(counts, 2 * BUCKETS).map((one, i) => whole(one, i % 2 === 0 ? BUCKETS - 1 : undefined)) })),
    calls: rowsOf('calls').map(([pid, at, ns, count, call, object]) =>
      ({ pid: whole(pid, PID), state: state(at), ns: whole(ns), count: whole(count), call: text(call), object: text(object) })),
  };
}

/** Reads a block whose payload is an object. Returns null if it is not as docs/stream.md describes. */
export function checked<T>(payload: ArrayBuffer, read: (of: Record<string, unknown>) => T): T | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    if (typeof value !== 'object' || value === null) return null;
    return read(value as Record<string, unknown>);
  } catch (error) {
    if (error instanceof Damaged || error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

export const DAMAGED = 'they are damaged';

/** Reads a block. Causes that are damaged have only an error. */
export const readCauses = (payload: ArrayBuffer, words: CauseWords): Causes => checked(payload, (of) => read(of, words)) ?? none(DAMAGED);
