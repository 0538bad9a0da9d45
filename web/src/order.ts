// The order of a barymap's rows, and the stretches into which groups or clusters divide them.
import type { Cells } from './cells';
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

/** Orders all entities in the frames read, or those that the search finds. `names`: names of the classes, of which
 * the first `active` are active time. */
export function ordered(cells: Cells, by: Order, ui: Ui, names: string[], active: number): Ordered {
  const profiles = profilesOf(cells);
  const share = (n: number) => sumOf(active, (i) => profiles.mean(n, i));
  const found = ui.matching();
  const there = found ? profiles.entities.filter((n) => found.has(n)) : profiles.entities;
  const compareShares = (a: number, b: number) => share(b) - share(a) || a - b;
  if (by === 'share') return { rows: there.sort(compareShares), stretches: [] };
  if (by === 'name') {
    const labels = new Map(Array.from(there, (n) => [n, ui.label(n)]));
    const { compare } = new Intl.Collator('en', { numeric: true });
    return { rows: there.sort((a, b) => compare(labels.get(a)!, labels.get(b)!)), stretches: [] };
  }
  const label = by === 'cluster' ? clusters(profiles, active) : (n: number) => ui.groupOf(n);
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
  shares: number; // classes
  values: Float32Array; // [all entities][PARTS * shares]: in CELL_UNIT
  mean(n: number, share: number): number; // over all parts with the entity
  title(n: number, names: string[]): string;
}

function profilesOf(cells: Cells): Profiles {
  const [from, to] = cells.range, { width, shares } = cells;
  const count = to > from ? cells.bin(to - 1)!.length / width : 0;
  const sums = new Float32Array(count * PARTS * (shares + 1));
  for (let bin = from; bin < to; bin++) {
    const column = cells.bin(bin)!, part = Math.floor(((bin - from) * PARTS) / (to - from));
    for (let n = 0, at = 0; at < column.length; n++, at += width) {
      const weight = column[at + cells.elapsed]!, into = (n * PARTS + part) * (shares + 1);
      if (weight === 0) continue;
      for (let i = 0; i < shares; i++) sums[into + i]! += column[at + i]! * weight;
      sums[into + shares]! += weight;
    }
  }
  return summarised(sums, count, shares);
}

function summarised(sums: Float32Array, count: number, shares: number): Profiles {
  const means = new Float32Array(count * shares), values = new Float32Array(count * PARTS * shares), step = shares + 1;
  const entities: number[] = [];
  for (let n = 0; n < count; n++) {
    let weight = 0;
    for (let i = 0; i < shares; i++) {
      let sum = 0;
      weight = 0;
      for (let part = 0; part < PARTS; part++) {
        sum += sums[(n * PARTS + part) * step + i]!;
        weight += sums[(n * PARTS + part) * step + shares]!;
      }
      means[n * shares + i] = weight > 0 ? sum / weight : 0;
    }
    if (weight === 0) continue;
    entities.push(n);
    for (let part = 0; part < PARTS; part++) {
      const at = (n * PARTS + part) * step, there = sums[at + shares]!;
      for (let i = 0; i < shares; i++)
        values[(n * PARTS + part) * shares + i] = there > 0 ? sums[at + i]! / there : means[n * shares + i]!;
    }
  }
  const mean = (n: number, share: number) => means[n * shares + share]!;
  const title = (n: number, names: string[]) => {
    const main = names.reduce((best, _, i) => (mean(n, i) > mean(n, best) ? i : best), 0);
    return `mostly ${names[main]}`;
  };
  return { entities: Uint32Array.from(entities), shares, values, mean, title };
}

const CLUSTERS = 6, ROUNDS = 8;

const sumOf = (count: number, value: (i: number) => number): number => {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += value(i);
  return sum;
};

/** Clusters entities by k-means from centres far apart, so that the same data gives the same
 * clusters. They are numbered by their mean active time, the largest first. */
function clusters(profiles: Profiles, active: number): (n: number) => number {
  const { entities, values, shares } = profiles, width = PARTS * shares;
  let centres = farCentres(profiles);
  const of = new Map<number, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const sums = centres.map(() => new Float32Array(width + 1));
    for (const n of entities) {
      const nearest = nearestTo(values, n, centres, width).index, sum = sums[nearest]!;
      of.set(n, nearest);
      for (let i = 0; i < width; i++) sum[i]! += values[n * width + i]!;
      sum[width]!++;
    }
    centres = sums.map((sum, i) => (sum[width]! > 0 ? sum.map((value) => value / sum[width]!) : centres[i]!));
  }
  const first = (centre: Float32Array) => centre.reduce((sum, value, i) => (i < width && i % shares < active ? sum + value : sum), 0);
  const order = centres.map((_, i) => i).sort((a, b) => first(centres[b]!) - first(centres[a]!));
  const rank = order.map((_, i) => order.indexOf(i));
  return (n) => rank[of.get(n) ?? 0] ?? 0;
}

function farCentres({ entities, values, shares }: Profiles): Float32Array[] {
  const width = PARTS * shares, at = (n: number) => values.slice(n * width, (n + 1) * width);
  const centres: Float32Array[] = [];
  let next: number | undefined = entities[0];
  while (next !== undefined && centres.length < CLUSTERS) {
    centres.push(at(next));
    next = undefined;
    let most = 1; // clusters are at least half a percent apart
    for (const n of entities) {
      const { distance } = nearestTo(values, n, centres, width);
      if (distance > most) [most, next] = [distance, n];
    }
  }
  return centres;
}

function nearestTo(values: Float32Array, n: number, centres: Float32Array[], width: number): { index: number; distance: number } {
  let index = 0, distance = Infinity;
  for (let c = 0; c < centres.length; c++) {
    const centre = centres[c]!;
    let sum = 0;
    for (let i = 0; i < width; i++) sum += (values[n * width + i]! - centre[i]!) ** 2;
    if (sum < distance) [index, distance] = [c, sum];
  }
  return { index, distance };
}
