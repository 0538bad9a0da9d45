// The details of a chosen group of entities: where its time went, in words and as a bar, its states,
// its history, and the command that shows more.
import { blockersCommand, commandBelow, commandFor } from './actions';
import { classesOf, colourOf, IDLE } from './classes';
import { inkOn } from './colour';
import { button, element, setText } from './dom';
import { count, duration, percent } from './format';
import { copyButton } from './parts';
import { bar, change, setSpark, spark, type Part } from './ranking_parts';
import { currentTheme, prefersLessMotion } from './theme';
import type { App, Frame, GroupBy, Head } from './types';

/** What is to be shown. */
export interface Shown {
  frame: Frame;
  members: ReadonlySet<number>;
  by: GroupBy;
  key: string;
  name: string;
  active: number; // in intervals
  before: number | null;
  kindChange: string; // "mostly CPU before, mostly lock now", or ''
  parked: number;
  history: number[];
  span: [from: number, to: number]; // frames of the history
  canOpen: boolean;
}

/** The time of all members, in intervals. */
interface Times {
  present: number;
  elapsed: number;
  states: Float64Array;
  unaccounted: number; // below 0: accounted twice
}

const VERBS: Record<string, string> = {
  cpu: 'Runs on a CPU', run_queue: 'Waits for a CPU', throttled: 'Held back by its quota', disk: 'Asleep for disks',
  lock: 'Waits for locks', network: 'Waits for the network', wait: 'Waits for something else', idle: 'Idle', '': 'In states of unknown meaning',
};
const WAITS: ReadonlySet<string | undefined> = new Set(['disk', 'lock', 'network', 'wait']); // asleep, and not idle
const LEAST = 0.005; // a smaller share is in no sentence
const NAMED = 15; // percent of the bar, from which a part has space for its name

/** A command to copy. */
class Command {
  private readonly code = element('code');
  readonly element = element('div', { class: 'command' }, this.code, copyButton(this.code));

  show(command: string | null): void {
    this.element.hidden = command === null;
    setText(this.code, command ?? '');
  }
}

export class Details {
  readonly element: HTMLElement;
  private readonly title = element('h3');
  private readonly about = element('small');
  private readonly sentence = element('p');
  private readonly whole = element('div');
  private readonly states = element('tbody');
  private readonly history = spark();
  private readonly past = element('small');
  private readonly command = new Command();
  private readonly blockers = new Command(); // of a group that waits for locks
  private readonly openButton = button('', { class: 'small open' }, () => this.events.open());

  constructor(private readonly app: App, private readonly events: { open(): void; close(): void }) {
    this.element = element('section', { class: 'details', id: 'details', 'aria-label': 'Details', hidden: '' },
      element('header', {}, this.title, this.about, element('div', { class: 'choices' }, this.openButton,
        button('×', { class: 'small', 'aria-label': 'Close the details' }, () => this.events.close()))),
      this.sentence, this.whole, this.blockers.element, this.command.element,
      element('div', { class: 'states', tabindex: '0', role: 'group', 'aria-label': 'Its states' }, element('table', {}, this.states)),
      this.history, this.past);
  }

  hide(): void {
    this.element.hidden = true;
  }

  /** Scrolls until the next command is above the player. */
  reveal(): void {
    const last = [this.command.element, this.blockers.element, this.whole].find((one) => !one.hidden)!;
    last.scrollIntoView({ block: 'nearest', behavior: prefersLessMotion() ? 'auto' : 'smooth' });
  }

  show(shown: Shown): void {
    const head = this.app.store.head!, times = timesOf(shown.frame, shown.members);
    this.element.hidden = false;
    setText(this.title, shown.name);
    setText(this.about, this.aboutText(shown));
    const classes = classTimes(head, times);
    setText(this.sentence, sentence(classes, times, shown.parked));
    this.showBar(head, classes, times);
    this.showStates(head, times, shown.frame);
    this.showHistory(shown);
    const most = classes.find(([name, time]) => name !== IDLE && time > 0)?.[0];
    this.blockers.show(most === 'lock' ? blockersCommand(this.app) : null);
    this.command.show(this.commandOf(shown, WAITS.has(most)));
    this.openButton.hidden = !shown.canOpen;
    setText(this.openButton, `open: ${count(shown.members.size)} ${shown.members.size === 1 ? 'member' : 'members'}`);
  }

  /** "pid 41207 and 3 more · uid 0 · database shop": what all or some members have. */
  private aboutText({ members, frame }: Shown): string {
    const { entities, head } = this.app.store, all = [...members].map((n) => entities[n]!);
    const one = (title: string, values: (string | number | undefined)[]) => {
      const distinct = [...new Set(values.filter((value) => value !== undefined && value !== 0 && value !== ''))];
      return distinct.length === 0 ? '' : `${title} ${distinct[0]}${distinct.length > 1 ? ` and ${count(distinct.length - 1)} more` : ''}`;
    };
    const hasPids = all.some(({ pid }) => pid > 0);
    const labels = (head?.labels ?? []).map((label) => one(label, all.map((entity) => entity.labels?.[label])));
    const uids = [...new Set(all.map(({ uid }) => uid))];
    const present = all.filter(({ n }) => (frame.rowOf[n] ?? -1) >= 0).length;
    return [one('pid', all.map(({ pid }) => pid)), hasPids ? `uid ${uids.slice(0, 3).join(', ')}${uids.length > 3 ? ', …' : ''}` : '', ...labels,
      all.length > 1 ? `${count(present)} of ${count(all.length)} ${head!.kind || 'members'} present` : present === 0 ? 'absent' : ''].filter(Boolean).join(' · ');
  }

