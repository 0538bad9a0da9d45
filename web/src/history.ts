// Mean compositions over time, for charts: of the selected entities, in bins of frames.
import { Bins } from './bins';
import { meanOf, MeanSum, type Mean } from './means';
import type { Reader } from './series';
import type { App, Axis, Frame } from './types';

interface Both {
  found: ReadonlySet<number>;
  size: number; // of found when it was intersected
  chosen: Set<number>;
}

const both = new WeakMap<ReadonlySet<number>, Both>();

/** The entities of a chart: the pinned, otherwise those that are brushed and that the search finds;
 * null: all. The same selection is the same set, so that charts need not read all frames again. */
export function selectionOf(app: App): ReadonlySet<number> | null {
  const { pinned, brush } = app.ui.state, found = app.ui.matching();
  if (pinned.size > 0) return pinned;
  if (!brush || brush.size === 0) return found;
  if (!found) return brush;
  let made = both.get(brush);
  if (!made || made.found !== found) both.set(brush, (made = { found, size: -1, chosen: new Set() }));
  if (made.size !== found.size) {
    made.size = found.size;
    for (const n of brush) if (found.has(n)) made.chosen.add(n);
  }
  return made.chosen;
}

export function selectionText(app: App, selection: ReadonlySet<number> | null): string {
  if (!selection) return 'all entities, mean weighted by elapsed time';
  if (selection.size === 0) return 'no entity matches the search';
  if (selection.size === 1) return app.ui.label([...selection][0]!);
  const kind = selection === app.ui.state.pinned ? 'pinned' : 'chosen';
  return `the ${selection.size} ${kind} entities, mean weighted by elapsed time`;
}

export class History extends Bins<MeanSum> implements Reader {
  axes: Axis[] = [];
  private selection: ReadonlySet<number> | null = null;

  protected override empty(): MeanSum {
    return new MeanSum(this.axes.length);
  }

  /** Restarts if the axes or the selection differ. */
  about({ store }: App, axes: Axis[], selection: ReadonlySet<number> | null): void {
    if (this.next !== Infinity && axes === this.axes && selection === this.selection) return this.forget(store.firstFrame);
    this.axes = axes;
    this.selection = selection;
    this.restart(store);
  }

  read(frame: Frame): void {
    this.put(frame, (sum) => sum.addMean(meanOf(frame, this.axes, this.selection)));
  }

  /** First frames of the bins, and their means. */
  get values(): { begins: number[]; means: (Mean | null)[]; end: number } {
    const begins = this.bins.map((_, i) => (this.firstBin + i) * this.size);
    return { begins, means: this.bins.map((bin) => bin.mean), end: Math.max(this.next, begins.at(-1) ?? 0) };
  }

  at(frame: number): Mean | null {
    return this.sumAt(frame)?.mean ?? null;
  }
}
