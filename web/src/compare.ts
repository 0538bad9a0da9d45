// Two periods compared: an arrow for each entity from its mean position in one to that in the
// other, and a list of the largest moves. Distances are those in a triangle of height 1.
import { pin } from './actions';
import { CORNERS3, place, restOf, sumStates } from './axes';
import { groupColour, vertexColours } from './classes';
import { readable } from './colour';
import { button, element, setText } from './dom';
import { count, percent } from './format';
import { choice, whileSeen } from './parts';
import { Periods, type Pair, type Period } from './periods';
import { seriesOf, type Reader } from './series';
import type { App, Axis, Frame, View, ViewFactory } from './types';

const ARROWS = 300, LISTED = 30; // of the largest moves
const SIZE = 440, MARGIN = 26; // of the picture, in its own units
const LEAST = 0.002; // a shorter move is a dot

/** Sums of share x elapsed of each entity in a period: 3 axes, elapsed; and the time of all
 * entities that is on no axis. */
class Sums {
  leftOut = 0;
  elapsed = 0;
  private sums = new Float64Array(0);

  add(frame: Frame, axes: Axis[]): void {
    if (this.sums.length < 4 * frame.rowOf.length) {
      const grown = new Float64Array(4 * frame.rowOf.length);
      grown.set(this.sums);
      this.sums = grown;
    }
    const shares = axes.map((axis) => sumStates(frame, axis.states));
    const leftOut = sumStates(frame, restOf(axes, frame.shares.length));
    for (let row = 0; row < frame.count; row++) {
      this.leftOut += leftOut[row]! * frame.elapsed[row]!;
      this.elapsed += frame.elapsed[row]!;
      const at = 4 * frame.entity[row]!, elapsed = frame.elapsed[row]!;
      for (let i = 0; i < 3; i++) this.sums[at + i]! += shares[i]![row]! * elapsed;
      this.sums[at + 3]! += elapsed;
    }
  }

  /** Returns the mean shares of an entity; null if it is absent. */
  mean(n: number): number[] | null {
    const elapsed = this.sums[4 * n + 3] ?? 0;
    return elapsed > 0 ? [0, 1, 2].map((i) => this.sums[4 * n + i]! / elapsed) : null;
  }
}

/** Reads the frames of both periods. */
class PairReader implements Reader {
  next = Infinity;
  before = new Sums();
  after = new Sums();
  private pair: Pair = { before: [0, 0], after: [0, 0] };
  private axes: Axis[] = [];

  begin(pair: Pair, axes: Axis[]): void {
    this.pair = pair;
    this.axes = axes;
    this.before = new Sums();
    this.after = new Sums();
    this.next = Math.min(pair.before[0], pair.after[0]);
  }

  read(frame: Frame): void {
    const { before, after } = this.pair, isIn = (period: Period, index: number) => index >= period[0] && index < period[1];
    if (isIn(before, frame.index)) this.before.add(frame, this.axes);
    if (isIn(after, frame.index)) this.after.add(frame, this.axes);
    const coming = [before, after].filter((period) => period[1] > frame.index + 1)
      .map((period) => Math.max(period[0], frame.index + 1));
    this.next = Math.min(Infinity, ...coming) - 1; // the caller of this frame adds 1
  }
}

interface Moved {
  n: number;
  before: number[];
  after: number[];
  distance: number;
}

class Compare implements View {
  readonly element: HTMLElement;
  private readonly series;
  private readonly isSeen;
  private readonly reader = new PairReader();
  private readonly caption = element('p', { class: 'caption' });
  private readonly periods;
  private readonly picture = svg('svg', { viewBox: `0 0 ${SIZE} ${SIZE * 0.92}`, role: 'img' });
  private readonly list = element('tbody');
  private readonly heads = element('tr');
  private readonly content;
  private readonly stop;
  private readonly presets: HTMLSelectElement;
  private chosen: { name: string; pair: Pair; current: number } | null = null; // the preset
  private of: { pair: Pair; axes: Axis[] } | null = null;
  private isDone = false;
  private moved: Moved[] = [];
  private drawnAs: unknown[] = [];

  constructor(private readonly app: App) {
    this.series = seriesOf(app);
    this.periods = new Periods(app);
    this.stop = button('End', { class: 'small' }, () => app.ui.set({ compare: null }));
    const presets = choice('Compare', [
      ['', 'choose…'], ['halves', 'first half, second half'], ['now', 'all before the current frame, from it on'],
      ['last', 'current tenth, the tenth before it'],
    ] as const, (value) => this.preset(value));
    this.presets = presets.querySelector('select')!;
    this.content = element('div', { class: 'compared', hidden: '' }, this.periods.element,
      element('figure', {}, this.picture), element('div', { class: 'table table-scroll', tabindex: '0', role: 'group', 'aria-label': 'Largest moves' },
        element('table', {}, element('thead', {}, this.heads), this.list)));
    this.element = element('section', { class: 'panel wide compare', id: 'compare', 'aria-label': 'Comparison' },
      element('header', {}, element('h2', {}, 'Comparison'), this.caption, element('div', { class: 'choices' }, presets, this.stop)),
      this.content);
    this.isSeen = whileSeen(this.element, () => this.series.again());
    this.series.watch(this, this.reader);
    this.list.addEventListener('click', (event) => pin(app, this.entityOf(event)));
    for (const hovered of [this.list, this.picture]) {
      hovered.addEventListener('pointerover', (event) => this.hover(event));
      hovered.addEventListener('pointerleave', () => app.ui.set({ hover: null }));
    }
  }