  private showBar(head: Head, classes: [name: string, time: number][], times: Times): void {
    const of = new Map(classes), kinds = classesOf(head), most = Math.max(times.elapsed, classes.reduce((sum, [, time]) => sum + time, 0)) || 1;
    const parts: Part[] = kinds.map((kind) => [kind.name, colourOf(kind), of.get(kind.name) ?? 0]);
    if (times.unaccounted > 0) parts.push(['unaccounted', currentTheme().missing, times.unaccounted]);
    const titles = new Map([...kinds.map(({ name, title }) => [name, title] as const), ['unaccounted', 'unaccounted']]);
    const words = parts.filter(([, , time]) => time > 0).map(([name, , time]) => `${titles.get(name)} ${percent(time / most)}`);
    const made = bar(parts, most, words.join(', '));
    for (const part of made.children as HTMLCollectionOf<HTMLElement>) {
      const name = part.dataset.class!, share = parseFloat(part.style.width);
      if (share >= NAMED) part.textContent = `${titles.get(name)} ${Math.round(share)} %`;
      part.style.color = inkOn(parts.find(([one]) => one === name)![1]);
    }
    this.whole.replaceChildren(made);
  }

  private showStates(head: Head, times: Times, frame: Frame): void {
    const line = (name: string, time: number, provenance: string, help = '') => element('tr', help ? { title: help } : {}, element('th', { scope: 'row' }, name),
      element('td', {}, percent(time / (times.elapsed || 1))), element('td', {}, duration(time * frame.lengthMs)), element('td', {}, element('small', {}, provenance)));
    const some = head.states.map((state, i) => [state, times.states[i]!] as const).filter(([, time]) => time > 0).sort((a, b) => b[1] - a[1]);
    const rest = Math.abs(times.unaccounted) < 1e-6 ? []
      : [line(times.unaccounted > 0 ? 'unaccounted' : 'accounted twice', Math.abs(times.unaccounted), '')];
    this.states.replaceChildren(...some.map(([state, time]) => line(state.title, time, state.provenance, state.help)), ...rest);
  }

  private showHistory({ history, span: [from, to], active, before, kindChange }: Shown): void {
    const { range, current } = this.app.ui.state, [first, end] = range ?? [current, current + 1];
    setSpark(this.history, history, [(first - from) / (to - from), (end - from) / (to - from)]);
    const [text, direction] = change(active, before);
    const words = { up: 'more than', down: 'less than', '': 'as' }[direction];
    setText(this.past, [`active ${active.toFixed(2)}, at most ${Math.max(active, ...history).toFixed(2)}`,
      text ? `${text}: ${words} before${before ? ` (${before.toFixed(2)})` : ''}` : '', kindChange].filter(Boolean).join(' · '));
  }

  private commandOf({ members, by, key }: Shown, isWaiting: boolean): string | null {
    const [only] = members;
    return (members.size === 1 ? commandBelow(this.app, only!) : null) ?? commandFor(this.app, by, key, members, isWaiting);
  }
}

function timesOf(frame: Frame, members: ReadonlySet<number>): Times {
  const times: Times = { present: 0, elapsed: 0, states: new Float64Array(frame.shares.length), unaccounted: 0 };
  for (const n of members) {
    const row = frame.rowOf[n] ?? -1;
    if (row < 0) continue;
    const elapsed = frame.elapsed[row]!;
    times.present++;
    times.elapsed += elapsed;
    times.unaccounted += frame.unaccounted[row]! * elapsed;
    frame.shares.forEach((column, i) => {
      if (column) times.states[i]! += column[row]! * frame.unit * elapsed;
    });
  }
  return times;
}

/** Times by class, the most first. */
function classTimes(head: Head, { states }: Times): [name: string, time: number][] {
  return classesOf(head).map(({ name }): [string, number] =>
    [name, head.states.reduce((sum, state, i) => sum + (state.class === name ? states[i]! : 0), 0)]).sort((a, b) => b[1] - a[1]);
}

function sentence(classes: [name: string, time: number][], { present, elapsed, unaccounted }: Times, parked: number): string {
  if (present === 0 || elapsed === 0) return 'Absent in the time that is shown.';
  const said = classes.filter(([, time]) => time / elapsed >= LEAST);
  const active = said.filter(([name]) => name !== IDLE), idle = said.filter(([name]) => name === IDLE);
  const words = [...active, ...idle].map(([name, time], i) => `${VERBS[name] ?? name} ${percent(time / elapsed)}${i === 0 ? ' of its time' : ''}.`);
  if (unaccounted / elapsed >= LEAST) words.push(`Unaccounted ${percent(unaccounted / elapsed)}.`);
  if (parked > 0) words.push(`${count(parked)} ${parked === 1 ? 'is' : 'are'} parked: in a lock all the time, which does not count as active.`);
  return words.join(' ');
}
