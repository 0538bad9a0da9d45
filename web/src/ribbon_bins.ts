// Active time by class over time, in bins of frames.
import { Bins } from './bins';
import { activeClasses, activeOf, colourOf } from './classes';
import type { Reader } from './series';
import type { App, Frame, Head, StateClass, Store } from './types';

/** A part of the ribbon. */
export interface Layer {
  title: string;
  colour: () => string; // on the present paper
  slots: number[]; // indexes in ActiveSum.times, which are added up
  key?: string; // of a group
}

/** Sums over the frames of a bin, in ms of all entities together. */
export class ActiveSum {
  lengthMs = 0;
  elapsedMs = 0;
  missingMs = 0; // in no state
  readonly times: Float64Array; // [classes] without idle; or of groups (ribbon_groups.ts)

  constructor(slots: number) {
    this.times = new Float64Array(slots);
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

export class ActiveBins extends Bins<ActiveSum> implements Reader {
  classes: StateClass[] = []; // without idle
  layers: Layer[] = [];
  private head: Head | null = null;

  protected override empty(): ActiveSum {
    return new ActiveSum(this.classes.length);
  }

  /** Starts reading, and drops the bins of frames that are no longer kept. */
  begin(store: Store): void {
    if (this.head) return this.forget(store.firstFrame);
    this.head = store.head!;
    this.classes = activeClasses(this.head);
    this.layers = this.classes.map((one, i) => ({ title: one.title, colour: () => colourOf(one), slots: [i] }));
    this.restart(store);
  }

  read(frame: Frame): void {
    this.put(frame, (sum) => sum.add(frame, this.head!));
  }
}

const shared = new WeakMap<App, ActiveBins>();

/** The bins of a page, which the ribbon reads. */
export function activeBins(app: App): ActiveBins {
  let bins = shared.get(app);
  if (!bins) shared.set(app, (bins = new ActiveBins()));
  return bins;
}