  draw(): void {
    const { head } = this.app.store, { compare, axes3 } = this.app.ui.state;
    if (!head || axes3.length !== 3 || !this.isSeen()) return;
    this.content.hidden = this.stop.hidden = !compare;
    this.namePair(compare);
    if (!compare) return this.idle();
    if (this.of?.pair !== compare || this.of.axes !== axes3) this.begin(compare, axes3);
    this.series.run();
    this.periods.show(compare);
    if (!this.isDone && this.reader.next === Infinity) {
      this.isDone = true;
      this.measure();
    }
    if (this.isDone) this.drawMoved(axes3);
  }

  /** Names the preset that was chosen, or the two ranges if they are none of the presets now. */
  private namePair(pair: Pair | null): void {
    const { chosen, presets, app: { ui: { state: { current } } } } = this;
    const isPreset = chosen !== null && chosen.pair === pair && (chosen.name === 'halves' || chosen.current === current);
    setText(presets.options[0]!, pair && !isPreset ? `${this.periods.words(pair.before)} / ${this.periods.words(pair.after)}` : 'choose…');
    const value = isPreset ? chosen.name : '';
    if (presets.value !== value) presets.value = value;
  }

  private idle(): void {
    this.of = null;
    this.reader.next = Infinity;
    setText(this.caption, 'two periods: an arrow from where each entity was to where it went');
  }

  private begin(pair: Pair, axes: Axis[]): void {
    this.of = { pair, axes };
    this.isDone = false;
    this.reader.begin(pair, axes);
  }

  private preset(name: 'halves' | 'now' | 'last' | ''): void {
    const { firstFrame: first, endFrame: end } = this.app.store;
    if (name === '' || end - first < 2) return;
    const clamp = (frame: number) => Math.min(end - 1, Math.max(first + 1, frame));
    const current = clamp(this.app.ui.state.current), middle = clamp(Math.round((first + end) / 2));
    const length = Math.max(1, Math.min(Math.round((end - first) / 10), current - first));
    const pairs: Record<string, Pair> = {
      halves: { before: [first, middle], after: [middle, end] },
      now: { before: [first, current], after: [current, end] },
      last: { before: [current - length, current], after: [current, Math.min(end, current + length)] },
    };
    const pair = pairs[name]!;
    this.chosen = { name, pair, current: this.app.ui.state.current };
    this.app.ui.set({ compare: pair });
  }

  private measure(): void {
    const moved: Moved[] = [];
    let gone = 0, come = 0;
    for (const { n } of this.app.store.entities) {
      const before = this.reader.before.mean(n), after = this.reader.after.mean(n);
      if (before && after) {
        const from = place(before), to = place(after);
        if (from && to) moved.push({ n, before, after, distance: Math.hypot(to[0] - from[0], to[1] - from[1]) });
      } else if (before) gone++;
      else if (after) come++;
    }
    this.moved = moved.sort((a, b) => b.distance - a.distance || a.n - b.n);
    this.drawnAs = [];
    const shown = moved.length > ARROWS ? `the ${ARROWS} of ${count(moved.length)} entities that moved most` : `${count(moved.length)} entities`;
    const others = [gone ? `${count(gone)} only before` : '', come ? `${count(come)} only after` : ''].filter(Boolean);
    setText(this.caption, [shown, ...others, this.leftOut()].filter(Boolean).join(' · '));
    const most = this.moved[0];
    if (most) this.app.say(`${this.app.ui.label(most.n)} moved most: ${this.words(most)}`);
  }

  /** Positions use proportions, so the text states the time at no vertex. */
  private leftOut(): string {
    const { before, after } = this.reader, out = before.leftOut + after.leftOut;
    return out > 0 ? `${percent(out / (before.elapsed + after.elapsed))} of the time is at no vertex, and left out` : '';
  }

  private words({ before, after, distance }: Moved): string {
    const changes = this.of!.axes.map((axis, i) => `${axis.name} ${percent(before[i]!)} to ${percent(after[i]!)}`);
    return `${distance.toFixed(3)}, ${changes.join(', ')}`;
  }

  private drawMoved(axes: Axis[]): void {
    const { pinned, hover, groupBy } = this.app.ui.state;
    const { search, brush } = this.app.ui.state;
    const now = [pinned, hover, groupBy, search, brush, this.app.store.entitiesVersion];
    if (now.every((value, i) => value === this.drawnAs[i])) return;
    const isAnew = this.drawnAs.length === 0;
    this.drawnAs = now;
    if (isAnew) {
      this.drawTriangle(axes);
      this.fillList(axes);
    }
    for (const arrow of this.picture.querySelectorAll<SVGElement>('.arrow')) this.style(arrow);
    for (const row of this.list.rows) {
      const n = Number(row.dataset.n);
      row.className = [pinned.has(n) ? 'pinned' : '', n === hover ? 'hover' : ''].join(' ').trim();
    }
  }

