// The causes of waits of several frames added up, as src/sources/causes/cause_sum.c does it: groups are the same if they
// have the same name or process, whatever their numbers are.
import { GROUPS, OTHER, PROCESS, type CauseCall, type CauseGroup, type CauseRow, type Causes, type CauseWords } from './cause_block';

const FIXED = ['other processes', 'kernel threads', 'outside of this container'];
const SUBJECT = GROUPS - 1; // a number that is kept for the subject
const SHIFT = 128; // above the numbers of states and of kinds
const IDS = 2 ** 32;

export interface SumGroup extends Omit<CauseGroup, 'number'> {
  number: number; // in the sum
}

/** The waits of a group in a state that have ended. */
export interface SumLengths {
  longest: number; // ns
  counts: number[]; // by power of two
}

export function groupName({ kind, pid, name }: Pick<CauseGroup, 'kind' | 'pid' | 'name'>): string {
  if (kind === PROCESS) return name ? `${name} (${pid})` : `process ${pid}`;
  return FIXED[kind] ?? name;
}

/** What tells a group from others, in each interval. */
export const groupKey = ({ kind, pid, name }: Pick<CauseGroup, 'kind' | 'pid' | 'name'>): string => (kind === PROCESS ? `${kind} ${pid}` : `${kind} ${name}`);

export class CauseSum {
  readonly groups: SumGroup[] = []; // in the order of their first interval
  readonly devices = new Map<number, string>();
  unseen = 0;
  ms = 0; // the length of all intervals
  frames = 0;
  isFull = false; // there was no number for some groups, which are other processes
  private readonly times = new Map<number, CauseRow>();
  private readonly waits = new Map<number, SumLengths>();
  private readonly called = new Map<string, CauseCall>();
  private readonly known = new Map<string, SumGroup>();

  /** `subject` is the key of a group that has a number even if there are many others; '': none. */
  constructor(readonly words: CauseWords, readonly subject: string) {}

  add(more: Causes, lengthMs: number): void {
    const numbers = this.number(more);
    this.addThreads(more, numbers);
    const whose = this.words.kinds.indexOf('group');
    for (const { group, state, kind, id, ns } of more.rows) this.addTime({ group: numbers[group]!, state, kind, id: kind === whose ? numbers[id] ?? OTHER : id, ns });
    for (const { group, state, longest, counts } of more.lengths) this.addLengths(numbers[group]!, state, longest, counts);
    for (const [number, name] of more.devices) if (!this.devices.has(number)) this.devices.set(number, name);
    for (const call of more.calls) this.addCall(call);
    this.unseen += more.unseen;
    this.ms += lengthMs;
    this.frames++;
  }

  /** By group, then by state, then the longest first. */
  get rows(): CauseRow[] {
    return [...this.times.values()].filter(({ ns }) => ns > 0).sort((a, b) => a.group - b.group || a.state - b.state || b.ns - a.ns || a.kind - b.kind || a.id - b.id);
  }

  get calls(): CauseCall[] {
    return [...this.called.values()].sort((a, b) => b.ns - a.ns || (a.object < b.object ? -1 : 1));
  }

  lengths(group: number, state: number): SumLengths | null {
    return this.waits.get(group * SHIFT + state) ?? null;
  }

  /** Returns the number in the sum of each number in the interval. */
  private number({ groups }: Causes): number[] {
    const numbers = new Array<number>(GROUPS).fill(OTHER);
    this.find({ number: OTHER, kind: OTHER, pid: 0, threads: 0, reduced: 0, name: '' });
    for (const group of groups) numbers[group.number] = this.find(group);
    return numbers;
  }

  private find(group: CauseGroup): number {
    const key = groupKey(group), known = this.known.get(key);
    if (known && group.name) known.name = group.name;
    if (known) return known.number;
    const number = this.free(group, key);
    if (number === OTHER && group.kind !== OTHER) {
      this.isFull = true;
      return OTHER;
    }
    const made = { ...group, number, threads: 0, reduced: 0 };
    this.known.set(key, made);
    this.groups.push(made);
    return number;
  }

  private free({ kind }: CauseGroup, key: string): number {
    if (kind === OTHER) return OTHER;
    if (key === this.subject) return SUBJECT;
    const taken = new Set(this.groups.map(({ number }) => number));
    for (let number = 1; number < SUBJECT; number++) if (!taken.has(number)) return number;
    return OTHER;
  }

  /** The threads of a group are the most in one interval. */
  private addThreads({ groups }: Causes, numbers: number[]): void {
    const threads = new Map<number, number>(), byNumber = new Map(this.groups.map((group) => [group.number, group] as const));
    for (const { number, threads: more, reduced } of groups) {
      const to = numbers[number]!;
      threads.set(to, (threads.get(to) ?? 0) + more);
      byNumber.get(to)!.reduced += reduced;
    }
    for (const [number, now] of threads) {
      const group = byNumber.get(number)!;
      group.threads = Math.max(group.threads, now);
    }
  }

  private addTime(row: CauseRow): void {
    const key = ((row.group * SHIFT + row.state) * SHIFT + row.kind) * IDS + row.id, known = this.times.get(key);
    if (known) known.ns += row.ns;
    else this.times.set(key, row);
  }

  private addLengths(group: number, state: number, longest: number, counts: readonly number[]): void {
    const key = group * SHIFT + state, known = this.waits.get(key) ?? { longest: 0, counts: [] };
    known.longest = Math.max(known.longest, longest);
    for (let i = 0; i + 1 < counts.length; i += 2) known.counts[counts[i]!] = (known.counts[counts[i]!] ?? 0) + counts[i + 1]!;
    this.waits.set(key, known);
  }

  private addCall(call: CauseCall): void {
    const key = [call.pid, call.state, call.call, call.object].join(' '), known = this.called.get(key);
    if (known) {
      known.ns += call.ns;
      known.count += call.count;
    } else this.called.set(key, { ...call });
  }
}
