// The barymap: entities x time, each cell in the mixed colour of the classes of its time. Barry3 shows all
// entities in one frame; this view shows them in all frames.
import { weigh } from './axes';
import { CellImage, frameAt, isSame, layOut, type Layout } from './barymap_image';
import { drawMarks, Scene, type Cell } from './barymap_marks';
import { Cells } from './cells';
import { activeClasses, colourOf, idleLast } from './classes';
import { element, setText } from './dom';
import { clock, count } from './format';
import { MeanSum, type Mean } from './means';
import { ordered, type Order, type Ordered } from './order';
import { choice, fit, onWidth, toggledPins, used, whileSeen } from './parts';
import { inWords, Readout } from './readout';
import { leftOf, RIGHT } from './ribbon_picture';
import { seriesOf } from './series';
import { currentTheme, onThemeChange, pixelRatio } from './theme';
import type { App, Axis, Head, View, ViewFactory } from './types';

const HEIGHT = 420; // of the cells, at most
const AXIS = 18; // the height of the axis of time
const SORT_MS = 2000; // while frames arrive, rows are sorted again this often
const PAGE = 10; // lines
const KEYS = 'Arrows move, Enter shows that time, P pins, Shift with up and down chooses rows, Escape ends it.';

class Barymap implements View {
  readonly element: HTMLElement;
  private readonly series;
  private readonly isSeen;
  private readonly width;
  private readonly cells = new Cells();
  private readonly below = element('canvas', { 'aria-hidden': 'true' });
  private readonly above = element('canvas', { 'aria-hidden': 'true' });
  private readonly readout = new Readout();
  private readonly tipName = element('b');
  private readonly tipTime = element('span');
  private readonly tip = element('div', { class: 'tip', hidden: '' }, this.tipName, this.tipTime, this.readout.element);
  private readonly plot = element('div', {
    class: 'barymap-plot', tabindex: '0', role: 'application', 'aria-label': 'Barymap: entities by time',
    'aria-description': KEYS,
  }, this.below, this.above, this.tip);
  private readonly caption = element('p', { class: 'caption' });

  private axes: Axis[] = []; // the classes
  private head: Head | null = null; // that of `axes`
  private chosen: Order | null = null; // by the user
  private readonly orders;
  private sorted: Ordered = { rows: new Uint32Array(0), stretches: [] };
  private sortedAt = 0;
  private sortedAs = '';
  private searched: RegExp | null = null; // whose entities are sorted
  private sortedEnd = 0; // number of bins at that time
  private scene: Scene | null = null;
  private image: CellImage | null = null;
  private painted = 0; // bins before this one are painted
  private generation = -1;
  private height = 0; // of the plot, in pixels of the page
  private cell: Cell | null = null; // the keyboard's
  private pointer: Cell | null = null;
  private brushFrom: number | null = null; // a line

  constructor(private readonly app: App) {
    this.series = seriesOf(app);
    this.orders = choice('Rows by', [
      ['share', 'active share'], ['cluster', 'cluster'], ['group', 'group'], ['name', 'name'],
    ] as const, (value) => this.setOrder(value));
    this.element = element('section', { class: 'panel wide barymap', id: 'barymap' },
      element('header', {}, element('h2', {}, 'Barymap'), this.caption, element('div', { class: 'choices' }, this.orders)),
      this.plot);
    this.isSeen = whileSeen(this.element, () => this.series.again());
    this.series.watch(this, this.cells);
    this.listen();
    this.width = onWidth(this.plot, () => this.series.again());
    onThemeChange(() => {
      this.scene = null;
      this.series.again();
    });
  }

  draw(): void {
    const { store } = this.app;
    if (!store.head || !this.isSeen() || this.width() === 0) return;
    if (this.head !== store.head) this.begin(store.head);
    this.cells.forget(store.firstFrame);
    this.series.run();
    this.sort();
    this.paint();
    this.drawAbove();
  }

  private begin(head: Head): void {
    const { store } = this.app;
    this.head = head;
    this.axes = idleLast(head).map(({ title, states }) => ({ name: title, states }));
    this.cells.reset(this.axes, store.firstFrame, Math.max(head.frames, store.endFrame - store.firstFrame));
  }

  private get colours(): string[] {
    return idleLast(this.head!).map(colourOf);
  }

  private setOrder(order: Order): void {
    this.chosen = order;
    this.series.again();
  }

  /** Until the user chooses an order, it is that of the groups, if the entities are coloured by these. */
  private get order(): Order {
    return this.chosen ?? (this.app.ui.state.groupBy === 'none' ? 'share' : 'group');
  }

