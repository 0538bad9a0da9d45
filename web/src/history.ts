// Mean compositions over time, for charts: of the selected entities, in bins of frames.
import { meanOf, MeanSum, type Mean } from './means';
import type { Reader } from './series';
import type { App, Axis, Frame } from './types';

const BINS_MAXIMUM = 2048;

/** The entities of a chart: the pinned, otherwise the brushed; null: all. */
export function selectionOf(app: App): ReadonlySet<number> | null {
  const { pinned, brush } = app.ui.state;
  if (pinned.size > 0) return pinned;
  return brush && brush.size > 0 ? brush : null;
}

export function selectionText(app: App, selection: ReadonlySet<number> | null): string {
  if (!selection) return 'all entities, mean weighted by elapsed time';
  if (selection.size === 1) return app.ui.label([...selection][0]!);
  const kind = selection === app.ui.state.pinned ? 'pinned' : 'chosen';
  return `the ${selection.size} ${kind} entities, mean weighted by elapsed time`;
}

export class History implements Reader {
  next = Infinity; // not requested yet
  size = 1; // frames a bin
  /** Increases with each change except for new frames. */
  generation = 0;
  axes: Axis[] = [];
  private selection: ReadonlySet<number> | null = null;
  private bins: MeanSum[] = [];
  private firstBin = 0;

  /** Restarts if the axes or the selection differ. */
  about(app: App, axes: Axis[], selection: ReadonlySet<number> | null): void {
    const { store } = app;
    if (this.next !== Infinity && axes === this.axes && selection === this.selection) return this.forget(store.firstFrame);
    this.axes = axes;
    this.selection = selection;
    this.bins = [];
    const frames = Math.max(store.head?.frames ?? 0, store.endFrame - store.firstFrame);
    for (this.size = 1; frames / this.size > BINS_MAXIMUM;) this.size *= 2;
    this.firstBin = Math.floor(store.firstFrame / this.size);
    this.next = store.firstFrame;
    this.generation++;
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
    if (bin === this.bins.length) this.bins.push(new MeanSum(this.axes.length));
    this.bins[bin]!.addMean(meanOf(frame, this.axes, this.selection));
    if (this.bins.length > BINS_MAXIMUM) this.merge();
  }

  /** First frames of the bins, and their means. */
  get values(): { begins: number[]; means: (Mean | null)[]; end: number } {
    const begins = this.bins.map((_, i) => (this.firstBin + i) * this.size);
    return { begins, means: this.bins.map((bin) => bin.mean), end: Math.max(this.next, begins.at(-1) ?? 0) };
  }

  at(frame: number): Mean | null {
    return this.bins[Math.floor(frame / this.size) - this.firstBin]?.mean ?? null;
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
    const merged: MeanSum[] = [];
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
