// The barymap: entities x time, each cell in the colour of its composition. A frame of Barry3 shows
// all entities at one time; this is the same over all of the time.
import { weigh } from './axes';
import { CellImage, frameAt, isSame, layOut, xOf, type Layout } from './barymap_image';
import { Cells } from './cells';
import { element, setText } from './dom';
import { clock, count } from './format';
import { MeanSum, type Mean } from './means';
import { ordered, type Order, type Ordered } from './order';
import { choice, fit, onWidth, used, whileSeen } from './parts';
import { inWords, Readout } from './readout';
import { seriesOf } from './series';
import { currentTheme, onThemeChange, pixelRatio } from './theme';
import type { App, Axis, View, ViewFactory } from './types';

const HEIGHT = 420; // of the cells, at most
const AXIS = 18; // the height of the axis of time
const NARROW = 520; // of the page: no room for names at the side
const SORT_MS = 2000; // while frames come, rows are put in order again this often
const NAMED = 11; // a line of this height has its name beside it

const KEYS = 'Arrows move, Enter shows that time, P pins, Shift with up and down chooses rows, Escape ends it.';

class Barymap implements View {
  readonly element: HTMLElement;
  private readonly series;
  private readonly isSeen;
  private readonly cells = new Cells();
  private readonly below = element('canvas', { 'aria-hidden': 'true' });
  private readonly above = element('canvas', { 'aria-hidden': 'true' });
  private readonly plot;
  private readonly caption = element('p', { class: 'caption' });
  private readonly readout = new Readout();
  private readonly tipName = element('b');
  private readonly tipTime = element('span');
  private readonly tip = element('div', { class: 'tip', hidden: '' });

  private axes: Axis[] = [];
  private order: Order = 'share';
  private sorted: Ordered = { rows: new Uint32Array(0), stretches: [] };
  private sortedAt = 0;
  private sortedAs = '';
  private layout: Layout | null = null;
  private image: CellImage | null = null;
  private painted = 0; // bins before this one are
  private generation = -1;
  private cell: { line: number; frame: number } | null = null; // the keyboard's
  private pointer: { line: number; frame: number } | null = null;
  private brushFrom: number | null = null; // a line

  constructor(private readonly app: App) {
    this.series = seriesOf(app);
    this.plot = element('div', {
      class: 'barymap-plot', tabindex: '0', role: 'application', 'aria-label': 'Barymap: entities by time',
      'aria-description': KEYS,
    }, this.below, this.above, this.tip);
    this.tip.append(this.tipName, this.tipTime, this.readout.element);
    const order = choice('Rows by', [
      ['share', 'share of the first axis'], ['cluster', 'cluster'], ['group', 'group'], ['name', 'name'],
    ] as const, (value) => this.setOrder(value));
    this.element = element('section', { class: 'panel wide barymap' },
      element('header', {}, element('h2', {}, 'Barymap'), this.caption, element('div', { class: 'choices' }, order)),
      this.plot);
    this.isSeen = whileSeen(this.element, () => this.series.again());
    this.series.watch(this, this.cells);
    this.listen();
    onWidth(this.plot, () => this.series.again());
    onThemeChange(() => {
      this.layout = null;
      this.series.again();
    });
  }

  // --------------------------------------------------------------------------------- drawing --

  draw(): void {
    const { store, ui } = this.app;
    if (!store.head || !this.isSeen() || this.plot.clientWidth === 0) return;
    if (this.axes !== ui.state.axes3) this.begin();
    this.cells.forget(store.firstFrame);
    this.series.run();
    this.sort();
    this.paint();
    this.drawOver();
  }

  private begin(): void {
    const { store, ui } = this.app;
    this.axes = ui.state.axes3;
    if (this.axes.length === 3)
      this.cells.reset(this.axes, store.firstFrame, Math.max(store.head!.frames, store.endFrame - store.firstFrame));
  }

  private setOrder(order: Order): void {
    this.order = order;
    this.sortedAs = '';
    this.series.again();
  }