  private style(arrow: SVGElement): void {
    const { ui, store } = this.app, n = Number(arrow.dataset.n), group = ui.groupOf(n);
    const classes = ['arrow', ui.state.pinned.has(n) ? 'pinned' : '', n === ui.state.hover ? 'hover' : '', ui.isDimmed(n) ? 'dim' : ''];
    arrow.setAttribute('class', classes.filter(Boolean).join(' '));
    arrow.style.stroke = group >= 0 && !ui.state.pinned.has(n) ? groupColour(store.head!, group) : '';
  }

  private drawTriangle(axes: Axis[]): void {
    const [top, left, right] = CORNERS3.map(([x, y]) => toPicture(x, y)) as [Dot, Dot, Dot];
    const between = (a: Dot, b: Dot, share: number): Dot => [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share];
    const grid = [0.25, 0.5, 0.75].flatMap((share) => [
      path([between(left, top, share), between(right, top, share)]), path([between(top, left, share), between(right, left, share)]),
      path([between(top, right, share), between(left, right, share)])]);
    const colours = vertexColours(this.app.store.head!, 3);
    const names = [[top, 'middle', -9], [left, 'start', 18], [right, 'end', 18]] as const;
    this.picture.replaceChildren(
      svg('title', {}, 'Mean positions before and after'),
      svg('path', { class: 'grid', d: grid.join('') }), svg('path', { class: 'edge', d: `${path([top, left, right])}Z` }),
      ...names.map(([[x, y], anchor, away], i) =>
        svg('text', { x: String(x), y: String(y + away), 'text-anchor': anchor, fill: readable(colours[i]!) }, axes[i]!.name)),
      ...this.moved.slice(0, ARROWS).reverse().map((moved) => this.arrow(moved)));
  }

  private arrow(moved: Moved): SVGElement {
    const from = place(moved.before)!, to = place(moved.after)!;
    const a = toPicture(from[0], from[1]), b = toPicture(to[0], to[1]);
    return svg('path', {
      class: 'arrow', d: moved.distance < LEAST ? path([a, a]) : arrowPath(a, b),
      'data-n': String(moved.n), 'data-from': a.join(' '), 'data-to': b.join(' '),
    }, svg('title', {}, `${this.app.ui.label(moved.n)}: ${this.words(moved)}`));
  }

  private fillList(axes: Axis[]): void {
    const colours = vertexColours(this.app.store.head!, 3);
    const head = (text: string, colour?: string) => {
      const th = element('th', colour ? {} : { class: 'text' }, text);
      if (colour) th.style.color = colour === 'inherit' ? colour : readable(colour);
      return th;
    };
    this.heads.replaceChildren(head('largest moves'), head('distance', 'inherit'), ...axes.map((axis, i) => head(`${axis.name} %`, colours[i])));
    this.list.replaceChildren(...this.moved.slice(0, LISTED).map(({ n, before, after, distance }) =>
      element('tr', { 'data-n': String(n) },
        element('td', { class: 'text' }, element('button', { type: 'button', class: 'name', 'aria-label': `pin ${this.app.ui.label(n)}` }, this.app.ui.label(n))),
        element('td', {}, distance.toFixed(3)),
        ...axes.map((_, i) => element('td', {}, `${(100 * before[i]!).toFixed(1)} → ${(100 * after[i]!).toFixed(1)}`)))));
  }

  private entityOf(event: Event): number | null {
    const n = (event.target as Element).closest<HTMLElement | SVGElement>('[data-n]')?.dataset.n;
    return n === undefined ? null : Number(n);
  }

  private hover(event: Event): void {
    const n = this.entityOf(event);
    if (n !== null) this.app.ui.set({ hover: n });
  }

}

type Dot = [x: number, y: number];

/** Converts a position in a triangle of height 1 to the picture. */
function toPicture(x: number, y: number): Dot {
  const edge = SIZE - 2 * MARGIN, scale = (edge * Math.sqrt(3)) / 2;
  return [round(MARGIN + x * scale), round(MARGIN * 0.9 + (1 - y) * scale)];
}

const round = (value: number) => Math.round(value * 100) / 100;

function path(dots: Dot[]): string {
  return `M${dots.map((dot) => dot.join(' ')).join('L')}`;
}

/** Returns the path of a line with a head of two strokes. */
function arrowPath(a: Dot, b: Dot): string {
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]), size = Math.min(7, 1.5 + length / 3);
  const ux = (b[0] - a[0]) / length, uy = (b[1] - a[1]) / length;
  const wing = (side: number): Dot => [round(b[0] - size * (ux + side * 0.45 * uy)), round(b[1] - size * (uy - side * 0.45 * ux))];
  return path([a, b]) + path([wing(1), b, wing(-1)]);
}

function svg(name: string, attributes: Record<string, string>, ...content: (Node | string)[]): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

export const createCompare: ViewFactory = (app) => new Compare(app);
