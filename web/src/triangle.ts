// The geometry of Barry3's picture: proportions of three vertices to pixels and back, and the
// visible part of the triangle. A part is an upright triangle: from[i] is the least proportion of
// vertex i in the part, and size is the length of its edge (1: the whole triangle).
import type { Spot } from './scatter';

export type Three = [number, number, number];

export interface Part {
  from: Three;
  size: number;
}

export const WHOLE: Part = { from: [0, 0, 0], size: 1 };
export const SMALLEST = 1 / 256;

/** Corners of the picture: top, left, right. */
export type Corners = [Spot, Spot, Spot];

/** The largest equilateral triangle within a box. */
export function fit(width: number, height: number, margin: { top: number; side: number; bottom: number }): Corners {
  const edge = Math.max(10, Math.min(width - 2 * margin.side, ((height - margin.top - margin.bottom) * 2) / Math.sqrt(3)));
  const tall = (edge * Math.sqrt(3)) / 2;
  const left = (width - edge) / 2;
  const top = margin.top + (height - margin.top - margin.bottom - tall) / 2;
  return [{ x: left + edge / 2, y: top }, { x: left, y: top + tall }, { x: left + edge, y: top + tall }];
}

/** Returns the spot of proportions (which add up to 1). */
export function spotOf(corners: Corners, part: Part, proportions: Three): Spot {
  const spot = { x: 0, y: 0 };
  for (let i = 0; i < 3; i++) {
    const own = (proportions[i]! - part.from[i]!) / part.size;
    spot.x += own * corners[i]!.x;
    spot.y += own * corners[i]!.y;
  }
  return spot;
}

/** Returns the proportions at a spot; outside of the triangle, some are below 0. */
export function proportionsAt(corners: Corners, part: Part, spot: Spot): Three {
  const [top, left, right] = corners;
  const up = (left.y - spot.y) / (left.y - top.y);
  const across = (spot.x - left.x) / (right.x - left.x) - up / 2;
  const own: Three = [up, 1 - up - across, across];
  return own.map((value, i) => part.from[i]! + value * part.size) as Three;
}

export const isWithin = (part: Part, proportions: Three, room = 1e-6): boolean =>
  proportions.every((value, i) => value >= part.from[i]! - room);

/** Moves proportions outside of the triangle to its border. */
export function clamp(proportions: Three): Three {
  const kept = proportions.map((value) => Math.max(0, value)) as Three;
  const sum = kept[0] + kept[1] + kept[2];
  return kept.map((value) => value / sum) as Three;
}

/** Returns a part `factor` times as large, with `centre` at the same place of the picture. */
export function scaled(part: Part, factor: number, centre: Three): Part {
  const size = Math.min(1, Math.max(SMALLEST, part.size * factor));
  const own = part.from.map((from, i) => (centre[i]! - from) / part.size);
  return kept({ from: part.from.map((_, i) => centre[i]! - own[i]! * size) as Three, size });
}

/** Returns the smallest part with both places, extended to sides of the triangle within `near`. */
export function around(a: Three, b: Three, near: number): Part {
  const least = (value: number) => (value < near ? 0 : value);
  const from = a.map((value, i) => least(Math.min(value, b[i]!))) as Three;
  const size = 1 - from[0] - from[1] - from[2];
  if (size >= SMALLEST) return { from, size };
  const share = (SMALLEST - size) / 3;
  return kept({ from: from.map((value) => value - share) as Three, size: SMALLEST });
}

/** Moves a part back into the triangle. */
function kept({ from, size }: Part): Part {
  if (size >= 1) return WHOLE;
  const room = 1 - size;
  const positive = from.map((value) => Math.max(0, value)) as Three;
  const sum = positive[0] + positive[1] + positive[2];
  const scale = sum > 0 ? room / sum : 0;
  return { from: sum > 0 ? (positive.map((value) => value * scale) as Three) : [room / 3, room / 3, room / 3], size };
}

/** Returns the grid lines of a vertex: round numbers, about three within the part. */
export function gridValues(part: Part, vertex: number): number[] {
  const steps = [0.25, 0.2, 0.1, 0.05, 0.025, 0.02, 0.01, 0.005, 0.0025, 0.002, 0.001, 0.0005];
  const step = steps.find((value) => value <= part.size / 3) ?? 0.0005;
  const from = part.from[vertex]!;
  const values: number[] = [];
  for (let k = Math.floor(from / step) + 1; k * step < from + part.size - step * 1e-3; k++)
    if (k * step > from + step * 1e-3) values.push(k * step);
  return values;
}
