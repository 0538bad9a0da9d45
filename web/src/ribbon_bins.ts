// Active time by class over time, in bins of frames: one frame a bin, or a power of two of them when
// there are too many, so that the memory of a live page stays flat.
import { activeOf, classesOf, IDLE } from './classes';
import type { Reader } from './series';
import type { Frame, Head, StateClass, Store } from './types';

const BINS_MAXIMUM = 2048;

/** Sums over the frames of a bin, in ms of all entities together. */
export class ActiveSum {
  lengthMs = 0;
  elapsedMs = 0;
  missingMs = 0; // in no state
  readonly times: Float64Array; // [classes] without idle

  constructor(classes: number) {
    this.times = new Float64Array(classes);
  }

  add(frame: Frame, head: Head): void {
    const { lengthMs, count, elapsed, unaccounted } = frame;
    activeOf(frame, head).times.forEach((times, i) => {
      for (let row = 0; row < count; row++) this.times[i]! += times[row]! * lengthMs;
    });
    for (let row = 0; row < count; row++) {
      this.elapsedMs += elapsed[row]! * lengthMs;
      if (unaccounted[row]! > 0) this.missingMs += unaccounted[row]! * elapsed[row]! * lengthMs;
    }
    this.lengthMs += lengthMs;
  }

  addSum(other: ActiveSum): void {
    other.times.forEach((time, i) => (this.times[i]! += time));
    this.lengthMs += other.lengthMs;
    this.elapsedMs += other.elapsedMs;
    this.missingMs += other.missingMs;
  }
}

export class ActiveBins implements Reader {
  next = Infinity; // not requested yet
  size = 1; // frames a bin
  classes: StateClass[] = []; // without idle
  bins: ActiveSum[] = [];
  firstBin = 0;
  /** Increases with each change except for new frames. */
  generation = 0;
  private head: Head | null = null;

  /** Starts reading, and drops the bins of frames that are no longer kept. */
  begin({ head, firstFrame, endFrame }: Store): void {
    if (this.head) return this.forget(firstFrame);
    this.head = head!;
    this.classes = classesOf(this.head).filter(({ name }) => name !== IDLE);
    const frames = Math.max(this.head.frames, endFrame - firstFrame);
    while (frames / this.size > BINS_MAXIMUM) this.size *= 2;
    this.firstBin = Math.floor(firstFrame / this.size);
    this.next = firstFrame;
  }

  read(frame: Frame): void {
    let bin = Math.floor(frame.index / this.size) - this.firstBin;
    if (bin > this.bins.length) {
      // The view was hidden for so long that its next frame was dropped.
      this.bins = [];
      this.firstBin += bin;
      bin = 0;
      this.generation++;
    }
    if (bin === this.bins.length) this.bins.push(new ActiveSum(this.classes.length));
    this.bins[bin]!.add(frame, this.head!);
    if (this.bins.length > BINS_MAXIMUM) this.merge();
  }

  at(frame: number): ActiveSum | null {
    return this.bins[Math.floor(frame / this.size) - this.firstBin] ?? null;
  }

  private forget(firstFrame: number): void {
    const gone = Math.min(Math.floor(firstFrame / this.size) - this.firstBin, this.bins.length);
    if (gone <= 0) return;
    this.bins.splice(0, gone);
    this.firstBin += gone;
    this.generation++;
  }

  private merge(): void {
    const odd = this.firstBin % 2;
    const merged: ActiveSum[] = [];
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