  /** In order again: when another order is wanted, and when there is more, but not all the time. */
  private sort(): void {
    const { ui } = this.app;
    const [, end] = this.cells.range;
    const as = [this.order, this.cells.generation, this.order === 'group' ? ui.state.groupBy : ''].join(' ');
    const isDone = this.cells.next >= this.app.store.endFrame;
    const isMore = this.sortedEnd !== end && (performance.now() - this.sortedAt > SORT_MS || (isDone && !this.isLive()));
    if (as === this.sortedAs && !isMore) return;
    const before = this.sorted.rows;
    this.sorted = ordered(this.cells, this.order, ui, this.axes.map((axis) => axis.name));
    this.sortedAs = as;
    this.sortedEnd = end;
    this.sortedAt = performance.now();
    if (!equal(before, this.sorted.rows)) this.layout = null;
  }

  private sortedEnd = 0;

  private isLive(): boolean {
    return this.app.store.head!.live && !this.app.store.ended;
  }

  private get left(): number {
    return this.plot.clientWidth < NARROW ? 0 : 112;
  }

  private paint(): void {
    const ratio = pixelRatio();
    const width = Math.max(16, Math.floor((this.plot.clientWidth - this.left - 8) * ratio));
    const rows = this.sorted.rows;
    const layout = layOut(rows.length, this.series.span, width, HEIGHT * ratio, ratio);
    const isOld = !this.layout || !isSame(layout, this.layout) || this.generation !== this.cells.generation;
    const [from, to] = this.cells.range;
    if (isOld) {
      this.layout = layout;
      this.generation = this.cells.generation;
      this.painted = from;
      const height = layout.lines * layout.lineHeight;
      if (!fit(this.below, width / ratio, height / ratio, ratio))
        this.below.getContext('2d')!.clearRect(0, 0, width, height);
      this.below.style.left = `${this.left}px`;
      this.image = new CellImage(this.below.getContext('2d')!, layout, this.cells, rows,
        this.app.store.head!.colours.axes3, currentTheme());
      this.plot.style.height = `${Math.max(60, height / ratio + AXIS)}px`;
      this.say();
    }
    this.image!.paint(this.painted, to);
    this.painted = Math.max(from, to - 1); // the newest may grow
  }

  private say(): void {
    const { perLine } = this.layout!;
    const rows = this.sorted.rows.length;
    const parts = [`${count(rows)} entities × time`];
    if (perLine > 1) parts.push(`${perLine} entities a line: their mean`);
    if (this.cells.size > 1) parts.push(`${this.cells.size} frames a column`);
    parts.push('hatched red: time is missing', 'black: over 100 %');
    setText(this.caption, parts.join(' · '));
  }

  /** What changes without new cells: marks, names, the axis of time. */
  private drawOver(): void {
    const layout = this.layout!, ratio = layout.scale;
    const width = this.plot.clientWidth, height = this.plot.clientHeight;
    fit(this.above, width, height, ratio);
    const context = this.above.getContext('2d')!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = `11px ${currentTheme().font}`;
    context.textBaseline = 'middle';
    this.drawDimmed(context);
    this.drawStretches(context);
    this.drawNames(context);
    this.drawMarks(context);
    this.drawTimes(context);
    this.drawCursors(context);
  }

  /** Line to pixels of the page. */
  private y(line: number): number {
    return (line * this.layout!.lineHeight) / this.layout!.scale;
  }

  private x(frame: number): number {
    return this.left + xOf(this.layout!, frame) / this.layout!.scale;
  }

  private get bottom(): number {
    return this.y(this.layout!.lines);
  }

  private get right(): number {
    return this.left + this.layout!.width / this.layout!.scale;
  }

  private entitiesOf(line: number): Uint32Array {
    const { perLine } = this.layout!;
    return this.sorted.rows.subarray(line * perLine, (line + 1) * perLine);
  }

  private lineOf(n: number): number {
    const index = this.sorted.rows.indexOf(n);
    return index < 0 ? -1 : Math.floor(index / this.layout!.perLine);
  }

