// The mean of several frames, as a frame: each entity has the time of all of them.
import { PARKED } from './classes';
import type { Frame } from './types';

/** Sums of times of each entity, in ms: one for each state, missing, accounted twice, elapsed. */
export class FrameSum {
  private readonly width: number;
  private readonly times: Float64Array; // [entities][width]
  private readonly flags: Uint16Array; // [entities]
  private readonly parked: Float64Array; // [entities] waits in a lock in frames in which an entity was parked
  private last: Frame | null = null;
  private lengthMs = 0;
  private unseen = 0;
  private lost = 0;
  private partial = 0;
  private full = Infinity;
  private readonly firstFull = new Set<number>();

  /** `lock` is the state of waits in futex(2), or -1. */
  constructor(private readonly states: number, private readonly entities: number, private readonly lock: number) {
    this.width = states + 3;
    this.times = new Float64Array(entities * this.width);
    this.flags = new Uint16Array(entities);
    this.parked = new Float64Array(entities);
  }

  add(frame: Frame): void {
    const { count, entity, elapsed, unaccounted, shares, unit, lengthMs } = frame, locks = shares[this.lock];
    for (let row = 0; row < count; row++) {
      const own = elapsed[row]! * lengthMs, n = entity[row]!, at = n * this.width;
      for (let state = 0; state < this.states; state++) {
        const column = shares[state];
        if (column) this.times[at + state]! += column[row]! * unit * own;
      }
      const share = unaccounted[row]!;
      this.times[at + this.states + (share > 0 ? 0 : 1)]! += Math.abs(share) * own;
      this.times[at + this.states + 2]! += own;
      const wait = locks ? locks[row]! * unit : 0;
      if (wait >= PARKED) this.parked[n]! += wait * own;
      this.flags[n]! |= frame.flags[row]!;
    }
    this.lengthMs += lengthMs;
    this.unseen += frame.unseen;
    this.lost += frame.lost;
    this.partial += frame.partial;
    this.full = Math.min(this.full, frame.full);
    this.firstFull.add(frame.firstFull);
    this.last = frame;
  }

  /** The mean of the frames that were added, at least one. Its shares have a finer unit than those of
   * one frame. An entity without elapsed time is absent. */
  get mean(): Frame {
    const { last, width, times, states } = this;
    const present: number[] = [];
    for (let n = 0; n < this.entities; n++) if (times[n * width + states + 2]! > 0) present.push(n);
    const unit = this.unitOf(present);
    const rowOf = new Int32Array(this.entities).fill(-1);
    present.forEach((n, row) => (rowOf[n] = row));
    const own = (n: number) => times[n * width + states + 2]!;
    const missing = Float32Array.from(present, (n) => times[n * width + states]! / own(n));
    const over = Float32Array.from(present, (n) => times[n * width + states + 1]! / own(n));
    return {
      index: last!.index, endMs: last!.endMs, lengthMs: this.lengthMs, unit,
      unseen: this.unseen, lost: this.lost, partial: this.partial,
      full: this.full, firstFull: this.firstFull.size === 1 ? [...this.firstFull][0]! : -1,
      count: present.length,
      entity: Uint32Array.from(present),
      elapsed: Float32Array.from(present, (n) => own(n) / this.lengthMs),
      unaccounted: missing.map((share, row) => (share >= over[row]! ? share : -over[row]!)),
      missing, over,
      flags: Uint16Array.from(present, (n) => this.flags[n]!),
      parked: Float32Array.from(present, (n) => this.parked[n]! / own(n)),
      shares: Array.from({ length: states }, (_, state) => {
        const column = Uint16Array.from(present, (n) => Math.min(65535, Math.round(times[n * width + state]! / own(n) / unit)));
        return column.some((share) => share > 0) ? column : null;
      }),
      rowOf,
    };
  }

  private unitOf(present: number[]): number {
    let most = 1;
    for (const n of present)
      for (let state = 0; state < this.states; state++)
        most = Math.max(most, this.times[n * this.width + state]! / this.times[n * this.width + this.states + 2]!);
    return most / 65535;
  }
}
