// The parts of the view "Why": the tree of causes, the chain, what a group inflicted, the system calls.
import { pin } from './actions';
import { inkOn } from './colour';
import { button, element } from './dom';
import { count, duration } from './format';
import type { App, Head } from './types';
import type { BlockerRow, Why, WhyRow } from './why_data';
import { barsOf, firstSmall } from './why_layout';
import { classOfState, endTitle, fillOf, rowTitle, stateColour, stateTitle } from './why_words';

/** A name that leads to the causes of that group, if there is such a group. */
export type Link = (name: string) => HTMLElement;

const hundredths = (percent: number): string => `${percent.toFixed(2)} %`;
const LINES = 200; // of each table
const LEAST = 0.005; // percent: smaller ones would be written as 0.00 %
const THIN = 0.4; // percent of the width: narrower bars have no space for a pattern
const DEEPEST = 12; // steps to the right
const NAMED = 12; // percent of the bar, from which a state has space for its name

function table(name: string, titles: [title: string, help?: string, kind?: string][], rows: HTMLElement[]): HTMLElement {
  return element('div', { class: 'why-scroll', tabindex: '0', role: 'group', 'aria-label': name }, element('table', { 'aria-label': name },
    element('thead', {}, element('tr', {}, ...titles.map(([title, help = '', kind = '']) => element('th', { scope: 'col', ...(help ? { title: help } : {}), ...(kind ? { class: kind } : {}) }, title)))),
    element('tbody', {}, ...rows)));
}

function section(title: string, content: HTMLElement): HTMLElement {
  return element('section', { class: 'why-part', 'aria-label': title }, element('h3', {}, title), content);
}

/** A bar in a cell. It says nothing that the numbers beside it do not say. */
function bar(from: number, width: number, colour: string, kind = ''): HTMLElement {
  const made = element('i', { class: kind });
  made.hidden = width === 0;
  if (width < THIN) made.classList.add('thin');
  made.style.left = `${from}%`;
  made.style.width = `${width}%`;
  made.style.color = colour;
  return element('td', { class: 'why-bar', 'aria-hidden': 'true' }, made);
}

/** The tree of causes. Small states at its end are one line, until `unfold` is called. Without lengths of waits, as of all
 * threads, it has no columns for them. */
export function treeOf(head: Head, why: Why, link: Link, isWhole: boolean, unfold: () => void): HTMLElement {
  const hasWaits = why.tree.some(({ waits }) => waits), spans = barsOf(why.tree), end = isWhole ? -1 : firstSmall(why.tree);
  const line = (row: WhyRow, i: number) => {
    const { from, width } = spans[i]!, { waits, level } = row, isGroup = level === 'who' && row.merged === 0 && row.cause === 'group';
    const name = rowTitle(head, row, why), ms = (value: number | undefined) => element('td', {}, value === undefined ? '' : duration(value));
    return element('tr', { class: `why-${level}`, 'data-row': [row.state, row.cause, name].join(' ') },
      element('th', { scope: 'row', title: name }, isGroup ? link(row.who) : name), bar(from, width, stateColour(head, row.state), `${level} ${fillOf(row) || classOfState(head, row.state).name}`),
      element('td', {}, hundredths(row.percent)), ms(row.ms), ...(hasWaits ? [element('td', {}, waits ? count(waits.count) : ''), ms(waits?.p50), ms(waits?.p99), ms(waits?.max)] : []));
  };
  const titles: [string, string?][] = [['state, cause, who'], [''], ['%', 'of the time of its threads; parts add up to their whole'], ['time'], ['waits', 'that ended in the interval'],
    ['p50', 'half of these waits were no longer, to a factor of 2'], ['p99', '99 % of these waits were no longer, to a factor of 2'], ['max', 'the longest of these waits']];
  const shown = why.tree.slice(0, end < 0 ? 5 * LINES : end).map(line), rest = end < 0 ? [] : why.tree.slice(end).filter(({ level }) => level === 'state');
  const sum = (of: (row: WhyRow) => number) => rest.reduce((all, row) => all + of(row), 0);
  if (rest.length > 0)
    shown.push(element('tr', { class: 'why-state' }, element('th', { scope: 'row' }, button(`${rest.length} more states`, { class: 'name why-link', 'data-key': 'more' }, unfold)),
      element('td'), element('td', {}, hundredths(sum(({ percent }) => percent))), element('td', {}, duration(sum(({ ms }) => ms)))));
  return table('Causes: each state, what caused it, and who', hasWaits ? titles : titles.slice(0, 4), shown);
}