  private drawDimmed(context: CanvasRenderingContext2D): void {
    const { ui } = this.app;
    if (!ui.state.search && !ui.state.brush) return;
    context.globalAlpha = 0.8;
    context.fillStyle = currentTheme().paper;
    const { lines } = this.layout!;
    const isDim = (line: number) => this.entitiesOf(line).every((n) => ui.isDimmed(n));
    for (let from = 0; from < lines; from++) {
      if (!isDim(from)) continue;
      let to = from + 1;
      while (to < lines && isDim(to)) to++;
      context.fillRect(this.left, this.y(from), this.right - this.left, this.y(to) - this.y(from));
      from = to;
    }
    context.globalAlpha = 1;
  }

  private drawStretches(context: CanvasRenderingContext2D): void {
    const theme = currentTheme();
    let free = 0;
    for (const { from, to, text } of this.sorted.stretches) {
      const top = this.y(from / this.layout!.perLine), bottom = this.y(to / this.layout!.perLine);
      context.fillStyle = theme.paper;
      if (from > 0) context.fillRect(this.left, Math.round(top) - 1, this.right - this.left, 2);
      const middle = Math.max((top + bottom) / 2, free + 7);
      if (this.left === 0 || middle + 6 > this.bottom) continue;
      context.fillStyle = theme.quiet;
      context.textAlign = 'right';
      context.fillText(text, this.left - 10, middle, this.left - 12);
      free = middle + 7;
    }
  }

  /** Of every line where there is room, else of the pinned ones and the one under the pointer. */
  private drawNames(context: CanvasRenderingContext2D): void {
    const { ui } = this.app, theme = currentTheme(), layout = this.layout!;
    const isNamed = layout.lineHeight / layout.scale >= NAMED && this.sorted.stretches.length === 0;
    const named = new Map<number, number>();
    if (isNamed) this.sorted.rows.forEach((n, line) => named.set(line, n));
    for (const n of [...ui.state.pinned, ...(ui.state.hover === null ? [] : [ui.state.hover])]) {
      const line = this.lineOf(n);
      if (line >= 0) named.set(line, n);
    }
    for (const [line, n] of named) {
      const middle = (this.y(line) + this.y(line + 1)) / 2;
      const isChosen = ui.state.pinned.has(n) || n === ui.state.hover;
      context.fillStyle = ui.state.pinned.has(n) ? theme.pin : isChosen ? theme.ink : theme.quiet;
      if (isChosen) triangle(context, this.left, middle);
      if (this.left === 0) continue;
      const text = ui.label(n), width = Math.min(context.measureText(text).width, this.left - 12);
      if (isChosen) {
        context.fillStyle = theme.paper;
        context.fillRect(this.left - 12 - width, middle - 7, width + 4, 14);
        context.fillStyle = ui.state.pinned.has(n) ? theme.pin : theme.ink;
      }
      context.textAlign = 'right';
      context.fillText(text, this.left - 10, middle, this.left - 12);
    }
  }

  /** At the right: the lines with time that is missing, or booked twice. */
  private drawMarks(context: CanvasRenderingContext2D): void {
    const theme = currentTheme();
    this.image!.marks.forEach((mark, line) => {
      if (mark === 0) return;
      context.fillStyle = mark & 2 ? theme.over : theme.missing;
      context.fillRect(this.right + 2, this.y(line), 3, Math.max(1, this.y(line + 1) - this.y(line)));
    });
  }

  private drawTimes(context: CanvasRenderingContext2D): void {
    const theme = currentTheme();
    context.textAlign = 'center';
    for (const { frame, text } of this.series.ticks(Math.max(2, Math.floor((this.right - this.left) / 90)))) {
      const x = Math.round(this.x(frame)) + 0.5, half = context.measureText(text).width / 2;
      context.fillStyle = theme.grid;
      context.fillRect(x - 0.5, this.bottom, 1, 4);
      context.fillStyle = theme.quiet;
      if (x - half >= 0 && x + half <= this.plot.clientWidth) context.fillText(text, x, this.bottom + 11);
    }
  }

