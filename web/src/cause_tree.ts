// The causes of a group as camp why shows them (src/commands/why): the tree, the sentence, the chain, and what the group
// inflicted. The numbers are those of camp why --json --top 8; a test compares both.
import { BUCKETS, OTHER, OUTSIDE, type CauseRow } from './cause_block';
import { groupName, type CauseSum, type SumGroup, type SumLengths } from './cause_sum';
import type { Why, WhyRow, WhyStep, WhyWaits } from './why_data';
import { endTitle, ON_CPU } from './why_words';

const MOST = 8; // rows of each cause, and of each other table
const NS = 1e6; // a millisecond
const STEPS = 16; // of a chain
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
      time: '', endMs, seconds: sum.ms / 1000, subject: subject ? groupName(subject) : 'all threads', stacks: [],
      threads: groups.reduce((threads, one) => threads + one.threads, 0), ms: total / NS, sentence: this.sentence(nodes, total),
      tree: nodes.map((node) => this.row(node)), calls: this.calls(total), inflicted: this.inflicted(), chain: subject && total > 0 ? this.chain(subject.number) : [],
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
    const parts = [...(quota.units > 0 ? [`${tenths(quota)} its own quota`] : []), ...(behind ? [`${tenths(queued)} behind ${this.nameOf(behind)}`] : [])];
    const woken = waker ? `, ${wholePercent(percentOf(waker.ns, asleep.ns))} % of it woken by ${this.nameOf(waker)}` : '';
    return `${name} ${this.subject ? 'was' : 'were'} on a CPU ${tenths(onCpu)} of ${(total / 1e9).toFixed(2)} s, ready ${tenths(ready)}` +
      `${parts.length > 0 ? `: ${parts.join(', ')}` : ''}; asleep ${tenths(asleep)}${woken}.`;
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

  /** Follows the largest cause from group to group (src/sources/causes/cause_chain.c). */
  private chain(group: number): WhyStep[] {
    const steps: WhyStep[] = [], met = new Set<number>();
    while (steps.length < STEPS) {
      const rows = this.rows.filter((row) => row.group === group), total = this.totalOf(rows), onCpu = this.totalOf(rows.filter(this.isOnCpu));
      const cause = rows.filter((row) => !this.isOnCpu(row) && this.kinds[row.kind] !== 'not_ended' && !(this.isGroup(row) && row.id === group))
        .reduce<CauseRow | null>((most, row) => (row.ns > (most?.ns ?? 0) ? row : most), null);
      steps.push({
        who: groupName(this.byNumber.get(group)!), state: cause ? this.states[cause.state]! : '', percent: cause ? percentOf(cause.ns, total) : 0,
        cause: cause ? this.kinds[cause.kind]! : '', by: cause ? this.who(cause) : '', onCpu: percentOf(onCpu, total),
      });
      const isAgain = met.has(group), isEnd = !cause || !this.isGroup(cause) || this.states[cause.state] === QUEUE || this.isCollective(cause.id);
      if (isAgain || isEnd || (steps.length > 1 && onCpu > cause.ns)) break;
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
