// Objects of the schema camp.why/1 (camp why --json), checked before use: they come from a file.

/** A row of the tree. A row is a part of the last row before it of a lesser level. */
export interface WhyRow {
  level: 'state' | 'cause' | 'who';
  state: string; // "run_queue"; "on_cpu"
  cause: string; // "group"; '': the whole state
  who: string; // '': the whole cause
  merged: number; // the row is of so many groups; 0: of one
  percent: number; // of the time of all threads
  ms: number;
  waits: WhyWaits | null;
}

/** The waits in a state that have ended, in ms. */
export interface WhyWaits {
  count: number;
  p50: number;
  p99: number;
  max: number;
}

export interface WhyCall {
  state: string;
  call: string;
  object: string;
  percent: number;
  ms: number;
  count: number;
}

export interface WhyStep {
  who: string;
  state: string; // of the largest wait; '': it had none that has ended
  percent: number;
  cause: string;
  by: string;
  onCpu: number; // percent
}

/** Sleeps with the same stack. */
export interface WhyStack {
  state: string;
  frames: string[]; // the outermost first; those of the kernel end in "_[k]"
  isKnown: boolean; // false: the last frame says what is instead of a stack
  ms: number;
  sleeps: number;
}

export interface Why {
  time: string;
  endMs: number; // wall clock; NaN: unknown
  seconds: number;
  intervals: number; // that are added up
  subject: string;
  threads: number;
  ms: number; // the time of the threads, which is 100 %
  sentence: string;
  tree: WhyRow[];
  calls: WhyCall[];
  inflicted: { who: string; ms: number }[]; // the most first
  chain: WhyStep[];
  unseen: number;
  unattributed: number; // percent, as the next two
  others: number;
  reduced: number;
  stacks: WhyStack[]; // none: stacks were not collected
  blockers?: BlockerRow[]; // of database sessions, in place of all tables
  note?: string; // of these
}

/** A session in the trees of blockers. It waited for the last row before it with less depth. */
export interface BlockerRow {
  id: number;
  depth: number; // 0: a root
  ms: number; // how long it waited; 0: a root, or unknown
  blockingMs: number; // how long the sessions below it waited
  waiting: number; // of a root: sessions below it
  isRepeated: boolean; // the sessions below it are at another place
  name: string;
  activity: string;
  statement: string;
  server: string; // '': there is one
}

type Members = Record<string, unknown>;

const ROWS = 10_000; // of each table
const FRAMES = 256; // of a stack
const LEVELS = ['state', 'cause', 'who'] as const;
const NS = 1e6;

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);
const TEXT = 1024; // characters; a sentence has at most as many

/** A name without characters that control a terminal or the direction of text. */
export const plain = (name: string): string => name.slice(0, TEXT).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');

const text = (value: unknown): string => (typeof value === 'string' ? plain(value) : '');
/** A size: finite, and not below 0. */
const size = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0);
const rows = (value: unknown): Members[] => (Array.isArray(value) ? value.slice(0, ROWS).filter(isObject) : []);

/** Returns null if the value is not an object of the schema. */
export function readWhy(value: unknown): Why | null {
  if (!isObject(value) || !/^camp\.why\/1(\.|$)/.test(text(value.schema)) || !Array.isArray(value.tree)) return null;
  const losses = isObject(value.losses) ? value.losses : {};
  return {
    time: text(value.time), endMs: Date.parse(text(value.time)), seconds: size(value.interval_s), intervals: size(value.intervals) || 1, subject: text(value.subject) || '?',
    threads: size(value.threads), ms: size(value.time_ns) / NS, sentence: text(value.sentence),
    tree: rows(value.tree).map(treeRow).filter((row) => row !== null),
    calls: rows(value.calls).map((row) => ({
      state: text(row.state), call: text(row.call), object: text(row.object), percent: size(row.percent), ms: size(row.sleep_ns) / NS, count: size(row.count),
    })),
    inflicted: rows(value.inflicted).map((row) => ({ who: text(row.who), ms: size(row.wait_ns) / NS })).sort((a, b) => b.ms - a.ms),
    chain: rows(value.chain).map((row) => ({
      who: text(row.who), state: text(row.state), percent: size(row.percent), cause: text(row.cause), by: text(row.by), onCpu: size(row.on_cpu_percent),
    })),
    unseen: size(losses.unseen), unattributed: size(losses.unattributed_percent), others: size(losses.others_percent), reduced: size(losses.reduced_percent),
    stacks: rows(value.stacks).map(stack),
  };
}

function treeRow(row: Members): WhyRow | null {
  const level = LEVELS.find((one) => one === row.level);
  if (!level) return null;
  const count = size(row.waits);
  return {
    level, state: text(row.state), cause: text(row.cause), who: text(row.who), merged: size(row.merged), percent: size(row.percent), ms: size(row.time_ns) / NS,
    waits: count > 0 ? { count, p50: size(row.p50_ns) / NS, p99: size(row.p99_ns) / NS, max: size(row.longest_ns) / NS } : null,
  };
}

const NO_STACK = 'no stack';
/** What may stand in the place of a stack, as its last frame. */
const UNKNOWN: ReadonlySet<string> = new Set([NO_STACK, 'other stacks']);

function stack(row: Members): WhyStack {
  const frames = Array.isArray(row.frames) ? row.frames.slice(0, FRAMES).map(text).filter(Boolean) : [];
  if (frames.length === 0) frames.push(NO_STACK);
  return { state: text(row.state), frames, isKnown: !UNKNOWN.has(frames.at(-1)!), ms: size(row.ms), sleeps: size(row.sleeps) };
}

/** Reads the output of camp why --json: an object, or one a line. Throws an Error that says what is wrong. */
export function readWhyFile(content: string): Why[] {
  const found: Why[] = [];
  for (const [at, line] of documents(content).entries()) {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw new Error(`line ${at + 1} is not JSON`);
    }
    const why = readWhy(value);
    if (!why) throw new Error(`line ${at + 1} is not of the schema camp.why/1`);
    found.push(why);
  }
  if (found.length === 0) throw new Error('it is empty');
  return found;
}

/** A file of one object may have been formatted over many lines. */
function documents(content: string): string[] {
  const lines = content.split('\n').map((line) => line.trim()).filter(Boolean);
  if (lines.length < 2 || /^\{.*\}$/.test(lines[0]!)) return lines;
  return [content];
}
