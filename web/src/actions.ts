// Actions of several views and of the keys on entities: pin, brush, select the next one. Each
// action is announced to screen readers.
import type { App, GroupBy } from './types';
import { weigh } from './axes';
import { percent } from './format';

/** Pins or unpins an entity. */
export function pin({ ui, say }: App, n: number | null): void {
  if (n === null) return;
  const pinned = new Set(ui.state.pinned);
  if (!pinned.delete(n)) pinned.add(n);
  ui.set({ pinned });
  say(`${ui.label(n)} ${pinned.has(n) ? 'pinned' : 'no longer pinned'}.`);
}

/** Returns the shell command that shows an entity's members (a host's groups); null: none. */
export function commandBelow({ store }: App, n: number): string | null {
  const below = store.head?.below, name = store.entities[n]?.name;
  if (!below || !name) return null;
  return `${below} ${quoted(name)}`;
}

/** Quotes a word for a shell, if it needs that. A control character, which a terminal could obey when the
 * command is pasted, becomes a dot. */
const quoted = (word: string): string =>
  (/^[\w.:/@%+=,-]+$/.test(word) ? word : `'${word.replace(/\p{Cc}/gu, '.').replaceAll("'", "'\\''")}'`);

const PIDS_MAXIMUM = 5;

/** Returns the shell command that shows a group's members, or its rows; null: none is known. Of a recording it shows
 * the time that the page shows. `isWaiting`: the group mostly waits. */
export function commandFor(app: App, by: GroupBy, key: string, members: Iterable<number>, isWaiting = false): string | null {
  const { store } = app, { kind, source } = store.head!;
  const options = optionsFor(app, by, key, members);
  if (options === null) return null;
  const ending = ` (${kind})`, words = ['camp top', ...options]; // src/recording names its sources "FILE (KIND)"
  if (source.endsWith(ending)) {
    const { endMs, lengthMs } = app.shown(), time = (ms: number) => new Date(ms).toISOString();
    words.splice(1, 0, `--from ${quoted(source.slice(0, -ending.length))} --begin ${time(endMs - lengthMs)} --end ${time(endMs)}`);
  } else if (kind === 'sessions') {
    const { from } = store.head!;
    if (from === undefined) return null;
    words.splice(1, 0, `--from ${quoted(from)}`, ...(isWaiting ? ['--detail'] : [])); // the waits by event
  }
  return words.join(' ');
}

/** Returns the command that shows which sessions of a database block which others; null: none is known. */
export function blockersCommand({ store }: App): string | null {
  const { kind, live, from = '' } = store.head!;
  return kind === 'sessions' && live && /^(postgres|mariadb):/.test(from) ? `camp why --from ${quoted(from)}` : null;
}

function optionsFor({ store }: App, by: GroupBy, key: string, members: Iterable<number>): string[] | null {
  const { kind } = store.head!, label = by.startsWith('label:') ? [`--group ${quoted(by.slice(6))}`] : [];
  // Sessions are grouped by statement next, or else listed singly.
  if (kind === 'sessions') {
    const hasStatement = (n: number) => Boolean(store.entities[n]?.labels?.query || store.entities[n]?.labels?.last_statement);
    return by !== 'label:query' && [...members].some(hasStatement) ? ['--group query'] : [];
  }
  if (kind !== 'threads' && kind !== 'processes') return null;
  const pids = [...new Set([...members].map((n) => store.entities[n]?.pid ?? 0))].filter((pid) => pid > 0);
  if (pids.length > 0 && pids.length <= PIDS_MAXIMUM) return pids.map((pid) => `--pid ${pid}`);
  if (by === 'uid') return ['--group user'];
  if (label.length > 0) return label;
  return by !== 'name' ? null : [`--filter ${quoted(`^${key.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`)}`];
}

/** Selects entities, which dims all others; without entities nothing is dimmed. */
export function brush({ ui, say }: App, found: ReadonlySet<number>): void {
  ui.set({ brush: found.size > 0 ? found : null });
  say(`${found.size} entities chosen.`);
}

/** Describes an entity in the current frame: "postgres 4711: CPU 12 %, idle 80 %, waiting 8 %". */
export function describe(app: App, n: number): string {
  const { ui } = app, frame = app.shown();
  const row = frame.rowOf[n] ?? -1;
  if (row < 0) return `${ui.label(n)}: absent`;
  const { axes3 } = ui.state;
  const { shares, leftOut, unaccounted } = weigh(frame, row, axes3);
  const words = axes3.map((axis, i) => `${axis.name} ${percent(shares[i]!)}`);
  if (leftOut >= 0.0005) words.push(`left out ${percent(leftOut)}`);
  if (Math.abs(unaccounted) >= 0.0005)
    words.push(`${unaccounted > 0 ? 'unaccounted' : 'accounted twice'} ${percent(Math.abs(unaccounted))}`);
  return `${ui.label(n)}: ${words.join(', ')}`;
}

/** Selects the next undimmed entity of the frame, as if the pointer were on its dot. */
export function hoverNext(app: App, by: 1 | -1): void {
  const { ui } = app, frame = app.shown();
  const there = [...frame.entity].filter((n) => !ui.isDimmed(n)).sort((a, b) => a - b);
  if (there.length === 0) return;
  const at = ui.state.hover === null ? -1 : there.indexOf(ui.state.hover);
  const next = at < 0 ? (by > 0 ? 0 : there.length - 1) : (at + by + there.length) % there.length;
  ui.set({ hover: there[next]! });
  app.say(describe(app, there[next]!));
}
