// A chart with one axis of time or of entities, drawn by uPlot. This file adds the cursor shared by
// all views of time, the mark of the current frame, hatching, and the keys.
import uPlot from 'uplot';
import { element, setAttribute } from './dom';
import { onWidth } from './parts';
import { currentTheme, pixelRatio } from './theme';
import { writeTicks } from './time';

const HEIGHT = 220;
const LEFT = 46; // for the percentages

export interface ChartEvents {
  moved(x: number | null): void; // a value of the axis; null: the pointer has left
  pressed(x: number, isDrag: boolean): void;
  key(event: KeyboardEvent): void;
  resized(): void;
}

/** The parts of a chart besides its data. */
export interface ChartShape {
  series: uPlot.Series[]; // without x
  ticks: { at: () => number[]; text: (x: number) => string };
}

export class Chart {
  readonly element: HTMLElement;
  private plot: uPlot | null = null;
  private shapeKey = '';
  private readonly mark = element('div', { class: 'mark' });
  private readonly cursor = element('div', { class: 'cursor', hidden: '' });
  private x: [number, number] = [0, 1];
  private top = 1;

  constructor(label: string, private readonly events: ChartEvents) {
    this.element = element('div', { class: 'chart', tabindex: '0', role: 'slider', 'aria-label': label });
    this.element.addEventListener('keydown', (event) => events.key(event));
    onWidth(this.element, () => {
      this.plot?.setSize(this.size());
      events.resized();
    });
  }

  /** Rebuilds the chart if the key differs. */
  shape(key: string, make: () => ChartShape): void {
    if (key === this.shapeKey && this.plot) return;
    this.shapeKey = key;
    this.plot?.destroy();
    const shape = make();
    this.plot = new uPlot(this.options(shape), [[], ...shape.series.map(() => [])], this.element);
    this.plot.over.append(this.mark, this.cursor);
    this.listen(this.plot.over);
  }

  /** Sets the data: [x, series...]. The axes extend over `x`, and from 0 to `top`. */
  setData(data: uPlot.AlignedData, x: [number, number], top: number): void {
    this.x = x;
    this.top = top;
    this.plot!.setData(data);
  }

  /** Marks [from, to); null removes the mark. */
  setMark(range: [number, number] | null): void {
    this.mark.hidden = !range;
    if (!range || !this.plot) return;
    const from = this.plot.valToPos(range[0], 'x'), to = this.plot.valToPos(range[1], 'x');
    this.mark.style.left = `${from - 1}px`;
    this.mark.style.width = `${Math.max(3, to - from + 2)}px`;
  }

  /** Moves the line of the cursor; null hides it. */
  setCursor(x: number | null): void {
    this.cursor.hidden = x === null;
    if (x !== null && this.plot) this.cursor.style.left = `${this.plot.valToPos(x, 'x')}px`;
  }

  /** Announces the chart's position to screen readers. */
  setValue(now: number, least: number, most: number, text: string): void {
    const values = { 'aria-valuemin': least, 'aria-valuemax': most, 'aria-valuenow': now, 'aria-valuetext': text };
    for (const [name, value] of Object.entries(values)) setAttribute(this.element, name, value);
  }

  private size(): { width: number; height: number } {
    return { width: Math.max(120, this.element.clientWidth), height: HEIGHT };
  }

