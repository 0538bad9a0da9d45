// The causes of a group as camp why shows them (src/commands/why): the tree, the sentence, the chain, and what the group
// inflicted. The numbers are those of camp why --json --top 8; a test compares both.
import { BUCKETS, OTHER, OUTSIDE, type CauseRow } from './cause_block';
import { groupName, type CauseSum, type SumGroup, type SumLengths } from './cause_sum';
import type { Why, WhyRow, WhyStep, WhyWaits } from './why_data';
import { endTitle, ON_CPU } from './why_words';

const MOST = 8; // rows of each cause, and of each other table
const NS = 1e6; // a millisecond
const STEPS = 16; // of a chain
const OUTWEIGHS = 4, HUNG = 0.99; // as in src/sources/causes/cause_chain.c
const QUEUE = 'run_queue', THROTTLED = 'throttled';

/** A part of a whole: its time, and its share in the units of share(). */
interface Part {
  ns: number;
  units: number;
}

/** Shares `units` of a whole of `total` ns out to its parts by largest remainders. */
function share(parts: Part[], units: number, total: number): void {
  if (total <= 0) return;
  const of = BigInt(Math.round(total)), exact = parts.map(({ ns }) => BigInt(Math.round(ns)) * BigInt(units));
  let left = units;
  parts.forEach((part, i) => {
    part.units = Math.min(Number(exact[i]! / of), left);
    left -= part.units;
  });
  for (; left > 0 && parts.length > 0; left--) {
    const missing = parts.map(({ units: has }, i) => exact[i]! - BigInt(has) * of);
    let next = 0;
    missing.forEach((one, i) => (next = one > missing[next]! ? i : next));
    parts[next]!.units++;
  }
}

interface Node extends Part {
  level: WhyRow['level'];
  isOnCpu: boolean;
  state: number;
  kind: number;
  id: number;
  merged: number;
}

const compare = (a: Node, b: Node): number => b.ns - a.ns || a.state - b.state || a.kind - b.kind || a.id - b.id;

/** Printed as printf() does: halves are rounded to even. */
function wholePercent(value: number): string {
  const below = Math.floor(value), isHalf = value - below === 0.5;
  return String(isHalf ? below + (below % 2) : Math.round(value));
}

const percentOf = (part: number, total: number): number => (total > 0 ? (100 * part) / total : 0);

/** Returns the length that `rank` of the waits do not exceed, but at most the longest. */
function lengthAt({ longest, counts }: SumLengths, rank: number): number {
  let below = 0;
  for (let i = 0; i < BUCKETS; i++) {
    const count = counts[i] ?? 0, least = i === 0 ? 0 : 2 ** i;
    if (count > 0 && below + count >= rank) return Math.min(Math.floor(least + (2 ** (i + 1) - least) * ((rank - below) / count)), longest);
    below += count;
  }
  return longest;
}

function waitsOf(lengths: SumLengths | null): WhyWaits | null {
  const count = lengths?.counts.reduce((sum, one) => sum + one, 0) ?? 0;
  if (!lengths || count === 0) return null;
  return { count, p50: lengthAt(lengths, count * 0.5) / NS, p99: lengthAt(lengths, count * 0.99) / NS, max: lengths.longest / NS };
}

class Maker {
  private readonly rows;
  private readonly of; // the rows of the subject
  private readonly byNumber;
  private readonly kinds;
  private readonly states;

  constructor(private readonly sum: CauseSum, private readonly subject: SumGroup | null) {
    this.rows = sum.rows;
    this.of = subject ? this.rows.filter(({ group }) => group === subject.number) : this.rows;
    this.byNumber = new Map(sum.groups.map((group) => [group.number, group]));
    this.kinds = sum.words.kinds;
    this.states = sum.words.states;
  }

  make(endMs: number): Why {
    const { sum, subject } = this, nodes = this.tree(), total = this.totalOf(this.of);
    const groups = subject ? [subject] : sum.groups, sumOf = (rows: CauseRow[]) => rows.reduce((ns, row) => ns + row.ns, 0);
    const isOther = (row: CauseRow) => this.isGroup(row) && this.byNumber.get(row.id)?.kind === OTHER;
    return {
      time: '', endMs, seconds: sum.ms / 1000, intervals: sum.frames, subject: subject ? groupName(subject) : 'all threads', stacks: [],
      threads: groups.reduce((threads, one) => threads + one.threads, 0), ms: total / NS, sentence: this.sentence(nodes, total),
      tree: nodes.map((node) => this.row(node)), calls: this.calls(total), inflicted: this.inflicted(), chain: subject && total > 0 ? this.chain(subject) : [],
      unseen: sum.unseen, unattributed: percentOf(sumOf(this.of.filter((row) => this.kinds[row.kind] === 'unknown')), total),
      others: percentOf(sumOf(this.of.filter(isOther)), total), reduced: percentOf(groups.reduce((ns, one) => ns + one.reduced, 0), total),
    };
  }