  /** Sorts when the order was changed, and at most every SORT_MS when frames arrive. */
  private sort(): void {
    const { store, ui } = this.app;
    const [, end] = this.cells.range;
    if (this.searched !== ui.state.search) {
      this.searched = ui.state.search;
      this.sortedAs = '';
    }
    this.orders.querySelector('select')!.value = this.order;
    const as = [this.order, this.cells.generation, this.order === 'group' ? ui.state.groupBy : ''].join(' ');
    const isWhole = this.cells.next >= store.endFrame && !(store.head!.live && !store.ended);
    const isMore = this.sortedEnd !== end && (isWhole || this.sorted.rows.length === 0 || performance.now() - this.sortedAt > SORT_MS);
    if (as === this.sortedAs && !isMore) return;
    const before = this.sorted;
    this.sorted = ordered(this.cells, this.order, ui, this.axes.map((axis) => axis.name), activeClasses(this.head!).length);
    this.sortedAs = as;
    this.sortedEnd = end;
    this.sortedAt = performance.now();
    const texts = ({ stretches }: Ordered) => stretches.map(({ text }) => text).join();
    if (!equal(before.rows, this.sorted.rows) || texts(before) !== texts(this.sorted)) this.scene = null;
  }

  private paint(): void {
    const [from, to] = this.cells.range;
    const [layout, left] = this.layOut();
    const { scene } = this;
    if (!scene || !isSame(layout, scene.layout) || left !== scene.left || this.generation !== this.cells.generation) {
      this.generation = this.cells.generation;
      this.painted = from;
      this.beginImage(layout, left);
    }
    this.image!.paint(this.painted, to);
    this.painted = Math.max(from, to - 1); // the newest may grow
    this.say();
  }

  private layOut(): [layout: Layout, left: number] {
    const ratio = pixelRatio(), page = this.width(), { rows } = this.sorted;
    const of = (left: number) => layOut(rows.length, this.series.span, Math.max(16, Math.floor((page - left - RIGHT) * ratio)), HEIGHT * ratio, ratio);
    return [of(leftOf(page)), leftOf(page)]; // also without names, so that the first pin does not move the cells
  }

  private beginImage(layout: Layout, left: number): void {
    const { width, scale } = layout, height = layout.lines * layout.lineHeight;
    const context = this.below.getContext('2d')!;
    if (!fit(this.below, width / scale, height / scale, scale)) context.clearRect(0, 0, width, height);
    this.below.style.left = `${left}px`;
    // For print: cells stay beside their names on a narrower page.
    this.below.style.setProperty('--left-share', `${(100 * left) / this.width()}%`);
    this.height = Math.max(60, height / scale + AXIS);
    this.plot.style.height = `${this.height}px`;
    this.image = new CellImage(context, layout, this.cells, this.sorted.rows, this.colours, currentTheme());
    this.scene = new Scene(layout, left, this.sorted.rows, this.sorted.stretches, this.below, this.image.marks);
  }

  private say(): void {
    const { layout: { perLine }, rows, marks } = this.scene!;
    const parts = [`${count(rows.length)} entities × time`];
    if (perLine > 1) parts.push(`${perLine} entities a line: their mean`);
    if (this.cells.size > 1) parts.push(`${this.cells.size} frames a column`);
    if (marks.some((mark) => mark & 1)) parts.push('hatched red: time is missing');
    if (marks.some((mark) => mark & 2)) parts.push(`hatched ${currentTheme().over === '#ffffff' ? 'white' : 'black'}: over 100 %`);
    setText(this.caption, parts.join(' · '));
  }

  /** Draws the changes that need no new cells. */
  private drawAbove(): void {
    const scene = this.scene!, ratio = scene.layout.scale;
    const width = this.width(), { height } = this;
    fit(this.above, width, height, ratio);
    const context = this.above.getContext('2d')!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    drawMarks(context, scene, this.app.ui, this.series, document.activeElement === this.plot ? this.cell : null);
  }

  /** Returns the exact values of a cell, from its frame. */
  private meanAt({ line, frame }: Cell): Mean | null {
    const { store } = this.app;
    if (frame < store.firstFrame || frame >= store.endFrame) return null;
    const whole = store.frame(frame), sum = new MeanSum(this.axes.length);
    for (const n of this.scene!.entitiesOf(line)) {
      const row = whole.rowOf[n] ?? -1;
      if (row >= 0) sum.add(weigh(whole, row, this.axes), whole.elapsed[row]!);
    }
    return sum.mean;
  }

  private nameOf({ line }: Cell): string {
    const names = Array.from(this.scene!.entitiesOf(line), (n) => this.app.ui.label(n));
    if (names.length < 4) return names.join(', ');
    return `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`;
  }

  private showTip(cell: Cell): void {
    const scene = this.scene!, mean = this.meanAt(cell), time = clock(this.series.endMs(cell.frame));
    this.tip.hidden = false;
    setText(this.tipName, this.nameOf(cell));
    setText(this.tipTime, mean ? time : `${time}: absent`);
    this.readout.element.hidden = !mean;
    this.readout.show(this.axes, this.colours, mean);
    const x = scene.x(cell.frame) + 14, isRight = x + this.tip.offsetWidth > this.width();
    this.tip.style.left = `${Math.max(0, isRight ? x - 28 - this.tip.offsetWidth : x)}px`;
    this.tip.style.top = `${scene.y(cell.line) + 14}px`;
  }

