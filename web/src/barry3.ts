// Barry3: each entity is a dot in a triangle, drawn towards each vertex by its share there.
//
// The height above a side is the share of the opposite vertex. Only the position uses shares
// divided by their sum. Missing time has a ring around the dot, time at no vertex a broken ring, and
// a text below the picture states both.
import type { App, Axis, Frame, View, ViewFactory } from './types';
import { brush, describe, pin } from './actions';
import { placeAll, type Places } from './axes';
import { Crowds } from './crowds';
import { button, element, setText } from './dom';
import { count, percent } from './format';
import { Gestures } from './gestures';
import { leftOutText } from './sums';
import { Scatter, type Spot } from './scatter';
import { currentTheme } from './theme';
import { showTooltip } from './tooltip';
import { drawLabels, drawTrails, fitted, type Label } from './marks';
import {
  around, clamp, fit, gridValues, isWithin, proportionsAt, scaled, spotOf, WHOLE,
  type Corners, type Part, type Three,
} from './triangle';
import { VertexNames } from './vertex_names';

const KEY_STEP = 0.02;

export class Barry3 implements View {
  readonly element: HTMLElement;
  private readonly scatter: Scatter;
  private readonly readout = element('p', { class: 'readout' });
  private readonly leftOut = element('p', { class: 'warn left-out', hidden: '' });
  private readonly outside = element('span', { class: 'outside' });
  private readonly reset = button('Whole triangle', { class: 'small', hidden: '' }, () => this.show(WHOLE));
  private corners: Corners = fit(100, 100, { top: 0, side: 0, bottom: 0 });
  private part: Part = WHOLE;
  private isStale = true; // of the background
  private axes: Axis[] | null = null;
  private places: Places | null = null;
  private crowds: Label[] = [];
  private readonly names: VertexNames;
  private readonly crowding = new Crowds();
  private cursor: Three | null = null; // position of the crosshair
  private drawn: Spot[] = []; // path of a drag
  private isDrawnPart = false;

  constructor(private readonly app: App) {
    this.scatter = new Scatter(app, 'Barry3: each entity is a dot in a triangle. Arrow keys move the crosshair, plus and minus zoom, Enter pins, v names the states of a vertex.', () => this.restart());
    this.names = new VertexNames(app, this.scatter.element);
    this.element = element('section', { class: 'panel barry3', id: 'barry3' },
      element('header', {}, element('h2', {}, 'Barry3'), this.readout, this.outside, this.reset),
      this.scatter.element, this.leftOut);
    this.listen();
  }

  draw(): void {
    const { axes3 } = this.app.ui.state;
    this.element.hidden = axes3.length !== 3;
    if (axes3.length !== 3 || this.scatter.width === 0) return;
    const frame = this.app.shown();
    if (axes3 !== this.axes || this.isStale) this.drawBackground(axes3);
    if (this.places?.frame !== frame || this.places.axes !== axes3) this.places = placeAll(frame, axes3, this.places);
    this.putAll(frame, this.places);
    this.scatter.paint([{ radius: this.scatter.radius(), fade: 0 }], null, null);
    this.drawText(frame);
    setText(this.leftOut, leftOutText(frame, axes3));
    this.leftOut.hidden = this.leftOut.textContent === '';
    this.reset.hidden = this.part.size >= 1;
  }

  private restart(): void {
    this.isStale = true;
    this.draw();
  }

  private show(part: Part): void {
    this.part = part;
    this.restart();
    this.app.say(part.size >= 1 ? 'The whole triangle.' : `A part from ${this.axes!.map((axis, i) => `${axis.name} ${percent(part.from[i]!)}`).join(', ')}; edge ${percent(part.size)}.`);
  }

