// Search, groups with their legend, pinned entities, and the axes.
import type { App, GroupBy } from './types';
import { addressOf } from './address';
import { restOf } from './axes';
import { AxesEditor } from './axes_editor';
import { groupColour } from './classes';
import { button, element, setText } from './dom';
import { count } from './format';
import { offerGroupings } from './parts';
import { Save } from './save';
import { titlesOf } from './sums';

const PINS_MAXIMUM = 4; // that are named

const ring = (kind: string, ...title: (Node | string)[]): HTMLElement =>
  element('span', { class: 'key' }, element('i', { class: `marker ring ${kind}` }), ...title);

export class Controls {
  readonly element: HTMLElement;
  readonly axes: AxesEditor;
  readonly legend = element('div', { class: 'legend' });
  /** Always present, so that the pictures do not move when the legend fills. */
  private readonly leftOutStates = element('span');
  private readonly leftOut = ring('left-out', this.leftOutStates);
  private readonly unpin = button('', { class: 'small', hidden: '' }, () => this.app.ui.set({ pinned: new Set() }));
  readonly keys = element('div', { class: 'keys' }, this.legend, this.unpin, element('div', { class: 'rings' },
    ring('missing', 'time is missing'), ring('over', 'over 100 %'), this.leftOut));
  private readonly search = element('input', {
    type: 'search', id: 'search', placeholder: 'Search names  /', spellcheck: 'false', autocomplete: 'off',
    'aria-label': 'Search names and labels by a regular expression', 'aria-describedby': 'search-fault',
  });
  private readonly fault = element('p', { class: 'fault', id: 'search-fault', role: 'alert' });
  private readonly groupBy = element('select', { 'aria-label': 'Groups', id: 'group-by' });
  private readonly axesButton = button('Axes', { 'aria-expanded': 'false', 'aria-controls': 'axes-editor' }, () => this.toggleAxes());
  private drawn: unknown[] = [];

  constructor(private readonly app: App) {
    this.axes = new AxesEditor(app);
    this.groupBy.addEventListener('change', () => app.ui.set({ groupBy: this.groupBy.value as GroupBy }));
    this.search.addEventListener('input', () => this.find());
    this.search.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.search.blur();
    });
    addressOf(app).keep('q', { get: () => this.search.value, set: (text) => this.searchFor(text) });
    this.element = element('div', { class: 'tools' },
      element('div', { class: 'search' }, this.search, this.fault), this.groupBy, this.axesButton, new Save(app).element);
  }

  focusSearch(): void {
    this.search.focus();
    this.search.select();
  }

  toggleAxes(): void {
    this.axesButton.setAttribute('aria-expanded', String(this.axes.toggle()));
  }

  nextGroups(): void {
    const offered = [...this.groupBy.options].filter(({ disabled }) => !disabled);
    const at = offered.findIndex(({ value }) => value === this.app.ui.state.groupBy);
    const { value, text } = offered[(at + 1) % offered.length]!;
    this.app.ui.set({ groupBy: value as GroupBy });
    this.app.say(`Groups: ${text}.`);
  }

  /** Clears the search and the brush; returns false if there was none. */
  clear(): boolean {
    const { search, brush } = this.app.ui.state;
    if (!search && !brush && !this.search.value) return false;
    this.search.value = '';
    setText(this.fault, '');
    this.search.removeAttribute('aria-invalid');
    this.app.ui.set({ search: null, brush: null });
    return true;
  }

  private searchFor(text: string): void {
    this.search.value = text;
    this.find();
  }

  private find(): void {
    const text = this.search.value;
    let search: RegExp | null = null;
    try {
      search = text ? new RegExp(text, 'i') : null;
      setText(this.fault, '');
      this.search.removeAttribute('aria-invalid');
    } catch (error) {
      setText(this.fault, `Not a regular expression: ${(error as Error).message.replace(/^.*: /, '').toLowerCase()}.`);
      this.search.setAttribute('aria-invalid', 'true');
      return;
    }
    this.app.ui.set({ search });
  }

  draw(): void {
    const { ui, store } = this.app;
    const { groupBy, pinned, search, brush, axes3, axes4 } = ui.state;
    this.axes.draw();
    const now = [groupBy, pinned, search, brush, store.entitiesVersion, axes3, axes4];
    if (now.every((value, i) => value === this.drawn[i])) return;
    this.drawn = now;
    offerGroupings(this.groupBy, this.app, 'no groups', 'by ');
    this.groupBy.value = groupBy;
    this.legend.replaceChildren(...this.chosen(), ...this.pins(), ...this.groups());
    this.unpin.hidden = pinned.size < 2;
    setText(this.unpin, `Unpin all ${count(pinned.size)}`);
    this.drawLeftOut();
  }

  /** Lists the states that one of the pictures leaves out. */
  private drawLeftOut(): void {
    const { ui: { state: { axes3, axes4 } }, store: { head } } = this.app;
    const rest = [axes3, axes4].flatMap((axes) => (axes.length > 0 ? restOf(axes, head?.states.length ?? 0) : []));
    const states = [...new Set(rest)].sort((a, b) => a - b);
    this.leftOut.hidden = states.length === 0;
    if (head) setText(this.leftOutStates, `at no vertex: ${titlesOf(head, states)}`);
  }

  private groups(): HTMLElement[] {
    const { ui, store } = this.app;
    return ui.groups().map(({ name, count: size }, g) => {
      const marker = element('i', { class: g < 6 ? 'marker disc' : 'marker square' });
      marker.style.background = groupColour(store.head!, g);
      return element('span', { class: 'key' }, marker, name, element('small', {}, ` ${count(size)}`));
    });
  }

  /** The number of undimmed entities, and a button that undims all. */
  private chosen(): HTMLElement[] {
    const { ui, store } = this.app;
    if (!ui.state.search && !ui.state.brush) return [];
    const bright = store.entities.filter(({ n }) => !ui.isDimmed(n)).length;
    return [element('span', { class: 'key' }, `${count(bright)} of ${count(store.entities.length)} chosen`,
      button('×', { class: 'remove', 'aria-label': 'Show all' }, () => this.clear()))];
  }

  /** The first pins; the number of the others, with their names. */
  private pins(): HTMLElement[] {
    const { ui } = this.app, all = [...ui.state.pinned], others = all.slice(PINS_MAXIMUM);
    return [...all.slice(0, PINS_MAXIMUM).map((n) => this.pin(n)), ...(others.length > 0
      ? [element('span', { class: 'key pinned', title: others.map((n) => ui.label(n)).join(', ') }, `and ${count(others.length)} more`)] : [])];
  }

  private pin(n: number): HTMLElement {
    const { ui } = this.app;
    return element('span', { class: 'key pinned' }, ui.label(n), button('×', {
      class: 'remove', 'aria-label': `Unpin ${ui.label(n)}`,
    }, () => ui.set({ pinned: new Set([...ui.state.pinned].filter((other) => other !== n)) })));
  }
}
