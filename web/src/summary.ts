// The sentence at the top of the page: how busy the CPUs are, what the entities wait for, which names
// are most active, and whether all time is accounted for. src/views/summary_text.c makes the same sentence;
// tests/browser/summary_vectors.json has the cases that both must pass.
import { missingOf, overOf } from './axes';
import { activeOf } from './classes';
import { count } from './format';
import type { Frame, Head } from './types';
import { kind } from './ui';

/** What the sentence is made of. Times are means over the shown time: seconds a second, of all entities
 * together. */
export interface SummaryInput {
  kind: string; // what the entities are, in the plural: "threads", "CPUs"
  cpus: number; // 0: unknown
  classes: Record<string, number>; // active time of each class that the source has, without idle
  missing: number; // in no state
  over: number; // accounted twice
  unseen: number;
  unseenAreSwitches: boolean; // of threads; otherwise what began and ended between two looks
  lost: number;
  partial: number;
  elapsed: number; // of all entities, with idle time
  full: number; // CPUs that were busy at least 95 % of the time
  firstFull: number; // the number of the first of them; -1: unknown
  groups: { name: string; classes: Record<string, number> }[]; // a name that several share is without its final number
  parked: number; // entities
}

export interface SummaryPart {
  place: 'busy' | 'waits' | 'accounting' | 'who';
  text: string;
  filter: string | null; // the class whose entities this part is about, or PARKED, MISSING, OVER
  name?: string; // the group that this part is about
  isFault?: boolean; // of the accounting
}

/** Filters of the entities that are in no class: parked, with time in no state, with time accounted twice. */
export const PARKED = 'parked';
const MISSING = 'missing', OVER = 'over';

export const LEAST = 0.05; // shorter times are shown as 0.0
const FAULT = 0.005; // of the elapsed time: less is rounding
const NAMED = 0.1; // of a class's time: smaller groups are not named
const NAMES_MAXIMUM = 2;
/** Classes in their order: the title in a list, and what entities do there. */
const CLASSES: Record<string, [title: string, doing: string]> = {
  cpu: ['CPU', 'on a CPU'],
  run_queue: ['run queue', 'wait for a CPU'],
  throttled: ['throttled', 'are throttled'],
  disk: ['disk', 'wait for a disk'],
  lock: ['lock', 'wait for a lock'],
  network: ['network', 'wait for the network'],
  wait: ['other waits', 'are in other waits'],
};
const ACTIVE = Object.keys(CLASSES);
const WAITS = ACTIVE.slice(1);

/** Rounds half up, as src/views/summary_text.c does. */
export function digits(places: number, value: number): string {
  const scale = 10 ** places;
  return (Math.floor(value * scale + 0.5) / scale).toFixed(places);
}
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The parts of the sentence in the order of their places. */
export function partsOf(input: SummaryInput): SummaryPart[] {
  const active = Object.values(input.classes).reduce((sum, time) => sum + time, 0);
  const [headline, reported] = active < LEAST ? [[idle(input)], 'run_queue'] : headlineOf(input);
  return [
    ...headline, ...waits(input, reported), ...accounting(input), ...(active < LEAST || areCpus(input) ? [] : who(input)),
  ];
}

/** The sentence as one text. */
export function textOf(parts: SummaryPart[]): string {
  const places = [...new Set(parts.map(({ place }) => place))];
  return places.map((of) => `${capital(parts.filter(({ place }) => place === of).map(({ text }) => text).join(''))}.`).join(' ');
}

/** A CPU does not wait for one, and has no name to mention; its time in the run queue was stolen by a
 * hypervisor. */
const areCpus = ({ kind }: SummaryInput): boolean => kind === 'CPUs';

/** A server that is down, or hides its sessions, has no rows: that is no idle server. */
const hasNoRows = ({ elapsed }: SummaryInput): boolean => elapsed <= 0;

function idle(input: SummaryInput): SummaryPart {
  const text = hasNoRows(input) ? `No ${input.kind} are seen`
    : input.missing >= LEAST ? 'Nothing is active in the states that were measured' : 'All is idle';
  return { place: 'busy', text, filter: null };
}

const part = (text: string, filter: string | null): SummaryPart => ({ place: 'busy', text, filter });

/** Are the entities sums of threads whose parked time is not known? camp export adds up the threads of a group. Then
 * waits in a lock may be waits for work. */
const mayBeParked = ({ kind }: SummaryInput): boolean => kind === 'groups' || kind === 'hosts';

/** The class of waits with the most time; if two are equal, the first. Locks are left out if the entities may be
 * parked, and other waits if the load of the CPUs is known. */