  private isOnCpu = ({ kind }: CauseRow): boolean => this.kinds[kind] === ON_CPU;
  private isGroup = ({ kind }: { kind: number }): boolean => this.kinds[kind] === 'group';

  private totalOf(rows: CauseRow[]): number {
    return rows.reduce((ns, row) => ns + row.ns, 0);
  }

  private who({ kind, id }: { kind: number; id: number }): string {
    if (this.kinds[kind] === 'device') return this.sum.devices.get(id) ?? `irq ${id}`;
    const group = this.isGroup({ kind }) ? this.byNumber.get(id) : undefined;
    return group ? groupName(group) : '';
  }

  private nameOf(cause: { kind: number; id: number }): string {
    return this.who(cause) || endTitle(this.kinds[cause.kind]!);
  }

  /** Returns the parts of a whole, in each of which what `keyOf` returns is the same, the longest first. */
  private parts(rows: CauseRow[], level: Node['level']): Node[] {
    const found = new Map<string, Node>();
    for (const { state, kind, id, ns } of rows) {
      const key = level === 'state' ? String(state) : level === 'cause' ? String(kind) : `${kind} ${id}`, known = found.get(key);
      if (known) known.ns += ns;
      else found.set(key, { level, isOnCpu: false, state, kind: level === 'state' ? 0 : kind, id: level === 'who' ? id : 0, merged: 0, ns, units: 0 });
    }
    return [...found.values()].sort(compare);
  }

  private tree(): Node[] {
    const waits = this.of.filter((row) => !this.isOnCpu(row)), onCpu = this.totalOf(this.of.filter(this.isOnCpu));
    const states = this.parts(waits, 'state');
    states.push({ level: 'state', isOnCpu: true, state: 0, kind: 0, id: 0, merged: 0, ns: onCpu, units: 0 });
    states.sort(compare);
    share(states, 10000, this.totalOf(this.of));
    return states.filter(({ ns }) => ns > 0).flatMap((state) =>
      state.isOnCpu ? [state] : [state, ...this.causes(state, waits.filter((row) => row.state === state.state))]);
  }

  private causes(state: Node, rows: CauseRow[]): Node[] {
    const parts = this.parts(rows, 'cause');
    share(parts, state.units, state.ns);
    return parts.flatMap((cause) =>
      this.isGroup(cause) || this.kinds[cause.kind] === 'device' ? [cause, ...this.whos(cause, rows.filter(({ kind }) => kind === cause.kind))] : [cause]);
  }

  private whos(cause: Node, rows: CauseRow[]): Node[] {
    const parts = this.parts(rows, 'who'), rest = parts.slice(MOST), last = parts[MOST - 1];
    if (rest.length > 0 && last) {
      last.ns += rest.reduce((ns, part) => ns + part.ns, 0);
      last.merged = rest.length + 1;
    }
    const shown = parts.slice(0, MOST);
    share(shown, cause.units, cause.ns);
    return shown;
  }

  private row(node: Node): WhyRow {
    const { level, isOnCpu, kind, merged, ns } = node, { subject } = this;
    return {
      level, state: isOnCpu ? ON_CPU : this.states[node.state]!, cause: level === 'state' ? '' : this.kinds[kind]!,
      who: level === 'who' && merged === 0 ? this.who(node) : '', merged, percent: node.units / 100, ms: ns / NS,
      waits: level === 'state' && !isOnCpu && subject ? waitsOf(this.sum.lengths(subject.number, node.state)) : null,
    };
  }

  private isSleep = (state: number): boolean => this.states[state] !== QUEUE && this.states[state] !== THROTTLED;

