// Why the threads of a group waited: its states divided by what caused them, the chain of causes, what it inflicted on
// others, and the stacks of its sleeps. The data is of the server, as long as this view is open, or of a file.
import './why.css';
import { button, element, setText } from './dom';
import { clock, count } from './format';
import { copyButton } from './parts';
import { isDark, onThemeChange } from './theme';
import type { App, View, ViewFactory } from './types';
import { groupNamed, groupNameOfAll, sortedGroups } from './why_choice';
import { readWhyFile, type Why } from './why_data';
import { Flame } from './why_flame';
import { callsOf, chainOf, inflictedOf, linkButton, lossesOf, treeOf, wholeOf } from './why_parts';
import { WhySource } from './why_source';

const COMMAND = 'camp view --why';
const ALL = 'all';
const FILE_BYTES = 64 << 20;

class WhyView implements View {
  readonly element: HTMLElement;
  private readonly caption = element('p', { class: 'caption' });
  private readonly select = element('select', { id: 'why-group', 'aria-label': 'Causes of' });
  private readonly choice = element('label', { class: 'choice' }, element('span', {}, 'of'), this.select);
  private readonly times = element('select', { id: 'why-time', 'aria-label': 'Interval' });
  private readonly timeChoice = element('label', { class: 'choice', hidden: '' }, element('span', {}, 'interval'), this.times);
  private readonly input = element('input', { type: 'file', class: 'unseen', tabindex: '-1', 'aria-hidden': 'true', accept: '.json,.ndjson,application/json' });
  private readonly close = button('Close the file', { class: 'small', hidden: '' }, () => this.closeFile());
  private readonly note = element('p', { class: 'why-note', hidden: '' });
  private readonly help = element('p', { class: 'why-help', hidden: '' });
  private readonly sentence = element('p', { class: 'why-sentence' });
  private readonly content = element('div', { class: 'why-content' });
  private readonly losses = element('p', { class: 'why-losses' });
  private readonly flame;
  private readonly source;
  private group: number | null = null; // of the ledger; null: all threads
  private wanted = ''; // the name that another view chose, until it is found
  private file: { name: string; intervals: Why[] } | null = null;
  private fault = ''; // of a file
  private shown: Why | null = null;
  private drawn: unknown[] = [];
  private chosen: unknown[] = []; // in other views
  private isWhole = false; // small states are listed, too
  private offered = '';

  constructor(private readonly app: App) {
    this.flame = new Flame(app);
    this.source = new WhySource(() => this.group, () => this.isOpen, () => app.redraw(this));
    const open = button('Open a file…', { class: 'small', title: 'the output of camp why --json' }, () => this.input.click());
    this.element = element('section', { class: 'panel wide why', id: 'why', 'aria-label': 'Why' },
      element('header', {}, element('h2', {}, 'Why did it wait?'), this.caption, element('div', { class: 'choices' }, this.choice, this.timeChoice, this.input, open, this.close)),
      this.note, this.help, this.sentence, this.content, this.losses, this.flame.element);
    this.select.addEventListener('change', () => this.choose(this.select.value === ALL ? null : Number(this.select.value)));
    this.times.addEventListener('change', () => app.redraw(this));
    this.input.addEventListener('change', () => void this.openFile(this.input.files?.[0]));
    for (const type of ['dragover', 'drop'] as const) this.element.addEventListener(type, (event) => this.dropped(event));
    for (const part of [this.content, this.flame.element])
      for (const type of ['pointerleave', 'focusout']) part.addEventListener(type, () => app.redraw(this));
    onThemeChange(() => (this.drawn = []));
  }

  private get isOpen(): boolean {
    return this.element.checkVisibility() && !document.hidden && this.app.store.ended === null && this.app.store.silentSince === null;
  }

  private get isServed(): boolean {
    return this.app.store.head?.causes === true;
  }

