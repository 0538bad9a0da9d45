// Dots at one place are spread around this place; if there are many, their number is beside them.
import type { Frame } from './types';
import type { Label } from './marks';
import type { Scatter, Spot } from './scatter';

const RINGS = [1, 6, 12]; // dots at one place: one, and two rings around it
const CROWD = RINGS[0]! + RINGS[1]! + RINGS[2]!;
const CROWD_LEAST = 8; // the smallest number that is shown
const LABELS_MAXIMUM = 14;

const OFFSETS: Spot[] = RINGS.flatMap((count, ring) =>
  Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count;
    return { x: 1.7 * ring * Math.cos(angle), y: 1.7 * ring * Math.sin(angle) };
  }));

export class Crowds {
  private here = new Uint32Array(0); // [cells] dots in each

  /** Spreads dots at one place around this place, in the order of the rows; returns labels with the
   * numbers of dots at crowded places. */
  spread(scatter: Scatter, frame: Frame): Label[] {
    const cell = scatter.radius() * scatter.ratio;
    const columns = Math.ceil((scatter.width * scatter.ratio) / cell) + 1;
    const rows = Math.ceil((scatter.height * scatter.ratio) / cell) + 1;
    if (this.here.length !== columns * rows) this.here = new Uint32Array(columns * rows);
    const here = this.here.fill(0);
    for (let row = 0; row < frame.count; row++) {
      if (!scatter.isShown(row)) continue;
      const at = Math.floor(scatter.y[row]! / cell) * columns + Math.floor(scatter.x[row]! / cell);
      const order = here[at]!++;
      if (order === 0) continue;
      const offset = OFFSETS[Math.min(order, CROWD - 1)]!;
      scatter.x[row]! += offset.x * cell;
      scatter.y[row]! += offset.y * cell;
    }
    return crowdsOf(here, columns, cell / scatter.ratio);
  }
}

/** Returns the numbers of dots at the most crowded places, with those of neighbouring places. */
function crowdsOf(here: Uint32Array, columns: number, cell: number): Label[] {
  const full: number[] = [];
  for (let at = 0; at < here.length; at++) if (here[at]! >= CROWD_LEAST) full.push(at);
  full.sort((a, b) => here[b]! - here[a]!);
  const crowds: Label[] = [];
  for (const at of full) {
    if (crowds.length === LABELS_MAXIMUM) break;
    if (here[at]! < CROWD_LEAST) continue; // counted already, with a more crowded neighbour
    let count = 0;
    for (let dy = -2; dy <= 2; dy++)
      for (let dx = -2; dx <= 2; dx++) {
        const near = at + dy * columns + dx;
        if (near >= 0 && near < here.length) count += here[near]!;
        here[near] = 0;
      }
    const x = (at % columns) + 0.5, y = Math.floor(at / columns) + 0.5;
    crowds.push({ x: x * cell, y: y * cell, text: `× ${count}`, away: 5 * cell });
  }
  return crowds;
}