  /** Returns the cause with the most time of all sleeps, or of the run queue. */
  private largest(ofSleeps: boolean): { kind: number; id: number; ns: number } | null {
    const rows = this.of.filter((row) => !this.isOnCpu(row) && this.kinds[row.kind] !== 'not_ended' && (ofSleeps ? this.isSleep(row.state) : this.states[row.state] === QUEUE));
    const sums = new Map<string, { kind: number; id: number; ns: number }>();
    for (const { kind, id, ns } of rows) {
      const known = sums.get(`${kind} ${id}`);
      if (known) known.ns += ns;
      else sums.set(`${kind} ${id}`, { kind, id, ns });
    }
    return [...sums.values()].reduce<{ kind: number; id: number; ns: number } | null>((most, one) => (one.ns > (most?.ns ?? 0) ? one : most), null);
  }

  private sentence(nodes: Node[], total: number): string {
    const name = this.subject ? groupName(this.subject) : 'all threads', behind = this.largest(false), waker = this.largest(true);
    if (total === 0) return `${name} had no thread in this interval.`;
    const part = (): Part => ({ ns: 0, units: 0 });
    const onCpu = part(), ready = part(), asleep = part(), quota = part(), queued = part(), other = part();
    for (const { level, isOnCpu, state, ns } of nodes) {
      if (level !== 'state') continue;
      (isOnCpu ? onCpu : this.isSleep(state) ? asleep : ready).ns += ns;
      quota.ns += !isOnCpu && this.states[state] === THROTTLED ? ns : 0;
    }
    queued.ns = behind?.ns ?? 0;
    other.ns = ready.ns - quota.ns - queued.ns;
    share([onCpu, ready, asleep], 1000, total);
    share([quota, queued, other], ready.units, ready.ns);
    const tenths = ({ units }: Part) => `${(units / 10).toFixed(1)} %`;
    const parts = [...(quota.units > 0 ? [`${tenths(quota)} its own quota`] : []), ...(behind && queued.units > 0 ? [`${tenths(queued)} behind ${this.nameOf(behind)}`] : [])];
    const waited = ready.units > 0 ? `, ready ${tenths(ready)}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}` : '';
    return `${name} ${this.subject ? 'was' : 'were'} on a CPU ${tenths(onCpu)} of ${(total / 1e9).toFixed(2)} s${waited}; ` +
      `asleep ${tenths(asleep)}${this.asleep(asleep.ns, waker)}.`;
  }

  /** Says in which state most of the sleep was, and what ended most of it, if anything has. */
  private asleep(total: number, waker: { kind: number; id: number; ns: number } | null): string {
    const sleeps = this.of.filter((row) => !this.isOnCpu(row) && this.isSleep(row.state));
    const [most] = this.parts(sleeps, 'state').sort((a, b) => b.ns - a.ns || a.state - b.state);
    if (!most || most.ns === 0) return '';
    const whole = (ns: number) => `${wholePercent(percentOf(ns, total))} % of it`, state = this.states[most.state]!;
    const isOpen = ({ kind }: CauseRow) => this.kinds[kind] === 'not_ended', open = this.totalOf(sleeps.filter(isOpen));
    // Sleeps of several intervals may have ended after the one that has their time (src/sources/causes/cause_chain.c).
    const mayHaveEnded = this.sum.frames > 1 && sleeps.some((row) => isOpen(row) && sleeps.some((other) => other.state === row.state && !isOpen(other)));
    const ofOpen = mayHaveEnded ? `, and ${whole(open)} lasted beyond an interval` : `, and nothing has woken ${whole(open)} yet`;
    return `, ${whole(most.ns)} ${state === 'stopped' ? '' : 'in '}${state.replaceAll('_', ' ')}` +
      (open > (waker?.ns ?? 0) ? ofOpen : `, ${whole(waker!.ns)} woken by ${this.nameOf(waker!)}`);
  }

  private calls(total: number): Why['calls'] {
    const { subject } = this;
    if (!subject || subject.pid === 0) return [];
    return this.sum.calls.filter(({ pid }) => pid === subject.pid).slice(0, MOST).map(({ state, call, object, ns, count }) =>
      ({ state: this.states[state]!, call, object, percent: percentOf(ns, total), ms: ns / NS, count }));
  }

  private inflicted(): Why['inflicted'] {
    const { subject } = this;
    if (!subject) return [];
    const victims = new Map<number, number>();
    for (const row of this.rows)
      if (this.states[row.state] === QUEUE && this.isGroup(row) && row.id === subject.number && row.group !== subject.number)
        victims.set(row.group, (victims.get(row.group) ?? 0) + row.ns);
    return [...victims].sort(([a, left], [b, right]) => right - left || a - b).slice(0, MOST)
      .map(([number, ns]) => ({ who: groupName(this.byNumber.get(number)!), ms: ns / NS }));
  }

