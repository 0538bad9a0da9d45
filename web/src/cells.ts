// The data of a barymap: the composition of each entity in each bin of frames, in few bytes.
//
// A bin is one frame, or a power of two of them when there are too many: then all bins are merged
// in pairs. Means are weighted by elapsed time.
import { sumStates } from './axes';
import type { Reader } from './series';
import type { Axis, Frame } from './types';

/** The unit of shares and unaccounted time: half a percent. */
export const CELL_UNIT = 1 / 200;
const ELAPSED_UNIT = 1 / 64; // 0: absent; groups of more than 4 intervals weigh 4

const BINS_MAXIMUM = 2048;
const BYTES_MAXIMUM = 48 << 20;

/** A cell is `width` bytes: the share of each axis, unaccounted time (signed), elapsed time. */
export class Cells implements Reader {
  next = Infinity; // not requested yet
  size = 1; // frames a bin
  /** Increases when earlier cells become invalid: bins were merged, or reading restarted. */
  generation = 0;
  private bins: Uint8Array[] = []; // [bins] of [entities][width]; the entities known then
  private firstBin = 0;
  private open = new Float32Array(0); // sums of the newest bin: share x elapsed; elapsed
  private axes: Axis[] = [];

  get shares(): number {
    return this.axes.length;
  }

  get unaccounted(): number {
    return this.axes.length;
  }

  get elapsed(): number {
    return this.axes.length + 1;
  }

  get width(): number {
    return this.axes.length + 2;
  }

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
    if (this.bins.length > Math.min(BINS_MAXIMUM, Math.max(128, BYTES_MAXIMUM / (this.width * frame.rowOf.length))))
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

  /** Returns the cells [entities][width] of a bin; null if the bin was not read. */
  bin(bin: number): Uint8Array | null {
    return this.bins[bin - this.firstBin] ?? null;
  }

  /** The bins [from, to) that were read. */
  get range(): [from: number, to: number] {
    return [this.firstBin, this.firstBin + this.bins.length];
  }

  private begin(entities: number): void {
    this.bins.push(new Uint8Array(this.width * entities));
    this.open.fill(0);
  }

  private add(frame: Frame): void {
    const { width } = this;
    if (this.open.length < width * frame.rowOf.length) {
      const grown = new Float32Array(Math.ceil(width * frame.rowOf.length * 1.25));
      grown.set(this.open);
      this.open = grown;
    }
    const { open } = this, columns = [...this.axes.map((axis) => sumStates(frame, axis.states)), frame.unaccounted];
    columns.forEach((column, i) => {
      for (let row = 0; row < frame.count; row++) open[width * frame.entity[row]! + i]! += column[row]! * frame.elapsed[row]!;
    });
    for (let row = 0; row < frame.count; row++) open[width * frame.entity[row]! + this.elapsed]! += frame.elapsed[row]!;
  }

  /** Computes the newest bin's cells from its sums. */
  private close(bin: number, entities: number): void {
    let cells = this.bins[bin]!;
    const { open, width, shares } = this;
    if (cells.length < width * entities) cells = this.bins[bin] = new Uint8Array(width * entities);
    for (let at = 0; at < width * entities; at += width) {
      const elapsed = open[at + this.elapsed]!;
      if (elapsed === 0) continue;
      const unit = 1 / (elapsed * CELL_UNIT);
      for (let i = 0; i < shares; i++) cells[at + i] = Math.min(255, Math.round(open[at + i]! * unit));
      // Rounds towards 0, so that no value below the limit is marked.
      cells[at + this.unaccounted] = Math.max(-128, Math.min(127, Math.trunc(open[at + this.unaccounted]! * unit)));
      cells[at + this.elapsed] = Math.max(1, Math.min(255, Math.round(elapsed / ELAPSED_UNIT)));
    }
  }

  /** Merges pairs of bins. reopen() computes the sums of the newest bin from its cells. */
  private merge(): void {
    const merged: Uint8Array[] = [];
    const odd = this.firstBin % 2;
    for (let i = -odd; i < this.bins.length; i += 2) {
      const before = this.bins[i], after = this.bins[i + 1];
      merged.push(before && after ? mean(before, after, this.shares) : (before ?? after)!);
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
    for (let at = 0; at < cells.length; at += this.width) {
      const elapsed = cells[at + this.elapsed]! * ELAPSED_UNIT;
      for (let i = 0; i < this.shares; i++) this.open[at + i] = cells[at + i]! * CELL_UNIT * elapsed;
      this.open[at + this.unaccounted] = signed(cells[at + this.unaccounted]!) * CELL_UNIT * elapsed;
      this.open[at + this.elapsed] = elapsed;
    }
  }
}

export function signed(byte: number): number {
  return byte > 127 ? byte - 256 : byte;
}

function mean(before: Uint8Array, after: Uint8Array, shares: number): Uint8Array {
  const merged = after.slice(), unaccounted = shares, elapsed = shares + 1;
  for (let at = 0; at < before.length; at += shares + 2) {
    const a = before[at + elapsed]!, b = after[at + elapsed] ?? 0;
    if (a === 0) continue;
    const of = (x: number, y: number) => (x * a + y * b) / (a + b);
    for (let i = 0; i < shares; i++) merged[at + i] = Math.round(of(before[at + i]!, after[at + i]!));
    merged[at + unaccounted] = Math.trunc(of(signed(before[at + unaccounted]!), signed(after[at + unaccounted]!)));
    merged[at + elapsed] = Math.min(255, a + b);
  }
  return merged;
}
