// The look of each row on the stage: its area is its active time, its colour the class with most of
// it. Rows without active time are idle or parked, and are on the shelf.
import type { App, Frame } from './types';
import { MISSING } from './axes';
import { activeOf, dominantClass, type Active } from './classes';

export type Area = 'active' | 'equal';

export const SIZES = 16; // radii, in equal steps of their logarithm: masks are cached by radius
const LEAST = 2; // radius in pixels of the page
const MOST = 26;
const STEP = (MOST / LEAST) ** (1 / (SIZES - 1));
/** Active time, in intervals, below which a row is idle. */
const IDLE_BELOW = 0.001;
const NAMED = 8;

/** Radius of a dot that is active all the time, by the number of dots. */
const UNITS: [most: number, radius: number][] = [[60, 11], [300, 9], [3000, 6.5], [15000, 4.5], [Infinity, 3.5]];
/** Radius of all dots, if areas are equal. */
const EQUAL: [most: number, radius: number][] = [[300, 4.5], [3000, 3.5], [15000, 2.5], [Infinity, 2]];

export const SHOWN = 0, IDLE = 1, PARKED = 2;

export interface Weight {
  frame: Frame;
  active: Active;
  size: Uint8Array; // [count] below SIZES
  style: Uint8Array; // [count] 0: idle; otherwise 1 + index in active.classes
  rest: Uint8Array; // [count] SHOWN, IDLE or PARKED
  idle: number; // rows
  parked: number;
  largest: number[]; // entities with the most active time, the most first
}

/** Returns the radius of a size in pixels of the page. */
export const radiusOf = (size: number): number => LEAST * STEP ** size;

const sizeOf = (radius: number): number =>
  Math.min(SIZES - 1, Math.max(0, Math.round(Math.log(radius / LEAST) / Math.log(STEP))));

const byCount = (table: [number, number][], count: number): number => table.find(([most]) => count <= most)![1];

/** A row with much missing time is never idle: nobody knows what it did. */
function restOf(active: Active, frame: Frame, row: number): number {
  if (frame.unaccounted[row]! > MISSING) return SHOWN;
  if (active.parked[row]) return PARKED;
  return active.sums[row]! >= IDLE_BELOW ? SHOWN : IDLE;
}

export function weighRows(app: App, frame: Frame, area: Area, factor: number): Weight {
  const active = activeOf(frame, app.store.head!), { count } = frame;
  const size = new Uint8Array(count), style = new Uint8Array(count), rest = new Uint8Array(count);
  let idle = 0, parked = 0, most = 0;
  for (let row = 0; row < count; row++) {
    const kind = (rest[row] = restOf(active, frame, row));
    if (kind === IDLE) idle++;
    else if (kind === PARKED) parked++;
    else style[row] = 1 + dominantClass(active, row);
    if (active.sums[row]! > most) most = active.sums[row]!;
  }
  const shown = count - idle - parked;
  const unit = Math.min(byCount(UNITS, shown) * factor, MOST / Math.sqrt(most || 1));
  const equal = sizeOf(byCount(EQUAL, shown) * factor);
  for (let row = 0; row < count; row++)
    size[row] = area === 'equal' ? equal : sizeOf(unit * Math.sqrt(active.sums[row]!) || LEAST);
  return { frame, active, size, style, rest, idle, parked, largest: largestOf(app, frame, active, rest) };
}

function largestOf(app: App, frame: Frame, { sums }: Active, rest: Uint8Array): number[] {
  const rows: number[] = [];
  for (let row = 0; row < frame.count; row++) {
    if (rest[row] !== SHOWN || (rows.length === NAMED && sums[row]! <= sums[rows[NAMED - 1]!]!)) continue;
    if (app.ui.isDimmed(frame.entity[row]!)) continue;
    let at = rows.length;
    while (at > 0 && sums[rows[at - 1]!]! < sums[row]!) at--;
    rows.splice(at, 0, row);
    if (rows.length > NAMED) rows.pop();
  }
  return rows.map((row) => frame.entity[row]!);
}