function largestWait(input: SummaryInput): string {
  if (areCpus(input)) return 'run_queue';
  return WAITS.filter((name) => (name !== 'lock' || !mayBeParked(input)) && (name !== 'wait' || input.cpus === 0 || input.classes.cpu === undefined))
    .reduce((found, name) => (timeIn(input, name) > timeIn(input, found) ? name : found));
}

const timeIn = ({ classes }: SummaryInput, name: string): number => classes[name] ?? 0;

/** Is more time waited than used? */
const isWaiting = (input: SummaryInput): boolean => timeIn(input, largestWait(input)) > timeIn(input, 'cpu');

/** The class that has most of the time in the headline. */
export const leadOf = (input: SummaryInput): string => (isWaiting(input) ? largestWait(input) : 'cpu');

/** The headline, and the wait that it tells. */
const headlineOf = (input: SummaryInput): [SummaryPart[], string] =>
  input.cpus > 0 && input.classes.cpu !== undefined ? withCpus(input, input.classes.cpu) : withoutCpus(input);

/** How busy the CPUs are, and the largest wait with a known reason. */
function withCpus(input: SummaryInput, cpu: number): [SummaryPart[], string] {
  const { classes, cpus, full, firstFull, kind } = input;
  const share = Math.min(100, Number(digits(0, 100 * Math.min(cpu / cpus, 1))));
  const of = cpus === 1 ? 'The CPU is' : cpus === 2 ? 'Both CPUs are' : `${cpus} CPUs are`;
  const which = full === 0 || full >= cpus ? '' : full > 1 ? ` (${full} are full)` : firstFull < 0 ? '' : ` (CPU ${firstFull} is full)`;
  const busy = [part(`${of} ${share} % busy`, 'cpu'), ...(which ? [part(which, null)] : [])];
  const wait = largestWait(input), time = timeIn(input, wait);
  if (time < LEAST) return [[...busy, ...(classes.run_queue !== undefined && !areCpus(input) ? [part(', and none waits for one', null)] : [])], wait];
  const doing = areCpus(input) ? 'stolen' : `${kind} ${wait === 'run_queue' ? 'wait for one' : CLASSES[wait]![1]}`;
  return [[...busy, part(', and ', null), part(`${digits(1, time)} ${doing}`, wait)], wait];
}

/** The time on a CPU and the largest wait, the larger one first. */
function withoutCpus(input: SummaryInput): [SummaryPart[], string] {
  const { classes, kind } = input, first = leadOf(input), wait = largestWait(input);
  // The states of a host are those of its CPUs: two hosts can have four busy CPUs.
  const countsCpus = kind === 'hosts', noun = countsCpus ? 'CPUs' : kind;
  const doing = (name: string) => (countsCpus && name === 'cpu' ? 'are busy' : CLASSES[name]![1]);
  const parts = [part(`${digits(1, timeIn(input, first))} ${noun} ${doing(first)}`, first)];
  const add = (name: string) => parts.push(part(', ', null), part(`${digits(1, timeIn(input, name))} ${doing(name)}`, name));
  if (first !== 'cpu' && classes.cpu !== undefined) add('cpu');
  if (first === 'cpu' && timeIn(input, wait) >= LEAST) add(wait);
  return [parts, wait];
}

/** The waits that the headline does not tell, and the parked. */
function waits(input: SummaryInput, reported: string): SummaryPart[] {
  const { classes, parked } = input;
  const titleOf = (name: string) => (name === 'lock' && mayBeParked(input) ? 'lock or parked' : CLASSES[name]![0]);
  const there = WAITS.filter((name) => name !== reported && (classes[name] ?? 0) >= LEAST)
    .map((name): SummaryPart => ({ place: 'waits', text: `${titleOf(name)} ${digits(1, classes[name]!)}`, filter: name }));
  if (parked > 0) there.push({ place: 'waits', text: `${parked} parked`, filter: PARKED });
  return there.flatMap((part, i) => (i > 0 ? [{ place: 'waits', text: ' · ', filter: null }, part] : [{ ...part, text: capital(part.text) }]));
}

const several = (size: number, noun: string, plural: string): string => `${count(size)} ${noun}${size === 1 ? '' : plural}`;

/** Does a source count as unseen the context switches that no event reported? Others count what began and ended
 * between two looks. */
const unseenAreSwitchesOf = ({ tier, kind }: Head): boolean => tier === 'bpf' && kind !== 'sessions';

/** What a source missed: "3 events unseen", "1 event lost". */
function lossesOf({ unseen, unseenAreSwitches, lost, partial }: Pick<SummaryInput, 'unseen' | 'unseenAreSwitches' | 'lost' | 'partial'>): string[] {
  const losses: string[] = [];
  if (unseen > 0) losses.push(`${unseenAreSwitches ? several(unseen, 'switch', 'es') : several(unseen, 'event', 's')} unseen`);
  if (lost > 0) losses.push(`${several(lost, 'event', 's')} lost`);
  if (partial > 0) losses.push(`${count(partial)} not whole`);
  return losses;
}

