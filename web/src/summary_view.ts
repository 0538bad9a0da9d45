// The sentence at the top of the page. Its parts are buttons that dim all other entities.
import { button, element, setText } from './dom';
import { brush } from './actions';
import { entitiesIn, nameOf, summaryOf, textOf, type SummaryPart } from './summary';
import { duration } from './format';
import { Pace } from './parts';
import type { App, Store, View } from './types';
import { kind } from './ui';

/** What to say before the first frame, or instead of any. */
function withoutFrames({ head, ended }: Store): string {
  if (ended !== null || !head!.live) return 'This source has no interval to show';
  return `The first interval is being measured: it takes ${duration(head!.interval_ms)}`;
}

export class Summary implements View {
  private readonly headline = element('p', { class: 'headline' });
  private readonly more = element('p', { class: 'more' });
  private readonly promise = element('span', { class: 'promise' });
  readonly element = element('section', { class: 'summary', 'aria-label': 'Summary' }, this.headline, this.more, this.promise);
  private readonly pace: Pace;
  private drawn = '';
  private filter: { by: string; brush: ReadonlySet<number> | null } | null = null; // the pressed part

  constructor(private readonly app: App) {
    this.pace = new Pace(app, () => app.redraw(this));
  }

  draw(): void {
    const { store, ui } = this.app;
    if (!store.head) return;
    if (store.endFrame === store.firstFrame) return setText(this.headline, withoutFrames(store));
    if (!this.pace.isDue()) return;
    if (this.filter && (ui.state.brush === null || ui.state.brush !== this.filter.brush)) this.filter = null;
    const parts = this.parts();
    const key = JSON.stringify([parts, this.filter?.by]);
    if (key === this.drawn) return;
    this.drawn = key;
    const of = (...places: SummaryPart['place'][]) => parts.filter(({ place }) => places.includes(place));
    const first = of('busy').length > 0 ? 'busy' : 'waits'; // a source may have neither CPU nor run queue
    const focused = (document.activeElement as HTMLElement | null)?.dataset.by;
    this.headline.replaceChildren(...of(first).map((part) => this.part(part)));
    const groups = (['waits', 'who'] as const).filter((place) => place !== first).map((place) => of(place)).filter(({ length }) => length > 0);
    this.more.replaceChildren(...groups.flatMap((group) => [...group.map((part) => this.part(part)), '. ']));
    const accounting = of('accounting')[0]!;
    setText(this.promise, accounting.text);
    this.promise.classList.toggle('amber', accounting.isFault === true);
    if (focused) [...this.element.querySelectorAll('button')].find(({ dataset }) => dataset.by === focused)?.focus();
  }

  /** Announces the sentence. */
  say(): void {
    if (this.app.store.head) this.app.say(textOf(this.parts()));
  }

  private parts(): SummaryPart[] {
    const { store } = this.app;
    return summaryOf(this.app.shown(), store.head!, store.cpus, (n) => (store.entities[n] ? nameOf(store.entities[n]) : ''));
  }

  private part(part: SummaryPart): Node {
    const { text, filter, name } = part;
    if (filter === null && name === undefined) return document.createTextNode(text);
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
