// Mean compositions of entities, weighted by their elapsed time.
import { missingOf, overOf, restOf, weigh } from './axes';
import type { Axis, Frame, Weights } from './types';

/** Missing time of one entity and time accounted twice of another do not cancel out: `unaccounted`
 * is only the missing part. shares + leftOut + unaccounted - over = 1. */
export interface Mean extends Weights {
  over: number; // share of the time that was accounted twice
  elapsed: number; // the weight: intervals, of all entities together
}

/** Sums of share x elapsed. */
export class MeanSum {
  elapsed = 0;
  private readonly shares: Float64Array;
  private leftOut = 0;
  private missing = 0;
  private over = 0;

  constructor(axes: number) {
    this.shares = new Float64Array(axes);
  }

  add({ shares, leftOut, unaccounted }: Weights, elapsed: number): void {
    for (let i = 0; i < this.shares.length; i++) this.shares[i]! += shares[i]! * elapsed;
    this.leftOut += leftOut * elapsed;
    if (unaccounted > 0) this.missing += unaccounted * elapsed;
    else this.over -= unaccounted * elapsed;
    this.elapsed += elapsed;
  }

  /** The mean; null if there was no time. */
  get mean(): Mean | null {
    if (!(this.elapsed > 0)) return null;
    const of = (sum: number) => sum / this.elapsed;
    return {
      shares: Array.from(this.shares, of), leftOut: of(this.leftOut),
      unaccounted: of(this.missing), over: of(this.over), elapsed: this.elapsed,
    };
  }

  /** Adds another sum. */
  addSum(other: MeanSum): void {
    other.shares.forEach((share, i) => (this.shares[i]! += share));
    this.leftOut += other.leftOut;
    this.missing += other.missing;
    this.over += other.over;
    this.elapsed += other.elapsed;
  }

  addMean(mean: Mean | null): void {
    if (!mean) return;
    mean.shares.forEach((share, i) => (this.shares[i]! += share * mean.elapsed));
    this.leftOut += mean.leftOut * mean.elapsed;
    this.missing += mean.unaccounted * mean.elapsed;
    this.over += mean.over * mean.elapsed;
    this.elapsed += mean.elapsed;
  }
}

/** Returns the mean of some entities of a frame; null: of all. */
export function meanOf(frame: Frame, axes: Axis[], entities: Iterable<number> | null): Mean | null {
  if (!entities) return meanOfAll(frame, axes);
  const sum = new MeanSum(axes.length);
  for (const n of entities) {
    const row = frame.rowOf[n] ?? -1;
    if (row >= 0) sum.add(weigh(frame, row, axes), frame.elapsed[row]!);
  }
  return sum.mean;
}

/** Computes the mean state by state, which is much faster than row by row. */
function meanOfAll(frame: Frame, axes: Axis[]): Mean | null {
  const { elapsed, count } = frame;
  let time = 0, missing = 0, over = 0;
  for (let row = 0; row < count; row++) {
    time += elapsed[row]!;
    missing += missingOf(frame, row) * elapsed[row]!;
    over += overOf(frame, row) * elapsed[row]!;
  }
  if (!(time > 0)) return null;
  const of = (states: number[]) => {
    let sum = 0;
    for (const state of states) {
      const column = frame.shares[state];
      if (column) for (let row = 0; row < count; row++) sum += column[row]! * elapsed[row]!;
    }
    return (sum * frame.unit) / time;
  };
  return {
    shares: axes.map((axis) => of(axis.states)), leftOut: of(restOf(axes, frame.shares.length)),
    unaccounted: missing / time, over: over / time, elapsed: time,
  };
}
