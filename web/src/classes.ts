// Classes of states: what an entity does in a state, its colour, and the time that is not idle.
import { isDark } from './theme';
import type { Frame, Head, StateClass } from './types';

export const IDLE = 'idle';
/** The share of its time from which a wait in a lock counts as parked. */
export const PARKED = 0.99;

/** The colours of the vertices of the triangle or of the tetrahedron on the present paper. */
export function vertexColours(head: Head, vertices: number): string[] {
  const { axes3, axes3_dark, axes4, axes4_dark } = head.colours;
  return vertices === 4 ? (isDark() ? axes4_dark : axes4) : isDark() ? axes3_dark : axes3;
}

/** The colour of a group (Ui.groupOf()) on the present paper. */
export function groupColour({ colours: { groups, groups_dark } }: Head, group: number): string {
  const all = isDark() ? groups_dark : groups;
  return all[group % all.length] ?? '#808080';
}

export const colourOf = (of: StateClass): string => (isDark() ? of.dark : of.light);

/** The classes of a source that have states, in the order in which views show them. */
export function classesOf(head: Head): StateClass[] {
  return head.classes.filter(({ name }) => head.states.some((state) => state.class === name));
}

/** Those of active time: all but idle. */
export const activeClasses = (head: Head): StateClass[] => classesOf(head).filter(({ name }) => name !== IDLE);

/** The classes with idle last, and the states of each. */
export const idleLast = (head: Head): (StateClass & { states: number[] })[] =>
  [...activeClasses(head), ...classesOf(head).filter(({ name }) => name === IDLE)].map((of) =>
    ({ ...of, states: head.states.flatMap((state, i) => (state.class === of.name ? [i] : [])) }));

/** The index of the state of waits in futex(2); -1: the source has none. */
export const lockOf = (head: Head): number => head.states.findIndex(({ name }) => name === 'lock_ns');

/** Active time: in a class other than idle, in intervals. A thread that almost only waits in a lock
 * for a whole interval is parked: it may wait for work as well as for a lock, so that this wait is not active. */
export interface Active {
  classes: StateClass[]; // [classes] without idle
  times: Float32Array[]; // [classes] of [count]
  sums: Float32Array; // [count]
  parked: Uint8Array; // [count] 1: parked
}

const cached = new WeakMap<Frame, Active>();

/** Returns the active time of each row of a frame, computed once. */
export function activeOf(frame: Frame, head: Head): Active {
  let active = cached.get(frame);
  if (!active) cached.set(frame, (active = compute(frame, head)));
  return active;
}

function compute(frame: Frame, head: Head): Active {
  const { count, elapsed, shares, unit } = frame;
  const classes = activeClasses(head);
  const times = classes.map(() => new Float32Array(count));
  const sums = new Float32Array(count), parked = new Uint8Array(count);
  const futex = lockOf(head);
  const futexes = futex >= 0 ? shares[futex] : null;
  if (futexes) for (let row = 0; row < count; row++) if (futexes[row]! * unit >= PARKED) parked[row] = 1;
  head.states.forEach((state, i) => {
    const column = shares[i], at = classes.findIndex(({ name }) => name === state.class);
    if (!column || at < 0) return;
    const into = times[at]!;
    for (let row = 0; row < count; row++) {
      if (i === futex && parked[row]) continue;
      const spared = (i === futex && frame.parked?.[row]) || 0;
      const time = Math.max(0, column[row]! * unit - (spared > 0 ? spared + unit : 0)) * elapsed[row]!; // unit: rounding
      into[row]! += time;
      sums[row]! += time;
    }
  });
  return { classes, times, sums, parked };
}

/** Returns the index of the class with most of a row's active time; -1 if the row is idle. */
export function dominantClass(active: Active, row: number): number {
  let best = -1;
  for (let i = 0; i < active.classes.length; i++)
    if (active.times[i]![row]! > (best < 0 ? 0 : active.times[best]![row]!)) best = i;
  return best;
}
