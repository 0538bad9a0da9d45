// Words and colours of states and causes, as camp why writes them.
import { colourOf } from './classes';
import type { Head, StateClass } from './types';
import type { Why, WhyRow } from './why_data';

export const ON_CPU = 'on_cpu';
const QUEUE = 'run_queue';

/** In the run queue, and of sleeps. */
const CAUSES: Record<string, [queue: string, sleep: string]> = {
  group: ['another had the CPU', 'woken by'],
  idle_cpu: ['the CPU was idle: wake-up latency', 'the CPU was idle'],
  interrupts: ['interrupts had the CPU', 'interrupts'],
  real_time: ['real-time threads had the CPU', 'real-time threads'],
  timer: ['timer', 'woken by a timer'],
  device: ['device', 'woken by a device'],
  signal: ['signal', 'woken by a signal'],
  other_interrupt: ['another interrupt', 'woken by another interrupt'],
  unknown: ['cannot be attributed', 'cannot be attributed'],
  not_ended: ['still waits', 'nothing has woken it yet'],
  quota: ['its own quota', 'its own quota'],
};

/** A cause at the end of a chain. */
const ENDS: Record<string, string> = {
  idle_cpu: 'an idle CPU', interrupts: 'interrupts', real_time: 'real-time threads', timer: 'a timer', signal: 'a signal',
  other_interrupt: 'an interrupt', unknown: 'an unknown cause', not_ended: 'nothing yet', quota: 'its own quota',
};

/** The classes of states that the shown source does not have, such as in a file (src/microstates/table.h). */
const CLASS_OF: Record<string, string> = {
  [ON_CPU]: 'cpu', run_queue: 'run_queue', throttled: 'throttled', lock: 'lock', disk: 'disk',
  text_fault: 'disk', data_fault: 'disk', kernel_fault: 'disk',
};

export const causeTitle = (state: string, cause: string): string =>
  CAUSES[cause]?.[state === QUEUE ? 0 : 1] ?? cause.replaceAll('_', ' ');

export const endTitle = (cause: string): string => ENDS[cause] ?? cause.replaceAll('_', ' ');

export function stateTitle(head: Head, state: string): string {
  if (state === ON_CPU) return 'on a CPU';
  return head.states.find(({ name }) => name === `${state}_ns`)?.title ?? state.replaceAll('_', ' ');
}

export function classOfState(head: Head, state: string): StateClass {
  const name = head.states.find((one) => one.name === `${state}_ns`)?.class ?? CLASS_OF[state] ?? 'idle';
  return head.classes.find((one) => one.name === name) ?? { name: '', title: 'unknown', light: '#845220', dark: '#bf9211' };
}

export const stateColour = (head: Head, state: string): string => colourOf(classOfState(head, state));

/** Whether the sleeps of a row that had not ended in their interval may have ended in a later one of `why`. */
const mayHaveEnded = ({ intervals, tree }: Why, { state, cause }: WhyRow): boolean =>
  cause === 'not_ended' && intervals > 1 && tree.some((row) => row.level === 'cause' && row.state === state && row.cause !== 'not_ended');

/** What a row is, without what it is a part of. */
export function rowTitle(head: Head, row: WhyRow, why: Why): string {
  if (row.level === 'state') return stateTitle(head, row.state);
  if (row.level === 'cause' && mayHaveEnded(why, row)) return 'lasted beyond an interval';
  if (row.level === 'cause') return causeTitle(row.state, row.cause);
  return row.merged > 0 ? `${row.merged} others` : row.who || '?';
}

/** How the bar of a row is filled: "hatched" what cannot be attributed, "open" what nothing has ended. */
export const fillOf = ({ cause }: WhyRow): '' | 'hatched' | 'open' => (cause === 'unknown' ? 'hatched' : cause === 'not_ended' ? 'open' : '');