  private drawCursors(context: CanvasRenderingContext2D): void {
    const theme = currentTheme();
    const { hover, current } = this.app.ui.state;
    context.fillStyle = context.strokeStyle = theme.ink;
    const line = hover === null ? -1 : this.lineOf(hover);
    if (line >= 0) {
      context.globalAlpha = 0.5;
      context.strokeRect(this.left - 0.5, this.y(line) - 0.5, this.right - this.left + 1, this.y(line + 1) - this.y(line) + 1);
      context.globalAlpha = 1;
    }
    if (this.series.cursor !== null) {
      context.globalAlpha = 0.45;
      context.fillRect((this.x(this.series.cursor) + this.x(this.series.cursor + 1)) / 2, 0, 1, this.bottom);
      context.globalAlpha = 1;
    }
    const from = this.x(current), to = Math.max(from + 2, this.x(current + 1));
    context.fillStyle = theme.paper;
    context.fillRect(from - 2, 0, to - from + 4, this.bottom);
    context.drawImage(this.below, (from - this.left) * this.layout!.scale, 0, (to - from) * this.layout!.scale,
      this.below.height, from, 0, to - from, this.bottom);
    context.fillStyle = theme.ink;
    context.fillRect(from - 1, 0, 1, this.bottom + 4);
    context.fillRect(to, 0, 1, this.bottom + 4);
    if (this.cell && document.activeElement === this.plot) {
      context.lineWidth = 2;
      context.strokeRect(this.x(this.cell.frame) - 1, this.y(this.cell.line) - 1,
        Math.max(3, this.x(this.cell.frame + 1) - this.x(this.cell.frame)) + 2,
        Math.max(3, this.y(this.cell.line + 1) - this.y(this.cell.line)) + 2);
      context.lineWidth = 1;
    }
  }

  // ---------------------------------------------------------------------------- one cell --

  /** The exact values of a cell, from its frame. */
  private meanAt(line: number, frame: number): Mean | null {
    const { store } = this.app;
    if (frame < store.firstFrame || frame >= store.endFrame) return null;
    const whole = store.frame(frame), sum = new MeanSum(this.axes.length);
    for (const n of this.entitiesOf(line)) {
      const row = whole.rowOf[n] ?? -1;
      if (row >= 0) sum.add(weigh(whole, row, this.axes), whole.elapsed[row]!);
    }
    return sum.mean;
  }

  private nameOf(line: number): string {
    const names = Array.from(this.entitiesOf(line), (n) => this.app.ui.label(n));
    if (names.length < 4) return names.join(', ');
    return `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`;
  }

  private showTip(): void {
    this.tip.hidden = this.pointer === null;
    if (!this.pointer) return;
    const { line, frame } = this.pointer;
    const mean = this.meanAt(line, frame);
    setText(this.tipName, this.nameOf(line));
    setText(this.tipTime, mean ? clock(this.series.endMs(frame)) : `${clock(this.series.endMs(frame))}: not there`);
    this.readout.element.hidden = !mean;
    this.readout.show(this.axes, this.app.store.head!.colours.axes3, mean);
    const x = this.x(frame) + 14, y = this.y(line) + 14;
    const isRight = x + this.tip.offsetWidth > this.plot.clientWidth;
    this.tip.style.left = `${Math.max(0, isRight ? x - 28 - this.tip.offsetWidth : x)}px`;
    this.tip.style.top = `${y}px`;
  }

  private tell(): void {
    const { line, frame } = this.cell!;
    const words = inWords(this.axes, this.meanAt(line, frame));
    this.app.say(`${this.nameOf(line)}, ${clock(this.series.endMs(frame))}: ${words}`);
  }

  // ---------------------------------------------------------------------- pointer and keys --

  private listen(): void {
    const { plot } = this;
    plot.addEventListener('pointermove', (event) => this.moved(event));
    plot.addEventListener('pointerdown', (event) => this.pressed(event));
    plot.addEventListener('pointerup', () => (this.brushFrom = null));
    plot.addEventListener('pointerleave', () => this.leave());
    plot.addEventListener('dblclick', () => this.pointer && this.pin(this.pointer.line));
    plot.addEventListener('keydown', (event) => this.key(event));
    plot.addEventListener('focus', () => this.series.again());
    plot.addEventListener('blur', () => this.series.again());
  }