  draw(): void {
    const { head } = this.app.store;
    if (!head) return;
    this.followChoice();
    if (this.isServed && !this.file) this.source.ask();
    this.resolve();
    this.offer();
    const why = this.pick(), note = this.noteOf(why);
    this.note.hidden = note === '';
    setText(this.note, note);
    this.showHelp(why);
    this.choice.hidden = !this.isServed || this.file !== null;
    this.close.hidden = this.file === null;
    const now = [why, head, isDark(), this.source.groups.map(({ name }) => name).join('\n')];
    if (now.every((value, i) => value === this.drawn[i])) return;
    this.drawn = now;
    this.shown = why;
    this.show();
  }

  back(): boolean {
    return this.element.checkVisibility() && this.flame.back();
  }

  /** A dot that was pinned, or a row of the ranking that was pressed, chooses the group of its process. */
  private followChoice(): void {
    const { pinned, brush } = this.app.ui.state, now = [pinned, brush];
    if (now.every((value, i) => value === this.chosen[i])) return;
    const last = [...pinned].pop(), isPin = pinned !== this.chosen[0] && last !== undefined;
    this.chosen = now;
    const name = isPin ? groupNameOfAll(this.app, [last]) : brush && groupNameOfAll(this.app, brush);
    if (name !== null) this.wanted = name;
  }

  /** Finds the group of the wanted name, once the groups are known. */
  private resolve(): void {
    const { groups } = this.source;
    if (!this.wanted || groups.length === 0) return;
    const found = groupNamed(groups, this.wanted) ?? groups.find(({ kind }) => kind === 'other');
    if (found && found.name === this.wanted) this.wanted = '';
    if (found && found.number !== this.group) this.choose(found.number, false);
  }

  private choose(group: number | null, isOwn = true): void {
    this.group = group;
    if (isOwn) this.wanted = '';
    this.source.ask(true);
    this.app.redraw(this);
  }

  /** Offers the groups that have threads. The list stays the same while it has the focus, because it may be open. */
  private offer(): void {
    if (document.activeElement === this.select && this.offered !== '') return;
    const groups = sortedGroups(this.source.groups).filter(({ threads, number }) => threads > 0 || number === this.group), names = groups.map(({ number, name }) => `${number} ${name}`).join('\n');
    if (names !== this.offered || this.select.options.length === 0) {
      this.offered = names;
      this.select.replaceChildren(element('option', { value: ALL }, 'all threads'), ...groups.map(({ number, name }) => element('option', { value: String(number) }, name)));
    }
    this.select.value = this.group === null ? ALL : String(this.group);
  }

  /** The interval to show: of a file the chosen one; the newest while frames are followed, otherwise that of the shown frame.
   * It stays while the pointer or the keyboard is in it. */
  private pick(): Why | null {
    if (this.file) return this.file.intervals[Number(this.times.value)] ?? null;
    const kept = this.source.of(this.group), newest = kept.at(-1) ?? null;
    if (this.isHeld && this.shown && kept.includes(this.shown)) return this.shown;
    if (this.app.ui.state.following || this.app.store.endFrame === this.app.store.firstFrame) return newest;
    const { endMs, lengthMs } = this.app.shown();
    return kept.find((why) => why.endMs > endMs - lengthMs / 2 && why.endMs <= endMs + lengthMs) ?? newest;
  }

  private get isHeld(): boolean {
    return [this.content, this.flame.element].some((part) => part.matches(':hover') || part.querySelector(':focus-visible') !== null);
  }

  private noteOf(why: Why | null): string {
    const { source, wanted, fault, app: { store, ui } } = this;
    if (fault) return fault;
    if (this.file || !this.isServed) return '';
    if (source.fault) return source.fault;
    if (!why) return store.ended === null ? 'Measuring: the first interval ends soon.' : '';
    if (wanted && source.groups.length > 0)
      return `${wanted} has no group of its own, as one of the 53 names that the ledger tells apart: these are all other processes together. camp why NAME, in a terminal, watches one name.`;
    if (!ui.state.following && store.endFrame > store.firstFrame) {
      const { endMs, lengthMs } = this.app.shown();
      if (!(why.endMs > endMs - lengthMs / 2 && why.endMs <= endMs + lengthMs))
        return `The causes of ${clock(endMs, lengthMs)} were not read, because this view was closed then. These are the newest ones.`;
    }
    return this.isHeld && why !== source.of(this.group).at(-1) ? 'Held while the pointer or the keyboard is in it.' : '';
  }

