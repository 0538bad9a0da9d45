// The columns of the table: an entity's attributes, its shares by axis and by state.
import { LEFT_OUT, MISSING, restOf } from './axes';
import { activeOf, vertexColours } from './classes';
import { duration } from './format';
import type { App, Axis, Frame, Head, State } from './types';

export interface Column {
  key: string;
  title: string;
  help: string;
  isNumber: boolean;
  colour: string | null; // of a bar under the number
  /** The value for sorting and copying; shares are in percent. */
  value(frame: Frame, row: number): number | string;
  text(frame: Frame, row: number): string;
  kind(frame: Frame, row: number): '' | 'zero' | 'missing' | 'over' | 'left-out';
}

const DECIMALS = 2;

export function columnsOf(app: App): Column[] {
  const { store, ui } = app;
  const head = store.head!, { axes3, axes4, groupBy } = ui.state;
  const entityOf = (frame: Frame, row: number) => store.entities[frame.entity[row]!]!;
  const columns = [
    text('name', 'name', 'name of the entity', (frame, row) => entityOf(frame, row).name || `#${frame.entity[row]}`),
    whole('id', 'id', 'its own number', (frame, row) => entityOf(frame, row).id),
  ];
  if (ui.groupings().includes('pid'))
    columns.push(whole('pid', 'pid', 'its process', (frame, row) => entityOf(frame, row).pid));
  if (groupBy !== 'none')
    columns.push(text('group', 'group', 'its group', (frame, row) => ui.groups()[ui.groupOf(frame.entity[row]!)]?.name ?? 'others'));
  columns.push(active(head), elapsed());
  axes3.forEach((axis, i) => columns.push(axisColumn(app, axis, vertexColours(head, 3)[i] ?? null, `axis3-${i}`)));
  axes4.forEach((axis, i) => {
    if (!axes3.some((other) => other.states.join() === axis.states.join()))
      columns.push(axisColumn(app, axis, vertexColours(head, 4)[i] ?? null, `axis4-${i}`));
  });
  const leftOut = [axes3, axes4].filter(({ length }) => length > 0).map((axes) => leftOutOf(axes, head.states.length));
  columns.push(...leftOut.filter((axis, i) => axis.states.length > 0 && (i === 0 || axis.states.join() !== leftOut[0]!.states.join()))
    .map((axis, i) => leftOutColumn(app, axis, `left-out-${i}`)));
  columns.push(unaccounted());
  for (const label of head.labels ?? [])
    columns.push(text(`label-${label}`, label, `its ${label}`, (frame, row) => entityOf(frame, row).labels?.[label] ?? ''));
  const alone = new Set([...axes3, ...axes4, ...leftOut].filter(({ states }) => states.length === 1).map(({ states }) => states[0]));
  head.states.forEach((state, i) => {
    if (!alone.has(i))
      columns.push(share(`state-${i}`, state.title, helpOf(state), null, (frame, row) => (frame.shares[i]?.[row] ?? 0) * frame.unit));
  });
  return columns;
}

function text(key: string, title: string, help: string, value: (frame: Frame, row: number) => string): Column {
  return { key, title, help, isNumber: false, colour: null, value, text: value, kind: () => '' };
}

function whole(key: string, title: string, help: string, value: (frame: Frame, row: number) => number): Column {
  return { key, title, help, isNumber: true, colour: null, value, text: (frame, row) => String(value(frame, row)), kind: () => '' };
}

function active(head: Head): Column {
  const value = (frame: Frame, row: number) => Math.round(1e4 * activeOf(frame, head).sums[row]!) / 1e4;
  const help = 'active time in seconds a second, as in the ranking: without idle and parked time';
  return { ...whole('active', 'active', help, value), text: (frame, row) => digits(value(frame, row)) };
}

function elapsed(): Column {
  const value = (frame: Frame, row: number) => frame.elapsed[row]! * frame.lengthMs;
  const help = 'its own time within the interval';
  return { ...whole('elapsed', 'elapsed ms', help, value), text: (frame, row) => duration(value(frame, row)), title: 'elapsed' };
}

/** A column with a share in percent. */
function share(key: string, title: string, help: string, colour: string | null, of: (frame: Frame, row: number) => number): Column {
  const value = (frame: Frame, row: number) => 100 * of(frame, row);
  return {
    key, title: `${title} %`, help, isNumber: true, colour, value,
    text: (frame, row) => digits(value(frame, row)),
    kind: (frame, row) => (of(frame, row) === 0 ? 'zero' : ''),
  };
}

function digits(value: number): string {
  return value === 0 ? '0' : value.toFixed(DECIMALS).replace('-', '−');
}

const helpOf = (state: State) => `${state.help || state.title} (${state.provenance})`;

function axisColumn(app: App, axis: Axis, colour: string | null, key: string): Column {
  const states = axis.states.map((state) => app.store.head!.states[state]!);
  const [only] = states;
  const isAlone = states.length === 1; // the axis is the state's column
  const title = isAlone && axis.name.toLowerCase() !== only!.title.toLowerCase() ? `${axis.name} (${only!.title})` : axis.name;
  return share(key, title, isAlone ? helpOf(only!) : states.map((state) => state.title).join(' + '), colour, (frame, row) => {
    let sum = 0;
    for (const state of axis.states) sum += frame.shares[state]?.[row] ?? 0;
    return sum * frame.unit;
  });
}

/** Returns the states that a picture leaves out, as an axis. */
const leftOutOf = (axes: Axis[], states: number): Axis => ({ name: 'left out', states: restOf(axes, states) });

function leftOutColumn(app: App, axis: Axis, key: string): Column {
  const column = axisColumn(app, axis, null, key);
  return { ...column, kind: (frame, row) => (Number(column.value(frame, row)) > 100 * LEFT_OUT ? 'left-out' : column.kind(frame, row)) };
}

function unaccounted(): Column {
  const of = (frame: Frame, row: number) => frame.unaccounted[row]!;
  return {
    ...share('unaccounted', 'unaccounted', 'time in no state; below 0: accounted twice', null, of),
    kind: (frame, row) => (of(frame, row) > MISSING ? 'missing' : of(frame, row) < -MISSING ? 'over' : 'zero'),
  };
}
