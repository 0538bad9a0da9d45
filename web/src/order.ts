// The order of a barymap's rows, and the stretches into which groups or clusters divide them.
import { CELL, ELAPSED, type Cells } from './cells';
import type { Ui } from './types';

export type Order = 'share' | 'cluster' | 'group' | 'name';

/** Rows [from, to) of the order that belong together. */
export interface Stretch {
  from: number;
  to: number;
  text: string;
}

export interface Ordered {
  rows: Uint32Array; // entities from top to bottom
  stretches: Stretch[]; // empty: not divided
}

/** Orders all entities in the frames read, or those that the search finds. `names`: names of the axes. */
export function ordered(cells: Cells, by: Order, ui: Ui, names: string[]): Ordered {
  const profiles = profilesOf(cells);
  const share = (n: number) => profiles.mean(n, 0);
  const found = ui.matching();
  const there = found ? profiles.entities.filter((n) => found.has(n)) : profiles.entities;
  const compareShares = (a: number, b: number) => share(b) - share(a) || a - b;
  if (by === 'share') return { rows: there.sort(compareShares), stretches: [] };
  if (by === 'name') {
    const labels = new Map(Array.from(there, (n) => [n, ui.label(n)]));
    const { compare } = new Intl.Collator('en', { numeric: true });
    return { rows: there.sort((a, b) => compare(labels.get(a)!, labels.get(b)!)), stretches: [] };
  }
  const label = by === 'cluster' ? clusters(profiles) : (n: number) => ui.groupOf(n);
  const rank = (n: number) => (label(n) < 0 ? Infinity : label(n));
  const rows = there.sort((a, b) => (rank(a) === rank(b) ? compareShares(a, b) : rank(a) - rank(b)));
  const groups = by === 'group' ? ui.groups() : [];
  const text = (n: number) => (by === 'group' ? groups[label(n)]?.name ?? 'others' : profiles.title(n, names));
  return { rows, stretches: stretchesOf(rows, rank, text) };
}

function stretchesOf(rows: Uint32Array, rank: (n: number) => number, text: (n: number) => string): Stretch[] {
  const stretches: Stretch[] = [];
  for (let from = 0, to = 1; to <= rows.length; to++) {
    if (to < rows.length && rank(rows[to]!) === rank(rows[from]!)) continue;
    stretches.push({ from, to, text: `${text(rows[(from + to) >> 1]!)} · ${to - from}` });
    from = to;
  }
  return stretches;
}

const PARTS = 8; // of the time: when an entity is active is part of its profile

/** Mean compositions of entities in each part of the time. */
interface Profiles {
  entities: Uint32Array;
  values: Float32Array; // [all entities][PARTS * 3]: in CELL_UNIT
  mean(n: number, axis: number): number; // over all parts with the entity
  title(n: number, names: string[]): string;
}

function profilesOf(cells: Cells): Profiles {
  const [from, to] = cells.range;
  const count = to > from ? cells.bin(to - 1)!.length / CELL : 0;
  const sums = new Float32Array(count * PARTS * 4);
  for (let bin = from; bin < to; bin++) {
    const column = cells.bin(bin)!, part = Math.floor(((bin - from) * PARTS) / (to - from));
    for (let n = 0, at = 0; at < column.length; n++, at += CELL) {
      const weight = column[at + ELAPSED]!, into = (n * PARTS + part) * 4;
      if (weight === 0) continue;
      sums[into]! += column[at]! * weight;
      sums[into + 1]! += column[at + 1]! * weight;
      sums[into + 2]! += column[at + 2]! * weight;
      sums[into + 3]! += weight;
    }
  }
  return summarised(sums, count);
}

function summarised(sums: Float32Array, count: number): Profiles {
  const means = new Float32Array(count * 3), values = new Float32Array(count * PARTS * 3);
  const entities: number[] = [];
  for (let n = 0; n < count; n++) {
    let weight = 0;
    for (let i = 0; i < 3; i++) {
      let sum = 0;
      weight = 0;
      for (let part = 0; part < PARTS; part++) {
        sum += sums[(n * PARTS + part) * 4 + i]!;
        weight += sums[(n * PARTS + part) * 4 + 3]!;
      }
      means[n * 3 + i] = weight > 0 ? sum / weight : 0;
    }
    if (weight === 0) continue;
    entities.push(n);
    for (let part = 0; part < PARTS; part++) {
      const at = (n * PARTS + part) * 4, there = sums[at + 3]!;
      for (let i = 0; i < 3; i++)
        values[(n * PARTS + part) * 3 + i] = there > 0 ? sums[at + i]! / there : means[n * 3 + i]!;
    }
  }
  const mean = (n: number, axis: number) => means[n * 3 + axis]!;
  const title = (n: number, names: string[]) => {
    const main = names.slice(0, 3).reduce((best, _, i) => (mean(n, i) > mean(n, best) ? i : best), 0);
    return `mostly ${names[main]}`;
  };
  return { entities: Uint32Array.from(entities), values, mean, title };
}

const CLUSTERS = 6, ROUNDS = 8, WIDTH = PARTS * 3;

/** Clusters entities by k-means from centres far apart, so that the same data gives the same
 * clusters. They are numbered by their mean share of the first axis, the largest first. */
function clusters(profiles: Profiles): (n: number) => number {
  const { entities, values } = profiles;
  let centres = farCentres(profiles);
  const of = new Map<number, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const sums = centres.map(() => new Float32Array(WIDTH + 1));
    for (const n of entities) {
      const nearest = nearestTo(values, n, centres).index, sum = sums[nearest]!;
      of.set(n, nearest);
      for (let i = 0; i < WIDTH; i++) sum[i]! += values[n * WIDTH + i]!;
      sum[WIDTH]!++;
    }
    centres = sums.map((sum, i) => (sum[WIDTH]! > 0 ? sum.map((value) => value / sum[WIDTH]!) : centres[i]!));
  }
  const first = (centre: Float32Array) => centre.reduce((sum, value, i) => (i < WIDTH && i % 3 === 0 ? sum + value : sum), 0);
  const order = centres.map((_, i) => i).sort((a, b) => first(centres[b]!) - first(centres[a]!));
  const rank = order.map((_, i) => order.indexOf(i));
  return (n) => rank[of.get(n) ?? 0] ?? 0;
}

function farCentres({ entities, values }: Profiles): Float32Array[] {
  const at = (n: number) => values.slice(n * WIDTH, (n + 1) * WIDTH);
  const centres: Float32Array[] = [];
  let next: number | undefined = entities[0];
  while (next !== undefined && centres.length < CLUSTERS) {
    centres.push(at(next));
    next = undefined;
    let most = 1; // clusters are at least half a percent apart
    for (const n of entities) {
      const { distance } = nearestTo(values, n, centres);
      if (distance > most) [most, next] = [distance, n];
    }
  }
  return centres;
}

function nearestTo(values: Float32Array, n: number, centres: Float32Array[]): { index: number; distance: number } {
  let index = 0, distance = Infinity;
  for (let c = 0; c < centres.length; c++) {
    const centre = centres[c]!;
    let sum = 0;
    for (let i = 0; i < WIDTH; i++) sum += (values[n * WIDTH + i]! - centre[i]!) ** 2;
    if (sum < distance) [index, distance] = [c, sum];
  }
  return { index, distance };
}