  private isItself = (row: CauseRow): boolean => this.isGroup(row) && row.id === row.group;

  /** The largest cause of a group's waits, which all waits for a CPU are together; sleeps for a timer and own locks must outweigh others. */
  private cause(rows: CauseRow[], isFirst: boolean): { cause: CauseRow | null; ns: number } {
    const ended = rows.filter((row) => !this.isOnCpu(row) && this.kinds[row.kind] !== 'not_ended');
    const isQueued = (row: CauseRow) => this.states[row.state] === QUEUE;
    const isNap = (row: CauseRow) => isFirst && this.states[row.state] === 'timer' && this.kinds[row.kind] === 'timer';
    const largest = (of: CauseRow[]) => of.reduce<CauseRow | null>((most, row) => (row.ns > (most?.ns ?? 0) ? row : most), null);
    const behind = largest(ended.filter((row) => isQueued(row) && !this.isItself(row))), queued = this.totalOf(ended.filter(isQueued));
    const lock = largest(ended.filter((row) => this.states[row.state] === 'lock' && this.isItself(row))), nap = largest(ended.filter(isNap));
    let cause = largest(ended.filter((row) => !isQueued(row) && !this.isItself(row) && !isNap(row))), ns = cause?.ns ?? 0;
    if (behind && queued > ns) [cause, ns] = [behind, queued];
    if (lock && Math.floor(lock.ns / OUTWEIGHS) > ns) [cause, ns] = [lock, lock.ns];
    if (nap && (ns === 0 || Math.floor(nap.ns / OUTWEIGHS) > ns)) [cause, ns] = [nap, nap.ns];
    return { cause, ns };
  }

  /** The longest sleep that nothing has ended, if it is why the group does nothing. */
  private openWait(group: SumGroup): CauseRow | null {
    const rows = this.rows.filter((row) => row.group === group.number), isOpen = (row: CauseRow) => this.kinds[row.kind] === 'not_ended';
    const open = rows.filter(isOpen).reduce<CauseRow | null>((most, row) => (row.ns > (most?.ns ?? 0) ? row : most), null);
    if (!open) return null;
    if (group.threads > 1) return this.totalOf(rows.filter(isOpen)) >= HUNG * this.totalOf(rows) ? open : null;
    const others = rows.filter((row) => !isOpen(row) && !this.isOnCpu(row)).map(({ ns }) => ns);
    return open.ns > Math.max(this.totalOf(rows.filter(this.isOnCpu)), ...others) ? open : null;
  }

  /** Follows the largest cause from group to group (src/sources/causes/cause_chain.c). */
  private chain(first: SumGroup): WhyStep[] {
    const steps: WhyStep[] = [], met = new Set<number>(), open = this.openWait(first);
    for (let group = first.number; steps.length < STEPS; ) {
      const rows = this.rows.filter((row) => row.group === group), total = this.totalOf(rows), onCpu = this.totalOf(rows.filter(this.isOnCpu));
      const { cause, ns } = open ? { cause: open, ns: open.ns } : this.cause(rows, steps.length === 0);
      steps.push({
        who: groupName(this.byNumber.get(group)!), state: cause ? this.states[cause.state]! : '', percent: cause ? percentOf(cause.ns, total) : 0,
        cause: cause ? this.kinds[cause.kind]! : '', by: cause ? this.who(cause) : '', onCpu: percentOf(onCpu, total),
      });
      const isAgain = met.has(group), isEnd = !cause || !this.isGroup(cause) || this.states[cause.state] === QUEUE || this.isItself(cause) || this.isCollective(cause.id);
      if (isAgain || isEnd || (steps.length > 1 && onCpu > ns)) break;
      met.add(group);
      group = cause.id;
    }
    return steps;
  }

  private isCollective(number: number): boolean {
    return (this.byNumber.get(number)?.kind ?? OTHER) <= OUTSIDE;
  }
}

/** Returns the causes of a group of the sum, or of all threads (null). */
export const whyOf = (sum: CauseSum, subject: SumGroup | null, endMs: number): Why => new Maker(sum, subject).make(endMs);
