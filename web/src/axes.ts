// Axes: which states are at which vertex, the shares of an entity there, and its position between
// the vertices. The arithmetic and the grammar are those of src/ledger/vertex.h and axes.h.
import type { Axis, Frame, State, Weights } from './types';

export const MISSING = 0.005; // unaccounted time beyond this is marked
/** The share above which time at no vertex is marked. A dot's position uses the proportions of the
 * other time, so unmarked dots are misplaced by at most this share of the triangle's height: about
 * their own size. */
export const LEFT_OUT = 0.05;

/** Returns the share of a row's time that is in no state. In a mean, missing time of one frame and time accounted twice
 * in another do not cancel out. */
export const missingOf = (frame: Frame, row: number): number => frame.missing?.[row] ?? Math.max(0, frame.unaccounted[row]!);

/** Returns the share of a row's time that is accounted twice. */
export const overOf = (frame: Frame, row: number): number => frame.over?.[row] ?? Math.max(0, -frame.unaccounted[row]!);

/** The weights of one row. */
export function weigh(frame: Frame, row: number, axes: Axis[]): Weights {
  const of = (states: number[]) =>
    states.reduce((sum, state) => sum + (frame.shares[state]?.[row] ?? 0), 0) * frame.unit;
  const shares = axes.map((axis) => of(axis.states));
  return { shares, leftOut: of(restOf(axes, frame.shares.length)), unaccounted: frame.unaccounted[row]! };
}

/** Returns the states that are on no axis. */
export function restOf(axes: Axis[], stateCount: number): number[] {
  const used = new Set(axes.flatMap((axis) => axis.states));
  return Array.from({ length: stateCount }, (_, i) => i).filter((i) => !used.has(i));
}

/** Adds up some states of each row, in the frame's unit, because integers are faster. */
function countStates(frame: Frame, states: number[], sums: Int32Array = new Int32Array(frame.count)): Int32Array {
  sums.fill(0);
  for (const state of states) {
    const column = frame.shares[state];
    if (column) for (let row = 0; row < sums.length; row++) sums[row]! += column[row]!;
  }
  return sums;
}

/** Adds up some states of each row, as shares of 1. */
export function sumStates(frame: Frame, states: number[]): Float32Array {
  const counted = countStates(frame, states);
  const sums = new Float32Array(frame.count);
  for (let row = 0; row < sums.length; row++) sums[row] = counted[row]! * frame.unit;
  return sums;
}

type Point = readonly [x: number, y: number, z: number];

const EDGE4 = Math.sqrt(1.5);
const DEPTH4 = (EDGE4 * Math.sqrt(3)) / 2;

/** The corners of a triangle of height 1: top, left, right. y is up. */
export const CORNERS3: readonly Point[] = [
  [1 / Math.sqrt(3), 1, 0], [0, 0, 0], [2 / Math.sqrt(3), 0, 0],
];

/** The corners of a tetrahedron of height 1: top, left, right, behind. */
export const CORNERS4: readonly Point[] = [
  [EDGE4 / 2, 1, DEPTH4 / 3], [0, 0, 0], [EDGE4, 0, 0], [EDGE4 / 2, 0, DEPTH4],
];

/** Returns the position of shares by their proportions; null if no time is at any vertex. */
export function place(shares: readonly number[]): Point | null {
  const corners = shares.length === 3 ? CORNERS3 : CORNERS4;
  const whole = shares.reduce((sum, share) => sum + share, 0);
  if (!(whole > 0)) return null;
  const at = (i: 0 | 1 | 2) => shares.reduce((sum, share, v) => sum + share * corners[v]![i], 0) / whole;
  return [at(0), at(1), at(2)];
}

/** The shares of all rows by axis, and these shares divided by their sum. A row whose sum is 0 has
 * no position. */
