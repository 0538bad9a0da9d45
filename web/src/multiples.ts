// Small multiples: a small Barry3 for each of the largest groups, with its mean as a cross. A press
// selects the group: all others are dimmed everywhere.
import { LEFT_OUT, MISSING, place, restOf, sumStates } from './axes';
import { groupColour } from './classes';
import { element, setText } from './dom';
import { Dots, faded, kindOf } from './dots';
import { count, percent } from './format';
import { MeanSum, type Mean } from './means';
import { choice, offerGroupings, whileSeen } from './parts';
import { inWords } from './readout';
import { seriesOf } from './series';
import { leftOutText } from './sums';
import { currentTheme, onThemeChange, pixelRatio } from './theme';
import type { App, Frame, GroupBy, View, ViewFactory } from './types';

const WIDTH = 148, HEIGHT = 126, MARGIN = 8; // of a small triangle, pixels of the page
const EDGE = WIDTH - 2 * MARGIN;
const RADIUS = 2.25;

/** One small triangle. */
interface Small {
  button: HTMLButtonElement;
  dots: Dots;
  name: HTMLElement;
  text: HTMLElement;
}

class Multiples implements View {
  readonly element: HTMLElement;
  private readonly isSeen;
  private readonly caption = element('p', { class: 'caption' });
  private readonly grid = element('div', { class: 'smalls' });
  private readonly leftOut = element('p', { class: 'warn left-out', hidden: '' });
  private readonly grouping;
  private smalls: Small[] = [];
  private paper = '';

  constructor(private readonly app: App) {
    this.grouping = choice<GroupBy>('Groups by', [], (groupBy) => app.ui.set({ groupBy }));
    this.element = element('section', { class: 'panel wide multiples', id: 'multiples', 'aria-label': 'Small multiples' },
      element('header', {}, element('h2', {}, 'Small multiples'), this.caption, element('div', { class: 'choices' }, this.grouping)),
      this.grid, this.leftOut);
    this.isSeen = whileSeen(this.element, () => seriesOf(app).again());
    seriesOf(app).watch(this);
    onThemeChange(() => seriesOf(app).again());
  }

  draw(): void {
    const { store, ui } = this.app, { axes3, groupBy } = ui.state;
    if (!store.head || axes3.length !== 3 || !this.isSeen()) return;
    const select = this.grouping.querySelector('select')!;
    offerGroupings(select, this.app, 'nothing');
    select.value = groupBy;
    const groups = groupBy === 'none' ? [] : ui.groups();
    this.hold(groups.length);
    const frame = this.app.shown(), rows = rowsOf(frame, ui.groupOf.bind(ui), groups.length);
    const others = frame.count - rows.reduce((sum, list) => sum + list.length, 0);
    setText(this.caption, groups.length === 0 ? 'choose what to group by'
      : `the ${groups.length} largest groups${others > 0 ? `; ${count(others)} entities are in smaller ones` : ''} · a press chooses a group`);
    const shares = axes3.map((axis) => sumStates(frame, axis.states));
    const leftOut = sumStates(frame, restOf(axes3, frame.shares.length));
    setText(this.leftOut, groups.length > 0 ? leftOutText(frame, axes3) : '');
    this.leftOut.hidden = this.leftOut.textContent === '';
    groups.forEach(({ name }, g) => this.drawSmall(g, name, frame, rows[g]!, shares, leftOut));
  }

  /** Keeps as many triangles as there are groups, in the colours of the theme. */
  private hold(wanted: number): void {
    const { paper } = currentTheme(), ratio = pixelRatio();
    while (this.smalls.length < wanted) this.add();
    while (this.smalls.length > wanted) this.smalls.pop()!.button.remove();
    const width = WIDTH * ratio, height = HEIGHT * ratio;
    for (const { dots } of this.smalls)
      if (dots.width !== width || paper !== this.paper) dots.setBackground(width, height, (context) => paintTriangle(context, ratio));
    this.paper = paper;
  }

  private add(): void {
    const canvas = element('canvas', { 'aria-hidden': 'true' });
    canvas.style.width = `${WIDTH}px`;
    canvas.style.height = `${HEIGHT}px`;
    const name = element('b'), text = element('span');
    const group = this.smalls.length;
    const button = element('button', { type: 'button', class: 'small-triangle', 'data-group': String(group) }, name, canvas, text);
    button.addEventListener('click', () => this.choose(group));
    this.smalls.push({ button, dots: new Dots(canvas), name, text });
    this.grid.append(button);
  }