/** What the source missed in a frame; '' if nothing. */
export const lossesText = ({ unseen, lost, partial }: Frame, head: Head): string =>
  lossesOf({ unseen, unseenAreSwitches: unseenAreSwitchesOf(head), lost, partial }).join(', ');

function accounting(input: SummaryInput): SummaryPart[] {
  const { missing, over, elapsed } = input;
  const faults: SummaryPart[] = [];
  const add = (text: string, filter: string | null) => {
    if (faults.length > 0) faults.push({ place: 'accounting', text: ', ', filter: null });
    faults.push({ place: 'accounting', text, filter, isFault: true });
  };
  if (missing > FAULT * elapsed) add(`${digits(2, missing)} unaccounted (${digits(0, (100 * missing) / elapsed)} %)`, MISSING);
  if (over > FAULT * elapsed) add(`${digits(2, over)} accounted twice`, OVER);
  for (const loss of lossesOf(input)) add(loss, null);
  if (faults.length > 0 || hasNoRows(input)) return faults;
  return [{ place: 'accounting', text: 'nothing unaccounted, nothing lost', filter: null }];
}

/** The names with the most time in the two classes of the headline: on a CPU, and in a wait. */
function who(input: SummaryInput): SummaryPart[] {
  const isWait = isWaiting(input), lead = leadOf(input), other = isWait ? 'cpu' : largestWait(input);
  const most = (of: string) => input.groups.filter(({ name, classes }) => name !== '' && (classes[of] ?? 0) > 0 && classes[of]! >= NAMED * timeIn(input, of))
    .sort((a, b) => b.classes[of]! - a.classes[of]! || (a.name < b.name ? -1 : 1)).map(({ name }) => name);
  const plain = (text: string): SummaryPart => ({ place: 'who', text, filter: null });
  const named = most(lead).slice(0, NAMES_MAXIMUM);
  const parts = named.flatMap((name, i) => [plain(i > 0 ? ' and ' : 'Mostly '), { ...plain(name), name }]);
  const [besides] = timeIn(input, other) >= NAMED * timeIn(input, lead) ? most(other) : [];
  if (parts.length > 0 && besides !== undefined && !named.includes(besides))
    parts.push(plain(`; most ${CLASSES[other]![0]} time: `), { ...plain(besides), name: besides });
  return parts;
}

/** Sums of a frame. nameOf() returns the name of an entity. */
export function inputOf(frame: Frame, head: Head, cpus: number, nameOf: (n: number) => string): SummaryInput {
  const active = activeOf(frame, head), classes = active.classes.map(({ name }) => name);
  const { elapsed, unseen, lost, partial, full, firstFull } = frame;
  const input: SummaryInput = {
    kind: head.kind, cpus, full, firstFull, classes: {}, missing: 0, over: 0,
    unseen, unseenAreSwitches: unseenAreSwitchesOf(head), lost, partial, elapsed: 0, groups: [], parked: 0,
  };
  classes.forEach((name, i) => (input.classes[name] = active.times[i]!.reduce((sum, time) => sum + time, 0)));
  const groups = new Map<string, SummaryInput['groups'][number]>();
  for (let row = 0; row < frame.count; row++) {
    input.elapsed += elapsed[row]!;
    input.missing += elapsed[row]! * missingOf(frame, row);
    input.over += elapsed[row]! * overOf(frame, row);
    input.parked += active.parked[row]!;
    if (!(active.sums[row]! > 0)) continue;
    const name = nameOf(frame.entity[row]!), stem = kind(name);
    let group = groups.get(stem);
    if (!group) groups.set(stem, (group = { name, classes: {} }));
    // Names that differ only in their final numbers are one, without the number.
    if (group.name !== name) group.name = stem;
    for (let i = 0; i < classes.length; i++) group.classes[classes[i]!] = (group.classes[classes[i]!] ?? 0) + active.times[i]![row]!;
  }
  input.groups = [...groups.values()];
  return input;
}

/** The entities that a filter of the sentence means. */
export function entitiesIn(frame: Frame, head: Head, filter: string): Set<number> {
  const { classes, times, parked } = activeOf(frame, head);
  const own = times[classes.findIndex(({ name }) => name === filter)];
  const isMeant = filter === PARKED ? (row: number) => parked[row] === 1
    : filter === MISSING ? (row: number) => missingOf(frame, row) > FAULT
      : filter === OVER ? (row: number) => overOf(frame, row) > FAULT
        : (row: number) => (own?.[row] ?? 0) > 0;
  return new Set([...frame.entity].filter((_, row) => isMeant(row)));
}