export interface Places {
  frame: Frame;
  axes: Axis[];
  proportions: Float32Array[]; // [axes] of [count]; NaN: no position
  sums: Float32Array; // [count] in the frame's unit
  own: Int32Array[]; // [axes] of [count], likewise
  leftOut: Int32Array | null; // [count], likewise: in states of no axis; null: each state has an
                              // axis
}

/** Computes the shares of all rows. Overwrites `before` if its size fits: new memory for each frame
 * would cost more than the arithmetic. */
export function placeAll(frame: Frame, axes: Axis[], before: Places | null): Places {
  const { count } = frame;
  const isFit = before?.sums.length === count && before.proportions.length === axes.length;
  const rest = restOf(axes, frame.shares.length);
  const { sums, proportions, own } = isFit ? before : {
    sums: new Float32Array(count),
    proportions: axes.map(() => new Float32Array(count)),
    own: axes.map(() => new Int32Array(count)),
  };
  sums.fill(0);
  axes.forEach(({ states }, i) => {
    const column = countStates(frame, states, own[i]);
    for (let row = 0; row < count; row++) sums[row]! += column[row]!;
  });
  proportions.forEach((shares, i) => {
    const column = own[i]!;
    for (let row = 0; row < count; row++) shares[row] = column[row]! / sums[row]!;
  });
  const leftOut = rest.length > 0 ? countStates(frame, rest, (isFit && before.leftOut) || undefined) : null;
  return { frame, axes, proportions, sums, own, leftOut };
}

/** An error in a text of axes. */
export class AxesError extends Error {}

const fail = (problem: string, word: string): never => {
  throw new AxesError(word ? `${problem}: "${word}"` : problem);
};

function stateOf(word: string, states: State[]): number {
  const wanted = word.toLowerCase();
  return states.findIndex(({ name, title }) => {
    const column = name.toLowerCase();
    return wanted === column || wanted === title.toLowerCase() ||
      (column.endsWith('_ns') && column.length > 3 && wanted === column.slice(0, -3));
  });
}

/** Parses axes: "CPU=user+system; WAIT=disk+lock; IDLE=*". Throws AxesError. */
export function parseAxes(text: string, states: State[], count: number): Axis[] {
  const parts = text.split(';').map((part) => part.trim()).filter(Boolean);
  if (parts.length !== count) fail(`it takes ${count} axes, NAME=STATE+STATE; …, and has ${parts.length}`, '');
  const taken = new Set<number>();
  let rest = -1;
  const axes = parts.map((part, vertex): Axis => {
    const equals = part.indexOf('=');
    if (equals < 0) fail('an axis is NAME=STATE+STATE', part);
    const name = part.slice(0, equals).trim();
    if (!name || new TextEncoder().encode(name).length > 63) fail('a vertex takes a name of 1 to 63 bytes', part);
    const words = part.slice(equals + 1).trim();
    if (!words) fail('a vertex has no state', name);
    const own: number[] = [];
    for (const word of words.split('+').map((piece) => piece.trim())) {
      if (word === '*') {
        if (rest >= 0) fail('* stands at one vertex only', name);
        rest = vertex;
        continue;
      }
      const state = stateOf(word, states);
      if (state < 0) fail('there is no such state', word);
      if (taken.has(state)) fail('a state is at one vertex only', word);
      taken.add(state);
      own.push(state);
    }
    return { name, states: own };
  });
  axes.forEach(({ name }, i) => {
    if (axes.findIndex((axis) => axis.name === name) !== i) fail('two vertices have the same name', name);
  });
  if (rest >= 0) states.forEach((_, state) => taken.has(state) || axes[rest]!.states.push(state));
  return axes;
}

/** Returns the text that parseAxes() parses to these axes. */
export function formatAxes(axes: Axis[], states: State[]): string {
  const word = (state: number) => states[state]!.name.replace(/_ns$/, '');
  return axes.map((axis) => `${axis.name}=${axis.states.map(word).join('+')}`).join('; ');
}
