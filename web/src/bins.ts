// Sums over time in bins of frames: one frame a bin, or a power of two of them when there are too many,
// so that the memory of a live page stays flat.
import type { Frame, Store } from './types';

const BINS_MAXIMUM = 2048;

/** What a bin holds. */
export interface Sum {
  addSum(other: this): void;
}

export abstract class Bins<S extends Sum> {
  next = Infinity; // not requested yet
  size = 1; // frames a bin
  bins: S[] = [];
  firstBin = 0;
  /** Increases with each change except for new frames. */
  generation = 0;

  /** Makes a sum of nothing. */
  protected abstract empty(): S;

  /** Called with bins whose frames are no longer kept. */
  protected dropped(_bins: S[]): void {}

  /** Drops all bins, and reads from the first kept frame. */
  protected restart({ head, firstFrame, endFrame }: Store): void {
    this.bins = [];
    const frames = Math.max(head?.frames ?? 0, endFrame - firstFrame);
    for (this.size = 1; frames / this.size > BINS_MAXIMUM;) this.size *= 2;
    this.firstBin = Math.floor(firstFrame / this.size);
    this.next = firstFrame;
    this.generation++;
  }

  /** Adds a frame, which follows the frame before, by add(). */
  protected put(frame: Frame, add: (sum: S) => void): void {
    let bin = Math.floor(frame.index / this.size) - this.firstBin;
    if (bin > this.bins.length) {
      // The view was hidden for so long that its next frame was dropped.
      this.dropped(this.bins);
      this.bins = [];
      this.firstBin += bin;
      bin = 0;
      this.generation++;
    }
    if (bin === this.bins.length) this.bins.push(this.empty());
    add(this.bins[bin]!);
    if (this.bins.length > BINS_MAXIMUM) this.merge();
  }

  /** Returns the sum of the bin with a frame; null if the frame was not read. */
  sumAt(frame: number): S | null {
    return this.bins[Math.floor(frame / this.size) - this.firstBin] ?? null;
  }

  /** Drops the bins of frames that are no longer kept. */
  protected forget(firstFrame: number): void {
    const gone = Math.min(Math.floor(firstFrame / this.size) - this.firstBin, this.bins.length);
    if (gone <= 0) return;
    this.dropped(this.bins.splice(0, gone));
    this.firstBin += gone;
    this.generation++;
  }

  private merge(): void {
    const odd = this.firstBin % 2;
    const merged: S[] = [];
    this.bins.forEach((bin, i) => {
      const into = (i + odd) >> 1;
      if (merged[into]) merged[into].addSum(bin);
      else merged[into] = bin;
    });
    this.bins = merged;
    this.firstBin = (this.firstBin - odd) / 2;
    this.size *= 2;
    this.generation++;
  }
}