  private putAll(frame: Frame, { proportions, sums, leftOut }: Places): void {
    const { scatter, corners, part } = this;
    const [top, left, right] = corners;
    const ratio = scatter.ratio / part.size;
    const [p, q, r] = proportions as [Float32Array, Float32Array, Float32Array];
    scatter.begin(frame, leftOut);
    let outside = 0;
    for (let row = 0; row < frame.count; row++) {
      const a = p[row]! - part.from[0], b = q[row]! - part.from[1], c = r[row]! - part.from[2];
      if (!(sums[row]! > 0) || a < -1e-6 || b < -1e-6 || c < -1e-6) {
        scatter.hide(row);
        if (sums[row]! > 0) outside++;
        continue;
      }
      scatter.x[row] = (a * top.x + b * left.x + c * right.x) * ratio;
      scatter.y[row] = (a * top.y + b * left.y + c * right.y) * ratio;
    }
    this.crowds = this.crowding.spread(scatter, frame);
    setText(this.outside, outside > 0 ? `${count(outside)} outside of this part` : '');
  }

  private drawBackground(axes: Axis[]): void {
    const { scatter } = this;
    const isSmall = scatter.width < 420;
    this.corners = fit(scatter.width, scatter.height, { top: 30, side: isSmall ? 26 : 44, bottom: 46 });
    this.axes = axes;
    this.isStale = false;
    scatter.setBackground((context) => {
      this.drawGrid(context);
      this.drawNames(context, axes);
    });
  }

  private colour(vertex: number): string {
    return this.app.store.head?.colours.axes3[vertex] ?? currentTheme().ink;
  }

  /** Returns the line where a vertex has this proportion, between two sides of the visible part. */
  private line(vertex: number, value: number): [Spot, Spot] {
    const { part, corners } = this;
    const [one, other] = [(vertex + 1) % 3, (vertex + 2) % 3] as [number, number];
    const at = (least: number, most: number): Spot => {
      const place: Three = [0, 0, 0];
      place[vertex] = value;
      place[least] = part.from[least]!;
      place[most] = 1 - value - part.from[least]!;
      return spotOf(corners, part, place);
    };
    return [at(one, other), at(other, one)];
  }

  private drawGrid(context: CanvasRenderingContext2D): void {
    const theme = currentTheme();
    context.lineWidth = 1;
    context.font = `11px ${theme.font}`;
    for (let vertex = 0; vertex < 3; vertex++)
      for (const value of gridValues(this.part, vertex)) {
        const [a, b] = this.line(vertex, value);
        context.strokeStyle = theme.grid;
        stroke(context, a, b);
        this.drawScale(context, vertex, value, a, b);
      }
    const [top, left, right] = this.corners;
    context.strokeStyle = theme.edge;
    context.lineWidth = 1.25;
    context.lineJoin = 'round';
    context.beginPath();
    context.moveTo(top.x, top.y);
    context.lineTo(left.x, left.y);
    context.lineTo(right.x, right.y);
    context.closePath();
    context.stroke();
  }

  /** Writes the number of a grid line: beside the left side for the top vertex, below the base for
   * the left vertex, beside the right side for the right vertex. */
  private drawScale(context: CanvasRenderingContext2D, vertex: number, value: number, a: Spot, b: Spot): void {
    const text = `${+(100 * value).toFixed(3)}`;
    const [spot, dx, dy, align]: [Spot, number, number, CanvasTextAlign] =
      vertex === 0 ? [b, -6, 0, 'right'] : vertex === 1 ? [b, 3, 11, 'center'] : [b, 5, -4, 'left'];
    const at = vertex === 0 ? (a.x < b.x ? a : b) : vertex === 1 ? (a.y > b.y ? a : b) : a.x > b.x ? a : b;
    context.fillStyle = this.colour(vertex);
    context.textAlign = align;
    context.textBaseline = 'middle';
    context.fillText(text, (at ?? spot).x + dx, (at ?? spot).y + dy);
  }

