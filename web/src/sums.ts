// The sum rule as text: how much of the entities' time is in no state, in two states, or in a state
// that is not shown.
import type { Axis, Frame, Head } from './types';
import { MISSING, missingOf, overOf, restOf, sumStates } from './axes';
import { count, duration, percent } from './format';
import { lossesText } from './summary';

/** Sums over all entities of one frame; times are in ms. */
export interface Sums {
  entities: number;
  elapsedMs: number;
  missing: number; // entities with more than MISSING in no state
  missingMs: number; // of all entities
  over: number; // entities whose states add up to more than their time
  overMs: number;
  runQueueMs: number | null; // null: the source has no such state
  losses: string; // "3 events unseen, 1 event lost, 2 not whole"; '' if nothing was lost
}

const RUN_QUEUE = 'run_queue_ns';

export function sumsOf(frame: Frame, head: Head): Sums {
  const sums: Sums = {
    entities: frame.count, elapsedMs: 0, missing: 0, missingMs: 0, over: 0, overMs: 0, runQueueMs: null,
    losses: lossesText(frame, head),
  };
  for (let row = 0; row < frame.count; row++) {
    const elapsed = frame.elapsed[row]! * frame.lengthMs;
    const unaccounted = frame.unaccounted[row]!;
    sums.elapsedMs += elapsed;
    if (unaccounted > MISSING) sums.missing++;
    if (unaccounted < -MISSING) sums.over++;
    sums.missingMs += elapsed * missingOf(frame, row);
    sums.overMs += elapsed * overOf(frame, row);
  }
  const runQueue = head.states.findIndex(({ name }) => name === RUN_QUEUE);
  if (runQueue >= 0) sums.runQueueMs = timeIn(frame, [runQueue]);
  return sums;
}

function timeIn(frame: Frame, states: number[]): number {
  return sumStates(frame, states)
    .reduce((sum, share, row) => sum + share * frame.elapsed[row]! * frame.lengthMs, 0);
}

/** Returns the line that is always shown. */
export function sumsText(sums: Sums): string {
  const whole = sums.elapsedMs || 1;
  const isWhole = sums.missing === 0 && percent(sums.missingMs / whole) === '0 %';
  const missing = isWhole ? `Unaccounted ${duration(sums.missingMs)} (0 %) in ${count(sums.entities)} entities`
    : `Unaccounted ${duration(sums.missingMs)} (${percent(sums.missingMs / whole)}): ` +
    `more than ${100 * MISSING} % of its own time in ${count(sums.missing)} of ${count(sums.entities)} entities`;
  const runQueue = sums.runQueueMs !== null
    ? [`waiting for a CPU (run queue) ${duration(sums.runQueueMs)} (${percent(sums.runQueueMs / whole)})`]
    : isWhole ? [] : ['nothing of it explained: no run queue in this source'];
  const over = sums.over > 0
    ? `over 100 % in ${count(sums.over)}: ${duration(sums.overMs)} accounted twice` : 'none over 100 %';
  return [missing, ...runQueue, over, ...(sums.losses ? [sums.losses] : [])].join(' · ');
}

const TITLES_MAXIMUM = 3;

/** Names states: "run queue, lock"; only the first ones if there are many. */
export function titlesOf({ states }: Head, some: number[]): string {
  const titles = some.slice(0, TITLES_MAXIMUM).map((state) => states[state]?.title ?? '?');
  return titles.join(', ') + (some.length > TITLES_MAXIMUM ? ', …' : '');
}

/** Describes what a picture of these axes leaves out; '' if nothing. */
export function leftOutText(frame: Frame, axes: Axis[]): string {
  const rest = restOf(axes, frame.shares.length);
  const out = rest.length > 0 ? timeIn(frame, rest) : 0;
  if (!(out > 0)) return '';
  const elapsed = frame.elapsed.reduce((sum, own) => sum + own, 0) * frame.lengthMs;
  return `${percent(out / elapsed)} of the time is at no vertex: dots stand by the proportions of the rest.`;
}
