// The range of frames whose mean all views show, and the range that it is compared with.
import type { App } from './types';

export type Period = [from: number, to: number]; // frames [from, to)
export type Which = 'range' | 'before'; // the shown one, the one it is compared with

export function periodOf({ ui }: App, which: Which): Period | null {
  return which === 'range' ? ui.state.range : ui.state.compare?.before ?? null;
}

/** Shows the mean of a range, or compares what is shown with it. */
export function setPeriod(app: App, which: Which, period: Period): void {
  const { range, compare, current } = app.ui.state;
  const still = { playing: false, following: false };
  if (which === 'before')
    return app.ui.set({ ...still, range, compare: { before: period, after: range ?? [current, current + 1] } });
  const isLinked = compare && (!range || compare.after === range);
  app.ui.set({
    ...still, range: period, current: period[1] - 1,
    ...(isLinked ? { compare: { ...compare, after: period } } : {}),
  });
}

/** Ends the range or the comparison; returns false if there was none. */
export function clearPeriods({ ui, say }: App, which: Which | 'both' = 'both'): boolean {
  const { range, compare } = ui.state;
  if (which === 'range' ? !range : which === 'before' ? !compare : !range && !compare) return false;
  ui.set(which === 'before' || !range ? { compare: null } : { range: null, compare: null });
  say(which === 'before' ? 'No comparison.' : 'No range.');
  return true;
}

/** Moves a part of a period within the kept frames. */
export function moved([from, to]: Period, part: 'from' | 'to' | 'whole', by: number, { store }: App): Period {
  const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));
  if (part === 'from') return [clamp(from + by, store.firstFrame, to - 1), to];
  if (part === 'to') return [from, clamp(to + by, from + 1, store.endFrame)];
  const whole = clamp(by, store.firstFrame - from, store.endFrame - to);
  return [from + whole, to + whole];
}