  private drawSmall(group: number, title: string, frame: Frame, rows: number[], shares: Float32Array[], leftOut: Float32Array): void {
    const { ui, store } = this.app, { dots, name, text, button } = this.smalls[group]!;
    const theme = currentTheme(), ratio = pixelRatio();
    const colour = groupColour(store.head!, group), shape = group < 6 ? 'disc' : 'square';
    const kinds = [kindOf(shape, RADIUS * ratio, colour), kindOf('ring', RADIUS * 1.4 * ratio, theme.missing),
      kindOf('ring', RADIUS * 1.4 * ratio, theme.over), kindOf(shape, RADIUS * ratio, faded(theme.dim, theme.paper, 0.55))];
    const broken = kindOf('broken', RADIUS * 2 * ratio, theme.leftOut);
    const sum = new MeanSum(3);
    dots.begin();
    for (const row of rows) {
      const unaccounted = frame.unaccounted[row]!;
      const kind = ui.isDimmed(frame.entity[row]!) ? 3 : unaccounted > MISSING ? 1 : unaccounted < -MISSING ? 2 : 0;
      const own = [shares[0]![row]!, shares[1]![row]!, shares[2]![row]!];
      put(own, ratio, (x, y) => {
        if (kind !== 3 && leftOut[row]! > LEFT_OUT) dots.put(broken, x, y);
        dots.put(kinds[kind]!, x, y);
      });
      sum.add({ shares: own, leftOut: leftOut[row]!, unaccounted }, frame.elapsed[row]!);
    }
    const { mean } = sum;
    if (mean) put(mean.shares, ratio, (x, y) => dots.put(kindOf('ring', 6 * ratio, theme.ink), x, y));
    dots.end();
    const there = this.wordsOf(mean);
    setText(name, `${title} · ${count(rows.length)}`);
    setText(text, there);
    button.setAttribute('aria-pressed', String(this.isChosen(group)));
    button.setAttribute('aria-label', `${title}, ${rows.length} entities, mean ${inWords(ui.state.axes3, mean)}`);
  }

  private wordsOf(mean: Mean | null): string {
    if (!mean) return 'nobody now';
    return mean.shares.map((share) => percent(share).replace(' %', '')).join(' · ') + ' %';
  }

  private membersOf(group: number): Set<number> {
    const { store, ui } = this.app;
    return new Set(store.entities.filter(({ n }) => ui.groupOf(n) === group).map(({ n }) => n));
  }

  private isChosen(group: number): boolean {
    const { brush } = this.app.ui.state;
    if (!brush || brush.size === 0) return false;
    for (const n of brush) if (this.app.ui.groupOf(n) !== group) return false;
    return true;
  }

  private choose(group: number): void {
    this.app.ui.set({ brush: this.isChosen(group) ? null : this.membersOf(group) });
  }
}

/** Returns the rows of each group. */
function rowsOf(frame: Frame, groupOf: (n: number) => number, groups: number): number[][] {
  const rows: number[][] = Array.from({ length: groups }, () => []);
  for (let row = 0; row < frame.count; row++) rows[groupOf(frame.entity[row]!)]?.push(row);
  return rows;
}

/** Calls `draw` with the pixel where the shares are, if they have a position. */
function put(shares: number[], ratio: number, draw: (x: number, y: number) => void): void {
  const spot = place(shares);
  if (spot) draw((MARGIN + (spot[0] * Math.sqrt(3) * EDGE) / 2) * ratio, (HEIGHT - MARGIN - (spot[1] * Math.sqrt(3) * EDGE) / 2) * ratio);
}

function paintTriangle(context: CanvasRenderingContext2D, ratio: number): void {
  const theme = currentTheme(), tall = (EDGE * Math.sqrt(3)) / 2, bottom = HEIGHT - MARGIN;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, WIDTH, HEIGHT);
  const at = (a: number, b: number, c: number): [number, number] => [MARGIN + (a / 2 + c) * EDGE, bottom - a * tall + 0 * b];
  const side = (from: [number, number], to: [number, number]) => {
    context.beginPath();
    context.moveTo(...from);
    context.lineTo(...to);
    context.stroke();
  };
  context.strokeStyle = theme.grid;
  side(at(0.5, 0.5, 0), at(0.5, 0, 0.5));
  side(at(0.5, 0.5, 0), at(0, 0.5, 0.5));
  side(at(0.5, 0, 0.5), at(0, 0.5, 0.5));
  context.strokeStyle = theme.edge;
  side(at(1, 0, 0), at(0, 1, 0));
  side(at(0, 1, 0), at(0, 0, 1));
  side(at(0, 0, 1), at(1, 0, 0));
}

export const createMultiples: ViewFactory = (app) => new Multiples(app);
