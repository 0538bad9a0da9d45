// Dots at one place are spread around this place; if there are many, their number is beside them.
import type { Frame } from './types';
import type { Label } from './marks';
import type { Scatter, Spot } from './scatter';

const RINGS = [1, 6, 12]; // dots at one place: one, and two rings around it
const CROWD = RINGS[0]! + RINGS[1]! + RINGS[2]!;
const CROWD_LEAST = 8; // the smallest number that is shown
const LABELS_MAXIMUM = 14;
/** The size of a cell in pixels of the page, by the number of dots. */
const CELLS: [most: number, size: number][] = [[300, 4.5], [3000, 3.5], [15000, 2.5], [Infinity, 2]];

const OFFSETS: Spot[] = RINGS.flatMap((count, ring) =>
  Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count;
    return { x: 1.7 * ring * Math.cos(angle), y: 1.7 * ring * Math.sin(angle) };
  }));

export interface Crowd extends Label {
  /** Returns the members' rows: those of the last spread. */
  rows(): number[];
}

export class Crowds {
  private here = new Uint32Array(0); // [cells] dots in each
  private owner = new Uint8Array(0); // [cells] 1 + index of the crowd; 0: none
  private cellOf = new Int32Array(0); // [rows] -1: hidden

  /** Spreads dots at one place around this place, in the order of the rows; returns labels with the
   * numbers of dots at crowded places. */
  spread(scatter: Scatter, frame: Frame): Crowd[] {
    const size = CELLS.find(([most]) => frame.count <= most)![1] * (scatter.width < 420 ? 0.8 : 1);
    const cell = size * scatter.ratio;
    const columns = Math.ceil((scatter.width * scatter.ratio) / cell) + 1;
    const lines = Math.ceil((scatter.height * scatter.ratio) / cell) + 1;
    if (this.here.length !== columns * lines) {
      this.here = new Uint32Array(columns * lines);
      this.owner = new Uint8Array(columns * lines);
    }
    if (this.cellOf.length < frame.count) this.cellOf = new Int32Array(frame.count + 1024);
    const here = this.here.fill(0);
    for (let row = 0; row < frame.count; row++) {
      this.cellOf[row] = -1;
      if (!scatter.isShown(row)) continue;
      const at = Math.floor(scatter.y[row]! / cell) * columns + Math.floor(scatter.x[row]! / cell);
      if (!(at >= 0 && at < here.length)) continue; // a picture of few pixels has no space for its corners
      this.cellOf[row] = at;
      const order = here[at]!++;
      if (order === 0) continue;
      const offset = OFFSETS[Math.min(order, CROWD - 1)]!;
      scatter.x[row]! += offset.x * cell;
      scatter.y[row]! += offset.y * cell;
    }
    return this.found(columns, size, frame.count);
  }

  /** Returns the most crowded places, with the dots of neighbouring places. */
  private found(columns: number, size: number, count: number): Crowd[] {
    const { here } = this, owner = this.owner.fill(0);
    const full: number[] = [];
    for (let at = 0; at < here.length; at++) if (here[at]! >= CROWD_LEAST) full.push(at);
    full.sort((a, b) => here[b]! - here[a]!);
    const crowds: Crowd[] = [];
    for (const at of full) {
      if (crowds.length === LABELS_MAXIMUM) break;
      if (here[at]! < CROWD_LEAST) continue; // counted already, with a more crowded neighbour
      const own = crowds.length + 1;
      let members = 0;
      for (let dy = -2; dy <= 2; dy++)
        for (let dx = -2; dx <= 2; dx++) {
          const near = at + dy * columns + dx;
          if (near < 0 || near >= here.length || owner[near]) continue;
          members += here[near]!;
          here[near] = 0;
          owner[near] = own;
        }
      const x = (at % columns) + 0.5, y = Math.floor(at / columns) + 0.5;
      crowds.push({ x: x * size, y: y * size, text: `× ${members}`, away: 5 * size, rows: () => this.rowsOf(own, count) });
    }
    return crowds;
  }

  private rowsOf(own: number, count: number): number[] {
    const rows: number[] = [];
    for (let row = 0; row < count; row++) if (this.cellOf[row]! >= 0 && this.owner[this.cellOf[row]!] === own) rows.push(row);
    return rows;
  }
}
