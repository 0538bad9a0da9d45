// Paths of the entities that moved most, from their mean place in the compared range to their place
// in the shown one.
import type { App, Axis, Frame } from './types';
import { placeAll, type Places } from './axes';
import { colourOf } from './classes';
import type { Scatter, Spot } from './scatter';
import { currentTheme } from './theme';
import { SHOWN, type Weight } from './weight';

const MAXIMUM = 40;
const LEAST = 0.02; // of the picture: shorter moves are not drawn

interface Move {
  row: number;
  from: number[]; // proportions
  length: number;
}

export class Paths {
  private key: unknown[] = [];
  private moves: Move[] = [];
  private before: Places | null = null;

  constructor(private readonly app: App) {}

  draw(context: CanvasRenderingContext2D, places: Places, weight: Weight, scatter: Scatter, spotOf: (proportions: number[]) => Spot | null): void {
    const { compare } = this.app.ui.state;
    if (!compare) return;
    this.find(compare.before, places, weight);
    context.lineWidth = 1.75;
    context.lineCap = 'round';
    for (const { row, from } of this.moves) {
      const start = spotOf(from), end = scatter.spotOf(places.frame.entity[row]!);
      if (!start || !end) continue;
      const of = weight.active.classes[weight.style[row]! - 1];
      context.strokeStyle = of ? colourOf(of) : currentTheme().dim;
      drawPath(context, start, end);
    }
    context.globalAlpha = 1;
  }

  private find(range: readonly [number, number], { frame, axes, proportions, sums }: Places, { rest }: Weight): void {
    const key = [range[0], range[1], frame, axes, this.app.store.firstFrame];
    if (key.every((value, i) => value === this.key[i])) return;
    this.key = key;
    const before = this.placesOf(this.app.store.mean(...range), axes);
    const moves: Move[] = [];
    for (let row = 0; row < frame.count; row++) {
      const old = before.frame.rowOf[frame.entity[row]!] ?? -1;
      if (old < 0 || rest[row] !== SHOWN || !(sums[row]! > 0) || !(before.sums[old]! > 0)) continue;
      const from = before.proportions.map((own) => own[old]!);
      const length = Math.hypot(...from.map((share, i) => share - proportions[i]![row]!)) / Math.SQRT2;
      if (length >= LEAST) moves.push({ row, from, length });
    }
    this.moves = moves.sort((a, b) => b.length - a.length).slice(0, MAXIMUM);
  }

  private placesOf(frame: Frame, axes: Axis[]): Places {
    if (this.before?.frame !== frame || this.before.axes !== axes) this.before = placeAll(frame, axes, null);
    return this.before;
  }
}

function drawPath(context: CanvasRenderingContext2D, start: Spot, end: Spot & { radius: number }): void {
  const dx = end.x - start.x, dy = end.y - start.y, length = Math.hypot(dx, dy);
  context.globalAlpha = 0.85;
  context.beginPath();
  context.arc(start.x, start.y, 3, 0, 2 * Math.PI);
  context.stroke();
  const from = 3, to = length - end.radius;
  if (to <= from) return;
  context.globalAlpha = 0.6;
  context.beginPath();
  context.moveTo(start.x + (dx * from) / length, start.y + (dy * from) / length);
  context.lineTo(start.x + (dx * to) / length, start.y + (dy * to) / length);
  context.stroke();
}