  private listen(): void {
    const { plot } = this;
    plot.addEventListener('pointermove', (event) => this.moved(event));
    plot.addEventListener('pointerdown', (event) => this.pressed(event));
    plot.addEventListener('pointerup', () => (this.brushFrom = null));
    plot.addEventListener('pointerleave', () => this.leave());
    plot.addEventListener('dblclick', () => this.pointer && this.pin(this.pointer));
    plot.addEventListener('keydown', (event) => this.key(event));
    plot.addEventListener('focus', () => this.series.again());
    plot.addEventListener('blur', () => this.series.again());
  }

  private cellAt(event: PointerEvent): Cell | null {
    if (!this.scene || this.scene.layout.lines === 0) return null;
    const box = this.plot.getBoundingClientRect(), { layout, left } = this.scene, { scale, lineHeight, lines, span } = layout;
    const line = Math.floor(((event.clientY - box.top) * scale) / lineHeight);
    const frame = frameAt(layout, (event.clientX - box.left - left) * scale);
    return { line: Math.min(lines - 1, Math.max(0, line)), frame: Math.min(span.to - 1, Math.max(span.from, frame)) };
  }

  private moved(event: PointerEvent): void {
    const cell = (this.pointer = this.cellAt(event));
    if (!cell) return;
    if (this.brushFrom !== null) this.brush(this.brushFrom, cell.line);
    else if (event.buttons === 1) this.series.scrub(cell.frame);
    this.pointAt(cell);
    this.showTip(cell);
  }

  /** Sets the selection in all views. */
  private pointAt(cell: Cell): void {
    this.app.ui.set({ hover: this.scene!.entitiesOf(cell.line)[0] ?? null });
    this.series.setCursor(cell.frame);
  }

  private pressed(event: PointerEvent): void {
    const cell = this.cellAt(event);
    if (!cell || event.button !== 0) return;
    if (event.pointerType !== 'touch') this.plot.setPointerCapture(event.pointerId);
    this.cell = cell;
    if (event.shiftKey) this.brush((this.brushFrom = cell.line), cell.line);
    else this.series.scrub(cell.frame);
  }

  private leave(): void {
    this.pointer = this.brushFrom = null;
    this.tip.hidden = true;
    this.app.ui.set({ hover: null });
    this.series.setCursor(null);
  }

  private brush(from: number, to: number): void {
    const { layout: { perLine }, rows } = this.scene!;
    this.app.ui.set({ brush: new Set(rows.subarray(Math.min(from, to) * perLine, (Math.max(from, to) + 1) * perLine)) });
  }

  private pin(cell: Cell): void {
    const pinned = toggledPins(this.app, this.scene!.entitiesOf(cell.line));
    this.app.ui.set({ pinned });
    const isPinned = pinned.has(this.scene!.entitiesOf(cell.line)[0]!);
    this.app.say(`${this.nameOf(cell)} ${isPinned ? 'pinned' : 'no longer pinned'}`);
  }

  private key(event: KeyboardEvent): void {
    if (!this.scene || this.scene.layout.lines === 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const cell = this.cell ?? { line: 0, frame: this.app.ui.state.current };
    if (event.key === 'Escape') this.escape();
    else if (event.key === 'Enter') this.series.scrub(cell.frame);
    else if (event.key.toLowerCase() === 'p') this.pin(cell);
    else if (!this.moveCell(cell, event)) return;
    used(event);
  }

  private escape(): void {
    this.brushFrom = null;
    this.app.ui.set({ brush: null, hover: null });
    this.series.setCursor(null);
  }

  /** The first key only shows the keyboard's cell. */
  private moveCell({ line, frame }: Cell, event: KeyboardEvent): boolean {
    const { firstFrame, endFrame } = this.app.store;
    const steps: Record<string, [lines: number, frames: number]> = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
      PageUp: [-PAGE, 0], PageDown: [PAGE, 0], Home: [0, -Infinity], End: [0, Infinity],
    };
    const step = this.cell || !steps[event.key] ? steps[event.key] : [0, 0];
    if (!step) return false;
    if (!event.shiftKey) this.brushFrom = null;
    else this.brushFrom ??= line;
    const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));
    const cell = (this.cell = {
      line: clamp(line + step[0]!, 0, this.scene!.layout.lines - 1), frame: clamp(frame + step[1]!, firstFrame, endFrame - 1),
    });
    if (this.brushFrom !== null) this.brush(this.brushFrom, cell.line);
    this.pointAt(cell);
    this.series.again();
    this.app.say(`${this.nameOf(cell)}, ${clock(this.series.endMs(cell.frame))}: ${inWords(this.axes, this.meanAt(cell))}`);
    return true;
  }
}

function equal(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

export const createBarymap: ViewFactory = (app) => new Barymap(app);
