// The data of a barymap: the composition of each entity in each bin of frames, in few bytes.
//
// A bin is one frame, or a power of two of them when there are too many: then all bins are merged
// in pairs. Means are weighted by elapsed time.
import { sumStates } from './axes';
import type { Reader } from './series';
import type { Axis, Frame } from './types';

/** A cell: shares of 3 axes, unaccounted (signed), elapsed. */
export const CELL = 5, UNACCOUNTED = 3, ELAPSED = 4;
/** The unit of shares and unaccounted time: half a percent. */
export const CELL_UNIT = 1 / 200;
const ELAPSED_UNIT = 1 / 64; // 0: absent; groups of more than 4 intervals weigh 4

const BINS_MAXIMUM = 2048;
const CELLS_MAXIMUM = 1 << 23;

export class Cells implements Reader {
  next = Infinity; // not requested yet
  size = 1; // frames a bin
  /** Increases when earlier cells become invalid: bins were merged, or reading restarted. */
  generation = 0;
  private bins: Uint8Array[] = []; // [bins] of [entities][CELL]; the entities known then
  private firstBin = 0;
  private open = new Float32Array(0); // sums of the newest bin: share x elapsed; elapsed
  private axes: Axis[] = [];

  /** Restarts. */
  reset(axes: Axis[], firstFrame: number, frames: number): void {
    this.axes = axes;
    this.bins = [];
    this.next = firstFrame;
    for (this.size = 1; frames / this.size > BINS_MAXIMUM;) this.size *= 2;
    this.firstBin = this.binOf(firstFrame);
    this.open.fill(0);
    this.generation++;
  }

  read(frame: Frame): void {
    let bin = this.binOf(frame.index) - this.firstBin;
    if (bin > this.bins.length) {
      // The view was hidden for so long that its next frame was dropped.
      this.bins = [];
      this.firstBin += bin;
      bin = 0;
      this.generation++;
    }
    if (bin === this.bins.length) this.begin(frame.rowOf.length);
    this.add(frame);
    this.close(bin, frame.rowOf.length);
    if (this.bins.length > Math.min(BINS_MAXIMUM, Math.max(128, CELLS_MAXIMUM / frame.rowOf.length)))
      this.merge();
  }

  /** Drops the bins before this frame. */
  forget(firstFrame: number): void {
    const gone = Math.min(this.binOf(firstFrame) - this.firstBin, this.bins.length);
    if (gone <= 0) return;
    this.bins.splice(0, gone);
    this.firstBin += gone;
  }

  binOf(frame: number): number {
    return Math.floor(frame / this.size);
  }

  /** Returns the cells [entities][CELL] of a bin; null if the bin was not read. */
  bin(bin: number): Uint8Array | null {
    return this.bins[bin - this.firstBin] ?? null;
  }

  /** The bins [from, to) that were read. */
  get range(): [from: number, to: number] {
    return [this.firstBin, this.firstBin + this.bins.length];
  }

  private begin(entities: number): void {
    this.bins.push(new Uint8Array(CELL * entities));
    this.open.fill(0);
  }

  private add(frame: Frame): void {
    if (this.open.length < CELL * frame.rowOf.length) {
      const grown = new Float32Array(CELL * frame.rowOf.length * 1.25);
      grown.set(this.open);
      this.open = grown;
    }
    const { open } = this;
    const [first, second, third] = this.axes.map((axis) => sumStates(frame, axis.states));
    if (!first || !second || !third) return;
    for (let row = 0; row < frame.count; row++) {
      const at = CELL * frame.entity[row]!, elapsed = frame.elapsed[row]!;
      open[at]! += first[row]! * elapsed;
      open[at + 1]! += second[row]! * elapsed;
      open[at + 2]! += third[row]! * elapsed;
      open[at + UNACCOUNTED]! += frame.unaccounted[row]! * elapsed;
      open[at + ELAPSED]! += elapsed;
    }
  }

  /** Computes the newest bin's cells from its sums. */
  private close(bin: number, entities: number): void {
    let cells = this.bins[bin]!;
    if (cells.length < CELL * entities) cells = this.bins[bin] = new Uint8Array(CELL * entities);
    const { open } = this;
    for (let at = 0; at < CELL * entities; at += CELL) {
      const elapsed = open[at + ELAPSED]!;
      if (elapsed === 0) continue;
      const unit = 1 / (elapsed * CELL_UNIT);
      for (let i = 0; i < 3; i++) cells[at + i] = Math.min(255, Math.round(open[at + i]! * unit));
      // Rounds towards 0, so that no value below the limit is marked.
      cells[at + UNACCOUNTED] = Math.max(-128, Math.min(127, Math.trunc(open[at + UNACCOUNTED]! * unit)));
      cells[at + ELAPSED] = Math.max(1, Math.min(255, Math.round(elapsed / ELAPSED_UNIT)));
    }
  }

  /** Merges pairs of bins. reopen() computes the sums of the newest bin from its cells. */
  private merge(): void {
    const merged: Uint8Array[] = [];
    const odd = this.firstBin % 2;
    for (let i = -odd; i < this.bins.length; i += 2) {
      const before = this.bins[i], after = this.bins[i + 1];
      merged.push(before && after ? mean(before, after) : (before ?? after)!);
    }
    this.firstBin = (this.firstBin - odd) / 2;
    this.bins = merged;
    this.size *= 2;
    this.generation++;
    this.reopen();
  }

  /** Computes the sums of the newest bin from its cells. */
  private reopen(): void {
    this.open.fill(0);
    const cells = this.bins[this.bins.length - 1]!;
    for (let at = 0; at < cells.length; at += CELL) {
      const elapsed = cells[at + ELAPSED]! * ELAPSED_UNIT;
      for (let i = 0; i < 3; i++) this.open[at + i] = cells[at + i]! * CELL_UNIT * elapsed;
      this.open[at + UNACCOUNTED] = signed(cells[at + UNACCOUNTED]!) * CELL_UNIT * elapsed;
      this.open[at + ELAPSED] = elapsed;
    }
  }
}

export function signed(byte: number): number {
  return byte > 127 ? byte - 256 : byte;
}

function mean(before: Uint8Array, after: Uint8Array): Uint8Array {
  const merged = after.slice();
  for (let at = 0; at < before.length; at += CELL) {
    const a = before[at + ELAPSED]!, b = after[at + ELAPSED] ?? 0;
    if (a === 0) continue;
    const of = (x: number, y: number) => (x * a + y * b) / (a + b);
    for (let i = 0; i < 3; i++) merged[at + i] = Math.round(of(before[at + i]!, after[at + i]!));
    merged[at + UNACCOUNTED] = Math.trunc(of(signed(before[at + UNACCOUNTED]!), signed(after[at + UNACCOUNTED]!)));
    merged[at + ELAPSED] = Math.min(255, a + b);
  }
  return merged;
}