  /** Says how to get causes, if there are none. */
  private showHelp(why: Why | null): void {
    const { head } = this.app.store;
    this.help.hidden = this.isServed || why !== null;
    if (this.help.hidden || this.help.childElementCount > 0) return;
    const code = element('code', {}, COMMAND);
    this.help.append(head!.live ? 'The causes of waits are not loaded. ' : 'This data has no causes of waits. ',
      'They are shown of this machine, live, by ', code, ' ', copyButton(code), '. A file of camp why --json can be opened here, or dropped.');
  }

  private show(): void {
    const head = this.app.store.head!, { shown: why } = this;
    const focused = this.content.contains(document.activeElement) ? document.activeElement?.getAttribute('data-key') : null;
    setText(this.caption, why ? [this.file?.name ?? '', why.subject, `${why.seconds.toFixed(2)} s until ${Number.isNaN(why.endMs) ? why.time || '?' : clock(why.endMs, 1000)}`,
      `${count(why.threads)} ${why.threads === 1 ? 'thread' : 'threads'}`].filter(Boolean).join(' · ') : '');
    const hasTime = why !== null && why.tree.length > 0;
    setText(this.sentence, !why ? '' : hasTime ? why.sentence : `${why.subject} had no time in this interval.`);
    const link = (name: string): HTMLElement => {
      const group = this.file ? undefined : groupNamed(this.source.groups, name);
      return group ? linkButton(name, () => this.choose(group.number)) : element('span', {}, name);
    };
    this.content.replaceChildren(...(hasTime ? [wholeOf(head, why), treeOf(head, why, link, this.isWhole, () => this.unfold()), chainOf(head, why, link),
      inflictedOf(head, why, link), callsOf(head, why)].filter((part) => part !== null) : []));
    if (focused) [...this.content.querySelectorAll<HTMLElement>('[data-key]')].find((one) => one.dataset.key === focused)?.focus();
    setText(this.losses, why && hasTime ? lossesOf(why).join(' ') : '');
    this.flame.show(why?.stacks ?? []);
  }

  private unfold(): void {
    this.isWhole = true;
    this.drawn = [];
    this.app.redraw(this);
  }

  private dropped(event: DragEvent): void {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    if (event.type === 'drop') void this.openFile(event.dataTransfer.files[0]);
  }

  private async openFile(file: File | undefined): Promise<void> {
    if (!file) return;
    this.input.value = ''; // the same file can be opened again
    try {
      if (file.size > FILE_BYTES) throw new Error(`it is larger than ${FILE_BYTES >> 20} MB`);
      const intervals = readWhyFile(await file.text());
      this.file = { name: file.name, intervals };
      this.fault = '';
      this.times.replaceChildren(...intervals.map(({ endMs, time }, i) => element('option', { value: String(i) }, Number.isNaN(endMs) ? time || String(i + 1) : clock(endMs, 1000))));
      this.times.value = String(intervals.length - 1);
      this.timeChoice.hidden = intervals.length < 2;
      this.app.say(`${file.name} opened: ${count(intervals.length)} ${intervals.length === 1 ? 'interval' : 'intervals'}.`);
    } catch (error) {
      this.fault = `${file.name} is not the output of camp why --json: ${error instanceof Error ? error.message : String(error)}.`;
      this.app.say(this.fault);
    }
    this.app.redraw(this);
  }

  private closeFile(): void {
    this.file = null;
    this.fault = '';
    this.timeChoice.hidden = true;
    this.app.redraw(this);
  }
}

export const createWhy: ViewFactory = (app) => new WhyView(app);