  private drawNames(context: CanvasRenderingContext2D, axes: Axis[]): void {
    const { corners, scatter } = this;
    const places: [CanvasTextAlign, number, number][] = [
      ['center', corners[0].x, corners[0].y - 12],
      ['left', Math.max(6, corners[1].x - 20), corners[1].y + 30],
      ['right', Math.min(scatter.width - 6, corners[2].x + 20), corners[2].y + 30],
    ];
    context.font = `600 14px ${currentTheme().font}`;
    context.textBaseline = 'middle';
    places.forEach(([align, x, y], vertex) => {
      context.textAlign = align;
      context.fillStyle = this.colour(vertex);
      const room = scatter.width / (vertex === 0 ? 1.2 : 2.1);
      const text = fitted(context, axes[vertex]!.name, room), half = context.measureText(text).width / 2;
      context.fillText(text, x, y);
      this.names.at[vertex] = { x: x + (vertex === 0 ? 0 : vertex === 1 ? half : -half), y, half, axis: axes[vertex]! };
    });
  }

  private drawText(frame: Frame): void {
    const { scatter, app } = this;
    const context = scatter.beginText();
    const trails = [...app.ui.state.pinned];
    drawTrails(context, app, trails, this.axes!, (proportions) =>
      isWithin(this.part, proportions as Three) ? spotOf(this.corners, this.part, proportions as Three) : null);
    const [top, left, right] = this.corners;
    drawLabels(context, this.crowds, 'quiet', scatter.width, [[top, left], [left, right], [right, top]]);
    const chosen = new Set(trails);
    if (app.ui.state.hover !== null) chosen.add(app.ui.state.hover);
    const named: Label[] = [];
    for (const n of chosen) {
      const spot = scatter.spotOf(n);
      if (spot) named.push({ ...spot, text: app.ui.label(n) });
    }
    drawLabels(context, named, 'ink', scatter.width);
    this.drawCrosshair(context, frame);
    this.drawDrag(context);
  }

  private drawCrosshair(context: CanvasRenderingContext2D, frame: Frame): void {
    const { cursor } = this;
    setText(this.readout, cursor ? '' : `${count(frame.count)} entities`);
    if (!cursor) return;
    this.readout.replaceChildren(...cursor.map((value, i) => {
      const part = element('span', {}, `${this.axes![i]!.name} ${percent(value)}`);
      part.style.color = this.colour(i);
      return part;
    }));
    context.lineWidth = 1;
    context.setLineDash([3, 3]);
    cursor.forEach((value, vertex) => {
      const [a, b] = this.line(vertex, value);
      context.strokeStyle = this.colour(vertex);
      stroke(context, a, b);
    });
    context.setLineDash([]);
  }

  /** Draws the lasso, or the frame of the new visible part, while the user drags. */
  private drawDrag(context: CanvasRenderingContext2D): void {
    if (this.drawn.length < 2) return;
    const theme = currentTheme();
    context.beginPath();
    for (const spot of this.isDrawnPart ? this.partOf(this.drawn) : this.drawn) context.lineTo(spot.x, spot.y);
    context.closePath();
    context.globalAlpha = 0.1;
    context.fillStyle = theme.pin;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = theme.pin;
    context.lineWidth = 1.25;
    context.stroke();
  }

  private partOf(line: Spot[]): Spot[] {
    const { from, size } = this.enclosed(line);
    return [0, 1, 2].map((vertex) => {
      const place = [...from] as Three;
      place[vertex]! += size;
      return spotOf(this.corners, this.part, place);
    });
  }

  private enclosed(line: Spot[]): Part {
    const at = (spot: Spot) => clamp(proportionsAt(this.corners, this.part, spot));
    return around(at(line[0]!), at(line.at(-1)!), 0.012 * this.part.size);
  }

  private at(spot: Spot): Three {
    return proportionsAt(this.corners, this.part, spot);
  }