  private options(shape: ChartShape): uPlot.Options {
    const theme = currentTheme();
    const font = `11px ${theme.font}`;
    const axis: uPlot.Axis = {
      stroke: theme.quiet, font, grid: { stroke: theme.grid, width: 1 }, ticks: { stroke: theme.grid, width: 1, size: 4 },
    };
    return {
      ...this.size(),
      padding: [8, 10, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false, range: () => this.x }, y: { range: () => [0, this.top] } },
      axes: [
        { ...axis, size: 24, gap: 3, splits: () => shape.ticks.at(), values: (_, at) => at.map(() => '') },
        { ...axis, size: LEFT, gap: 4, space: 26, values: (_, at) => at.map((value) => `${Math.round(value * 1000) / 10} %`) },
      ],
      series: [{}, ...shape.series],
      hooks: { drawAxes: [(plot) => writeBelow(plot, shape.ticks, theme.quiet, font)] },
    };
  }

  private listen(over: HTMLElement): void {
    const at = (event: PointerEvent) => this.plot!.posToVal(event.clientX - over.getBoundingClientRect().left, 'x');
    over.addEventListener('pointerdown', (event) => {
      over.setPointerCapture(event.pointerId);
      this.events.pressed(at(event), false);
    });
    over.addEventListener('pointermove', (event) => {
      const x = Math.min(this.x[1] - 1e-6, Math.max(this.x[0], at(event)));
      if (event.buttons === 1) this.events.pressed(x, true);
      this.events.moved(x);
    });
    over.addEventListener('pointerleave', () => this.events.moved(null));
  }
}

/** uPlot itself would truncate the last text at the edge. */
function writeBelow(plot: uPlot, ticks: ChartShape['ticks'], ink: string, font: string): void {
  const { ctx, bbox: { left, top, height } } = plot, ratio = pixelRatio();
  ctx.save();
  ctx.scale(ratio, ratio);
  ctx.font = font;
  ctx.fillStyle = ink;
  ctx.textBaseline = 'middle';
  writeTicks(ctx, ticks.at().map((at) => ({ x: left / ratio + plot.valToPos(at, 'x'), text: ticks.text(at) })),
    (top + height) / ratio + 13, plot.width);
  ctx.restore();
}

/** Draws steps: a value holds from its x to the next one, and the last x is only an end. Areas
 * start at `base`; null draws a line. */
function steps(base: number | null): uPlot.Series.PathBuilder {
  return (plot, series, from, to) => {
    const xs = plot.data[0], values = plot.data[series]!;
    const x = (i: number) => Math.round(plot.valToPos(xs[i]!, 'x', true)), y = (value: number) => plot.valToPos(value, 'y', true);
    const path = new Path2D();
    let isWithin = false;
    for (let i = from; i < to; i++) {
      const value = values[i] ?? null, left = x(i), right = x(i + 1);
      if (value !== null && base !== null) path.rect(left, y(value), right - left, y(base) - y(value));
      else if (value !== null) {
        if (isWithin) path.lineTo(left, y(value));
        else path.moveTo(left, y(value));
        path.lineTo(right, y(value));
      }
      isWithin = value !== null;
    }
    return base === null ? { stroke: path, flags: 0 } : { fill: path, flags: 0 };
  };
}

export function area(fill: uPlot.Series['fill'], base = 0): uPlot.Series {
  return { fill: fill!, width: 0, paths: steps(base), points: { show: false } };
}

export function line(stroke: string, width = 1.5, dash?: number[]): uPlot.Series {
  return { stroke, width, paths: steps(null), points: { show: false }, ...(dash && { dash }) };
}

/** Returns diagonal strokes without a background. With `lean` -1, they lean the other way. */
export function hatching(colour: string, lean: 1 | -1 = 1): (plot: uPlot) => CanvasPattern {
  const made = new Map<number, CanvasPattern>();
  return (plot) => {
    const ratio = pixelRatio();
    let pattern = made.get(ratio);
    if (!pattern) made.set(ratio, (pattern = plot.ctx.createPattern(tile(colour, lean, Math.round(6 * ratio), ratio), 'repeat')!));
    return pattern;
  };
}

/** Returns a square of diagonal strokes, which repeats without a seam. */
export function tile(colour: string, lean: 1 | -1, size: number, ratio: number): HTMLCanvasElement {
  const canvas = element('canvas');
  canvas.width = canvas.height = size;
  const context = canvas.getContext('2d')!;
  context.strokeStyle = colour;
  context.lineWidth = 1.25 * ratio;
  for (const shift of [-size, 0, size]) {
    context.beginPath();
    context.moveTo(shift, lean > 0 ? size : 0);
    context.lineTo(shift + size, lean > 0 ? 0 : size);
    context.stroke();
  }
  return canvas;
}
