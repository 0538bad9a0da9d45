// Why the threads of a group waited in the shown frames: its states divided by what caused them, the chain of causes, and
// what it inflicted on others; of a file also the stacks of its sleeps.
import './why.css';
import { addressOf } from './address';
import { BlockerSum } from './blocker_sum';
import { NAME, OTHER } from './cause_block';
import { CauseRange } from './cause_range';
import { groupKey, groupName, type SumGroup } from './cause_sum';
import { whyOf } from './cause_tree';
import { button, element, setText } from './dom';
import { clock, count } from './format';
import { copyButton } from './parts';
import { isDark, onThemeChange } from './theme';
import type { App, View, ViewFactory } from './types';
import { groupNamed, groupWanted, sortedGroups, wantedOf, type Wanted } from './why_choice';
import { readWhyFile, type Why } from './why_data';
import { Flame } from './why_flame';
import { idleLast } from './why_layout';
import { blockersOf, callsOf, chainOf, inflictedOf, linkButton, lossesOf, treeOf, wholeOf } from './why_parts';
import { classOfState } from './why_words';

const LIVE_COMMAND = 'camp view --why';
const RECORD_COMMAND = 'camp record --why';
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
  private readonly range;
  private group = ''; // the key of a group of the ledger; '': all threads
  private groupText = ''; // its name when it was last seen
  private wanted: Wanted | null = null; // what another view chose, until its group is found
  private made: { from: number; to: number; group: string; why: Why } | null = null; // of which frames and group
  private file: { name: string; intervals: Why[] } | null = null;
  private fault = ''; // of a file
  private shown: Why | null = null;
  private drawn: unknown[] = [];
  private chosen: unknown[] = []; // in other views
  private isWhole = false; // small states are listed, too
  private offered = '';

  constructor(private readonly app: App) {
    this.flame = new Flame(app);
    this.range = new CauseRange(app.store);
    const open = button('Open a file…', { class: 'small', title: 'the output of camp why --json' }, () => this.input.click());
    this.element = element('section', { class: 'panel wide why', id: 'why', 'aria-label': 'Why' },
      element('header', {}, element('h2', {}, 'Why did it wait?'), this.caption, element('div', { class: 'choices' }, this.choice, this.timeChoice, this.input, open, this.close)),
      this.note, this.help, this.sentence, this.content, this.losses, this.flame.element);
    this.select.addEventListener('change', () => this.choose(this.select.value));
    this.times.addEventListener('change', () => app.redraw(this));
    this.input.addEventListener('change', () => void this.openFile(this.input.files?.[0]));
    for (const type of ['dragover', 'drop'] as const) this.element.addEventListener(type, (event) => this.dropped(event));
    for (const part of [this.content, this.flame.element])
      for (const type of ['pointerleave', 'focusout']) part.addEventListener(type, () => app.redraw(this));
    onThemeChange(() => (this.drawn = []));
    addressOf(app).keep('why', { get: () => this.group, set: (text) => /^\d /.test(text) && this.choose(text) });
  }

  /** Do the frames have causes, or trees of blockers? */
  private get isServed(): boolean {
    const { head } = this.app.store;
    return head?.causes !== undefined || head?.blockers === true;
  }

  private get groups(): readonly SumGroup[] {
    return this.range.sum?.groups ?? [];
  }

  /** The shown frames [from, to). */
  private get frames(): [from: number, to: number] {
    const { store, ui: { state: { range, current } } } = this.app, at = Math.min(Math.max(current, store.firstFrame), store.endFrame - 1);
    return range ? [Math.max(range[0], store.firstFrame), Math.min(range[1], store.endFrame)] : [at, at + 1];
  }

  draw(): void {
    const { store: { head, firstFrame, endFrame } } = this.app;
    if (!head) return;
    this.followChoice();
    const isReading = this.isServed && !this.file && endFrame > firstFrame && !this.range.read(...this.frames, this.group);
    if (isReading) this.app.redraw(this);
    else this.resolve();
    this.offer();
    const why = isReading ? this.shown : this.pick(), note = this.noteOf(why, isReading);
    this.note.hidden = note === '';
    setText(this.note, note);
    this.showHelp(why);
    this.choice.hidden = !head.causes || this.file !== null;
    this.close.hidden = this.file === null;
    const now = [why, head, isDark(), why?.blockers && this.app.ui.state.pinned];
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
    const wanted = isPin ? wantedOf(this.app, [last]) : brush && wantedOf(this.app, brush);
    if (wanted !== null) this.wanted = wanted;
  }

  /** Finds the group that another view chose, once the groups are known. */
  private resolve(): void {
    const { groups, wanted } = this;
    if (!wanted || groups.length === 0) return;
    const found = groupWanted(groups, wanted) ?? groups.find(({ kind }) => kind === OTHER);
    if (!found) return;
    if (found.kind !== OTHER) this.wanted = null;
    if (groupKey(found) !== this.group) this.choose(groupKey(found), false);
  }

  private choose(group: string, isOwn = true): void {
    this.group = group;
    this.groupText = group.slice(2);
    if (isOwn) this.wanted = null;
    addressOf(this.app).changed();
    this.app.redraw(this);
  }

  /** Offers the groups that have threads. The list stays the same while it has the focus, because it may be open. */
  private offer(): void {
    if (document.activeElement === this.select && this.offered !== '') return;
    const groups = sortedGroups(this.groups).filter((group) => group.threads > 0 || groupKey(group) === this.group);
    const options = [['', 'all threads'], ...groups.map((group) => [groupKey(group), groupName(group)])];
    if (this.group !== '' && !options.some(([key]) => key === this.group)) options.push([this.group, this.groupText]);
    const names = options.flat().join('\n');
    if (names !== this.offered || this.select.options.length === 0) {
      this.offered = names;
      this.select.replaceChildren(...options.map(([value, name]) => element('option', { value: value! }, name!)));
    }
    this.select.value = this.group;
  }

  /** What to show: of a file the chosen interval, otherwise the shown frames. While frames go on, it stays as long as the
   * pointer or the keyboard is in it. */
  private pick(): Why | null {
    if (this.file) return this.file.intervals[Number(this.times.value)] ?? null;
    const { sum, without } = this.range, [from, to] = this.frames;
    if (!sum || without === to - from) return null;
    if (this.isHeld && this.shown && this.made?.why === this.shown && this.made.group === this.group) return this.shown;
    const { made } = this;
    if (made && made.from === from && made.to === to && made.group === this.group) return made.why;
    const { endMs } = this.app.shown();
    const why = sum instanceof BlockerSum ? sum.why(endMs) : whyOf(sum, this.group === '' ? null : this.subject, endMs);
    this.made = { from, to, group: this.group, why };
    return why;
  }

  /** The chosen group, without time if it is not in the shown frames. */
  private get subject(): SumGroup {
    const found = this.groups.find((group) => groupKey(group) === this.group);
    if (found) this.groupText = groupName(found);
    return found ?? { number: -1, kind: NAME, pid: 0, threads: 0, reduced: 0, name: this.groupText };
  }

  private get isHeld(): boolean {
    const { following, playing } = this.app.ui.state;
    return (following || playing) && [this.content, this.flame.element].some((part) => part.matches(':hover') || part.querySelector(':focus-visible') !== null);
  }

  /** Says in one line what is missing. */
  private noteOf(why: Why | null, isReading: boolean): string {
    const { range, wanted, fault, app: { store } } = this;
    if (fault) return fault;
    if (this.file || !this.isServed) return '';
    if (store.endFrame === store.firstFrame) return '';
    const [done, all] = range.progress, frames = all === 1 ? 'this interval' : `these ${count(all)} intervals`;
    if (isReading) return `Adding up the causes of ${count(done)} of ${count(all)} intervals…`;
    if (range.fault) return `The causes of ${range.without < all ? `${count(range.without)} of ${frames}` : frames} cannot be read: ${range.fault}.`;
    if (range.without === all) return `${all === 1 ? 'This interval has' : `These ${count(all)} intervals have`} no causes of waits.`;
    if (range.without > 0) return `${count(range.without)} of ${frames} have no causes of waits: these are of the others.`;
    if (wanted)
      return `${wanted.name} has no group of its own, as one of the 53 names that the ledger tells apart: these are all other processes together. camp why NAME, in a terminal, watches one name.`;
    return why && this.isHeld && this.made?.to !== this.frames[1] ? 'Held while the pointer or the keyboard is in it.' : '';
  }

  /** Says how to get causes, if there are none. */
  private showHelp(why: Why | null): void {
    const { head } = this.app.store;
    this.help.hidden = this.isServed || why !== null;
    if (this.help.hidden || this.help.childElementCount > 0) return;
    const command = head!.live ? LIVE_COMMAND : RECORD_COMMAND, code = element('code', {}, command);
    this.help.append(head!.live ? 'The causes of waits are not measured. They are shown of the threads of this machine by ' : 'This data has no causes of waits. They are in recordings of ',
      code, ' ', copyButton(code), '. A file of camp why --json can be opened here, or dropped.');
  }

  private show(): void {
    const head = this.app.store.head!, why = this.shown && { ...this.shown, tree: idleLast(this.shown.tree, (state) => classOfState(head, state).name === 'idle') };
    const focused = this.content.contains(document.activeElement) ? document.activeElement?.getAttribute('data-key') : null;
    setText(this.caption, why ? this.captionOf(why) : '');
    const hasTime = why !== null && (why.blockers !== undefined || why.tree.length > 0);
    setText(this.sentence, !why ? '' : hasTime ? why.sentence : `${why.subject} had no time in this interval.`);
    const link = (name: string): HTMLElement => {
      const group = this.file ? undefined : groupNamed(this.groups, name);
      return group ? linkButton(name, () => this.choose(groupKey(group))) : element('span', {}, name);
    };
    const parts = !hasTime ? [] : why.blockers ? [blockersOf(this.app, why.blockers)]
      : [wholeOf(head, why), treeOf(head, why, link, this.isWhole, () => this.unfold()), chainOf(head, why, link), inflictedOf(head, why, link), callsOf(head, why)];
    this.content.replaceChildren(...parts.filter((part) => part !== null));
    if (focused) [...this.content.querySelectorAll<HTMLElement>('[data-key]')].find((one) => one.dataset.key === focused)?.focus();
    setText(this.losses, why && hasTime ? lossesOf(why).join(' ') : '');
    this.flame.show(why?.stacks ?? []);
  }

  private captionOf(why: Why): string {
    return [this.file?.name ?? '', why.subject, `${why.seconds.toFixed(2)} s until ${Number.isNaN(why.endMs) ? why.time || '?' : clock(why.endMs, 1000)}`,
      why.blockers ? '' : `${count(why.threads)} ${why.threads === 1 ? 'thread' : 'threads'}`].filter(Boolean).join(' · ');
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