  private listen(): void {
    new Gestures(this.scatter.element, {
      move: (spot) => this.point(spot),
      leave: () => this.point(null),
      press: (spot) => pin(this.app, this.scatter.nearest(spot)),
      drag: (line, brushes) => {
        this.drawn = line;
        this.isDrawnPart = !brushes;
        this.app.redraw(this);
      },
      dragged: (line, brushes) => {
        this.drawn = [];
        if (brushes) brush(this.app, this.scatter.within(line));
        else this.show(this.enclosed(line));
      },
      zoom: (factor, spot) => this.zoom(factor, clamp(this.at(spot))),
      doubled: (spot) => {
        pin(this.app, this.scatter.nearest(spot)); // undoes the first press
        this.zoom(0.5, clamp(this.at(spot)));
      },
    });
    this.scatter.element.addEventListener('keydown', (event) => {
      if (this.key(event)) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
    this.scatter.element.addEventListener('blur', () => this.point(null));
  }

  private point(spot: Spot | null): void {
    const place = spot && this.at(spot);
    this.cursor = place && isWithin(this.part, place) ? place : null;
    const hover = spot ? this.scatter.nearest(spot) : null;
    if (hover !== null || !spot || !this.names.point(spot)) showTooltip(this.app, this.scatter.element, spot, hover, this.axes ?? []);
    if (hover === this.app.ui.state.hover) this.drawText(this.app.shown());
    else this.app.ui.set({ hover });
  }

  private zoom(factor: number, centre: Three): void {
    this.show(scaled(this.part, factor, centre));
  }

  private key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.axes) return false;
    const middle: Three = this.cursor ?? (this.part.from.map((from) => from + this.part.size / 3) as Three);
    const step = KEY_STEP * this.part.size;
    switch (event.key) {
      case 'ArrowUp': return this.step([step, -step / 2, -step / 2], middle, event.shiftKey);
      case 'ArrowDown': return this.step([-step, step / 2, step / 2], middle, event.shiftKey);
      case 'ArrowLeft': return this.step([0, step, -step], middle, event.shiftKey);
      case 'ArrowRight': return this.step([0, -step, step], middle, event.shiftKey);
      case '+': case '=': this.zoom(0.5, middle); return true;
      case '-': this.zoom(2, middle); return true;
      case '0': this.show(WHOLE); return true;
      case 'Escape': return this.escape();
      case 'v': this.names.next(); return true;
      case 'Enter': this.finish(); return true;
      default: return false;
    }
  }

  private corner: Three | null = null; // where a brush by keys started

  /** Moves the crosshair; with Shift, also the second corner of the brush. */
  private step(by: Three, from: Three, brushes: boolean): boolean {
    const to = clamp(from.map((value, i) => Math.max(this.part.from[i]!, value + by[i]!)) as Three);
    this.corner = brushes ? this.corner ?? from : null;
    const spot = spotOf(this.corners, this.part, to);
    this.drawn = this.corner ? box(spotOf(this.corners, this.part, this.corner), spot) : [];
    this.isDrawnPart = false;
    this.point(spot);
    this.cursor = to;
    const hover = this.app.ui.state.hover;
    const values = to.map((value, i) => `${this.axes![i]!.name} ${percent(value)}`).join(', ');
    this.app.say(hover === null ? values : describe(this.app, hover));
    this.draw();
    return true;
  }

  private finish(): void {
    if (!this.corner) return pin(this.app, this.app.ui.state.hover);
    const line = this.drawn;
    this.corner = null;
    this.drawn = [];
    brush(this.app, this.scatter.within(line));
    this.draw();
  }

  /** Cancels the drawing in progress, or else shows the whole triangle. Returns false if neither
   * was needed. */
  private escape(): boolean {
    if (this.drawn.length > 0) {
      this.drawn = [];
      this.corner = null;
      this.draw();
      return true;
    }
    if (this.part.size >= 1) return false;
    this.show(WHOLE);
    return true;
  }
}

export const createBarry3: ViewFactory = (app) => new Barry3(app);

const box = (a: Spot, b: Spot): Spot[] => [a, { x: b.x, y: a.y }, b, { x: a.x, y: b.y }];

function stroke(context: CanvasRenderingContext2D, a: Spot, b: Spot): void {
  context.beginPath();
  context.moveTo(a.x, a.y);
  context.lineTo(b.x, b.y);
  context.stroke();
}