/** The blockers of sessions, as trees. A press on a session that the page has pins it. */
export function blockersOf(app: App, rows: readonly BlockerRow[]): HTMLElement | null {
  if (rows.length === 0) return null;
  const { store: { entities }, ui: { state: { pinned } } } = app, numbers = new Map([...app.shown().entity].map((n) => [entities[n]!.id, n] as const));
  const time = (ms: number) => element('td', {}, ms > 0 ? duration(ms) : ''), textual = (text: string) => element('td', { class: 'text', title: text }, text);
  return table('Who blocks whom', [['session'], ['waited', 'for the session above it'], ['blocked', 'how long the sessions below it waited'], ['sessions', 'below it'], ['activity', 'at the end of the interval', 'text'], ['last statement', '', 'text']],
    rows.slice(0, 5 * LINES).map(({ id, depth, ms, blockingMs, waiting, isRepeated, name, activity, statement }) => {
      const n = numbers.get(id), title = element('th', { scope: 'row', title: name },
        n === undefined ? name : button(name, { class: 'name why-link', 'data-key': `${id} ${depth}`, 'aria-pressed': String(pinned.has(n)) }, () => pin(app, n)), isRepeated ? ' ...' : '');
      title.style.paddingLeft = `${14 * Math.min(depth, DEEPEST)}px`;
      return element('tr', { 'data-depth': String(depth) }, title, time(ms), time(blockingMs), element('td', {}, depth > 0 ? '' : count(waiting)), textual(activity), textual(statement));
    }));
}

/** The chain of causes, an arrow for each wait. */
export function chainOf(head: Head, why: Why, link: Link): HTMLElement | null {
  if (why.chain.length === 0) return null;
  const arrow = (text: string) => element('span', { class: 'why-arrow' }, text), name = (who: HTMLElement | string) => element('b', {}, who);
  const steps = why.chain.flatMap(({ who, state, percent, cause, by, onCpu }, i): HTMLElement[] => {
    if (state === '') return [element('li', {}, name(link(who)), ` was on a CPU ${onCpu.toFixed(1)} % of its time`)];
    const isLast = i === why.chain.length - 1, end = by || endTitle(cause);
    return [element('li', {}, name(link(who)), arrow(`waited ${percent.toFixed(1)} % in ${stateTitle(head, state)} for`)),
      ...(isLast ? [element('li', {}, name(cause === 'group' ? link(end) : end))] : [])];
  });
  return section('What it waited for, and what that waited for', element('ol', { class: 'why-chain' }, ...steps));
}

export function inflictedOf(head: Head, why: Why, link: Link): HTMLElement | null {
  const [first] = why.inflicted;
  if (!first) return null;
  return section('Who waited for a CPU behind it', table('Who waited for a CPU behind it', [['who'], [''], ['time']], why.inflicted.slice(0, LINES).map(({ who, ms }) =>
    element('tr', {}, element('th', { scope: 'row', title: who }, link(who)), bar(0, (100 * ms) / (first.ms || 1), stateColour(head, 'run_queue')), element('td', {}, duration(ms))))));
}

export function callsOf(head: Head, why: Why): HTMLElement | null {
  if (why.calls.length === 0) return null;
  return section('Sleeps by system call', table('Sleeps by system call', [['system call'], ['object', '', 'text'], ['state', '', 'text'], ['%', 'of the time of its threads'], ['time'], ['sleeps']], why.calls.slice(0, LINES).map((call) =>
    element('tr', {}, element('th', { scope: 'row' }, call.call), element('td', { class: 'text', title: call.object }, call.object), element('td', { class: 'text' }, stateTitle(head, call.state)),
      element('td', {}, hundredths(call.percent)), element('td', {}, duration(call.ms)), element('td', {}, count(call.count))))));
}

/** What is not known, or not exact. */
export function lossesOf({ unseen, unattributed, others, reduced, note = '', blockers = [] }: Why): string[] {
  return [
    note, blockers.length > 5 * LINES ? `${count(blockers.length - 5 * LINES)} more rows: camp why --top 0 shows all.` : '',
    unattributed >= LEAST ? `${hundredths(unattributed)} of the time cannot be attributed.` : '',
    unseen > 0 ? `${count(unseen)} ${unseen === 1 ? 'switch' : 'switches'} went unseen: what ${unseen === 1 ? 'it' : 'they'} caused is estimated.` : '',
    others >= LEAST ? `${hundredths(others)} was caused by other processes, whose names came too late to be told apart.` : '',
    reduced >= LEAST ? `The causes had ${hundredths(reduced)} more than their states, and were reduced in proportion.` : '',
  ].filter(Boolean);
}

/** The states as one bar of 100 %. */
export function wholeOf(head: Head, why: Why): HTMLElement {
  const states = why.tree.filter(({ level, percent }) => level === 'state' && percent > 0);
  const words = states.map(({ state, percent }) => `${stateTitle(head, state)} ${hundredths(percent)}`).join(', ');
  return element('div', { class: 'bar-parts', role: 'img', 'aria-label': words, title: words }, ...states.map(({ state, percent }) => {
    const part = element('i', { 'data-state': state });
    const colour = stateColour(head, state);
    part.style.width = `${percent}%`;
    part.style.background = colour;
    part.style.color = inkOn(colour);
    if (percent >= NAMED) part.textContent = `${stateTitle(head, state)} ${hundredths(percent)}`;
    return part;
  }));
}

/** A button for a name that leads somewhere. */
export const linkButton = (name: string, go: () => void): HTMLElement => button(name, { class: 'name why-link', title: `Why ${name} waited`, 'data-key': name }, go);