  private spot(event: PointerEvent): { line: number; frame: number } | null {
    if (!this.layout || this.layout.lines === 0) return null;
    const box = this.plot.getBoundingClientRect(), { scale, lineHeight, lines, span } = this.layout;
    const line = Math.floor(((event.clientY - box.top) * scale) / lineHeight);
    const frame = frameAt(this.layout, (event.clientX - box.left - this.left) * scale);
    return { line: Math.min(lines - 1, Math.max(0, line)), frame: Math.min(span.to - 1, Math.max(span.from, frame)) };
  }

  private moved(event: PointerEvent): void {
    this.pointer = this.spot(event);
    if (!this.pointer) return;
    const { line, frame } = this.pointer;
    if (this.brushFrom !== null) this.brush(this.brushFrom, line);
    else if (event.buttons === 1) this.series.scrub(frame);
    this.app.ui.set({ hover: this.entitiesOf(line)[0] ?? null });
    this.series.setCursor(frame);
    this.showTip();
  }

  private pressed(event: PointerEvent): void {
    const spot = this.spot(event);
    if (!spot || event.button !== 0) return;
    if (event.pointerType !== 'touch') this.plot.setPointerCapture(event.pointerId);
    this.cell = spot;
    if (event.shiftKey) this.brush((this.brushFrom = spot.line), spot.line);
    else this.series.scrub(spot.frame);
  }

  private leave(): void {
    this.pointer = this.brushFrom = null;
    this.tip.hidden = true;
    this.app.ui.set({ hover: null });
    this.series.setCursor(null);
  }

  private brush(from: number, to: number): void {
    const { perLine } = this.layout!;
    const rows = this.sorted.rows.subarray(Math.min(from, to) * perLine, (Math.max(from, to) + 1) * perLine);
    this.app.ui.set({ brush: new Set(rows) });
  }

  private pin(line: number): void {
    const entities = [...this.entitiesOf(line)], pinned = new Set(this.app.ui.state.pinned);
    const areAll = entities.every((n) => pinned.has(n));
    for (const n of entities) areAll ? pinned.delete(n) : pinned.add(n);
    this.app.ui.set({ pinned });
    this.app.say(`${this.nameOf(line)} ${areAll ? 'no longer pinned' : 'pinned'}`);
  }

  private key(event: KeyboardEvent): void {
    if (!this.layout || this.layout.lines === 0 || event.altKey || event.metaKey) return;
    const cell = this.cell ?? { line: 0, frame: this.app.ui.state.current };
    if (event.key === 'Escape') this.escape();
    else if (event.key === 'Enter') this.series.scrub(cell.frame);
    else if (event.key === 'p' || event.key === 'P') this.pin(cell.line);
    else if (!this.moveCell(cell, event)) return;
    used(event);
  }

  private escape(): void {
    this.brushFrom = null;
    this.app.ui.set({ brush: null, hover: null });
    this.series.setCursor(null);
  }

  private moveCell({ line, frame }: { line: number; frame: number }, event: KeyboardEvent): boolean {
    const { firstFrame, endFrame } = this.app.store, page = 10;
    const steps: Record<string, [lines: number, frames: number]> = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
      PageUp: [-page, 0], PageDown: [page, 0], Home: [0, -Infinity], End: [0, Infinity],
    };
    const step = steps[event.key];
    if (!step) return false;
    if (event.shiftKey && this.brushFrom === null) this.brushFrom = line;
    if (!event.shiftKey) this.brushFrom = null;
    const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));
    this.cell = {
      line: clamp(line + step[0] * (this.cell ? 1 : 0), 0, this.layout!.lines - 1),
      frame: clamp(frame + step[1], firstFrame, endFrame - 1),
    };
    if (this.brushFrom !== null) this.brush(this.brushFrom, this.cell.line);
    this.app.ui.set({ hover: this.entitiesOf(this.cell.line)[0] ?? null });
    this.series.setCursor(this.cell.frame);
    this.series.again();
    this.tell();
    return true;
  }
}

function equal(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

function triangle(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.beginPath();
  context.moveTo(x - 1, y);
  context.lineTo(x - 7, y - 4);
  context.lineTo(x - 7, y + 4);
  context.fill();
}

export const createBarymap: ViewFactory = (app) => new Barymap(app);
