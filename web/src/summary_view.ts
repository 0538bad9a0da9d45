// The sentence at the top of the page. Its parts are buttons that dim all other entities.
import { button, element, setText } from './dom';
import { brush } from './actions';
import { digits, entitiesIn, inputOf, leadOf, LEAST, partsOf, textOf, type SummaryPart } from './summary';
import { clock, duration } from './format';
import { onsetOf } from './onset';
import { Pace } from './parts';
import { activeBins } from './ribbon_bins';
import { spanText } from './ribbon_picture';
import { seriesOf } from './series';
import type { App, Store, View } from './types';
import { kind, nameOf } from './ui';

/** What to say before the first frame, or instead of any. */
function withoutFrames({ head, ended }: Store): string {
  if (ended !== null || !head!.live) return 'This source has no interval to show';
  return `The first interval is being measured: it takes ${duration(head!.interval_ms)}`;
}

/** The frame at which something began that lasts in the shown one. */
interface Onset {
  filter: string; // the class
  frame: number;
  text: string;
}

export class Summary implements View {
  private readonly headline = element('p', { class: 'headline' });
  private readonly more = element('p', { class: 'more' });
  private readonly promise = element('span', { class: 'promise' });
  readonly element = element('section', { class: 'summary', 'aria-label': 'Summary' }, this.headline, this.more, this.promise);
  private readonly pace: Pace;
  private readonly bins;
  private readonly series;
  private drawn = '';
  private filter: { by: string; brush: ReadonlySet<number> | null } | null = null; // the pressed part

  constructor(private readonly app: App) {
    this.pace = new Pace(app, () => app.redraw(this));
    this.bins = activeBins(app);
    this.series = seriesOf(app);
    this.series.watch(this);
  }

  draw(): void {
    const { store, ui } = this.app;
    if (!store.head) return;
    if (store.endFrame === store.firstFrame) return setText(this.headline, withoutFrames(store));
    if (!this.pace.isDue()) return;
    if (this.filter && (ui.state.brush === null || ui.state.brush !== this.filter.brush)) this.filter = null;
    const { parts, onset } = this.sentence(), compared = this.compared();
    const key = JSON.stringify([parts, onset, compared, this.filter?.by]);
    if (key === this.drawn) return;
    this.drawn = key;
    const of = (...places: SummaryPart['place'][]) => parts.filter(({ place }) => places.includes(place));
    const first = of('busy').length > 0 ? 'busy' : 'waits'; // a source may have neither CPU nor run queue
    const focused = (document.activeElement as HTMLElement | null)?.dataset.by;
    this.headline.replaceChildren(...of(first).flatMap((part) => [this.part(part), ...(onset && part.filter === onset.filter ? [' ', this.since(onset)] : [])]));
    const groups = (['waits', 'who'] as const).filter((place) => place !== first).map((place) => of(place)).filter(({ length }) => length > 0);
    this.more.replaceChildren(...groups.flatMap((group) => [...group.map((part) => this.part(part)), '. ']),
      ...(compared === '' ? [] : [button(compared, { class: 'compared', title: 'Open the comparison', 'data-by': 'compared' }, () => this.openComparison())]));
    const accounting = of('accounting');
    this.promise.replaceChildren(...accounting.map((part) => this.part(part)));
    this.promise.classList.toggle('amber', accounting.some(({ isFault }) => isFault));
    if (focused) [...this.element.querySelectorAll('button')].find(({ dataset }) => dataset.by === focused)?.focus();
  }

  /** Announces the sentence. */
  say(): void {
    if (!this.app.store.head) return;
    const { parts, onset } = this.sentence();
    this.app.say(textOf(parts.flatMap((part) => (onset && part.place === 'busy' && part.filter === onset.filter ? [part, { ...part, text: ` ${onset.text}` }] : [part]))));
  }

  /** The number of CPUs whose load the sentence tells. */
  private get cpus(): number {
    const { cpus, hasOthers } = this.app.store;
    return hasOthers ? 0 : cpus;
  }

  private sentence(): { parts: SummaryPart[]; onset: Onset | null } {
    const { store } = this.app;
    const input = inputOf(this.app.shown(), store.head!, this.cpus, (n) => (store.entities[n] ? nameOf(store.entities[n]) : ''));
    return { parts: partsOf(input), onset: this.onset(leadOf(input)) };
  }

  /** The beginning of the level that the class has in the last of the shown frames. */
  private onset(filter: string): Onset | null {
    const { bins } = this, { range, current } = this.app.ui.state, of = bins.classes.findIndex(({ name }) => name === filter);
    const shown = Math.floor((range ? range[1] - 1 : current) / bins.size) - bins.firstBin;
    if (of < 0 || shown < 0 || shown >= bins.bins.length) return null;
    const begin = onsetOf(bins.bins.map((bin) => bin.times[of]! / (bin.lengthMs || 1)), shown);
    if (begin === null) return null;
    const frame = (bins.firstBin + begin) * bins.size;
    return { filter, frame, text: `since ${clock(this.series.beginMs(frame), 1000)}` };
  }

  private since({ frame, text }: Onset): Node {
    return button(text, { class: 'since', title: 'Show its beginning', 'data-by': 'since' }, () => {
      this.app.ui.set({ current: frame, range: null, playing: false, following: false });
      this.app.say(`Shown: the beginning, ${text.replace('since ', '')}.`);
    });
  }

  /** The time that is compared with, and how active it was; '' without a comparison. */
  private compared(): string {
    const { store, ui: { state: { compare } } } = this.app;
    if (!compare) return '';
    const [from, to] = compare.before, { classes, groups } = inputOf(store.mean(from, to), store.head!, this.cpus, () => '');
    const words = groups.length === 0 ? [] : this.bins.classes.filter(({ name }) => (classes[name] ?? 0) >= LEAST).map(({ name, title }) => `${title} ${digits(1, classes[name]!)}`);
    return `Before, ${spanText(this.series.beginMs(from), this.series.endMs(to - 1))}: ${words.join(' · ') || 'all idle'}`;
  }

  private openComparison(): void {
    const view = document.getElementById('compare')!;
    view.dispatchEvent(new Event('wanted', { bubbles: true }));
    view.scrollIntoView({ block: 'nearest' });
  }

  private part(part: SummaryPart): Node {
    const { text, filter, name } = part;
    // A line may break behind a button, but not before a comma.
    if (filter === null && name === undefined) return document.createTextNode(text.replace(/^,/, '\u2060,'));
    const by = filter === null ? `name:${name}` : `class:${filter}`;
    return button(text, {
      class: name === undefined ? 'class' : 'who', 'data-by': by, 'aria-pressed': String(this.filter?.by === by),
      title: name === undefined ? 'Dim all others' : `Dim all but ${name}`,
    }, () => this.press(by, part));
  }

  private press(by: string, { filter, name }: SummaryPart): void {
    const { store } = this.app;
    if (this.filter?.by === by) {
      this.filter = null;
      return brush(this.app, new Set());
    }
    const found = filter !== null ? entitiesIn(this.app.shown(), store.head!, filter)
      : new Set(store.entities.filter((one) => [nameOf(one), kind(nameOf(one))].includes(name!)).map(({ n }) => n));
    brush(this.app, found);
    this.filter = { by, brush: this.app.ui.state.brush };
  }
}
