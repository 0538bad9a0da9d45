// Barry3: each entity is a dot in a triangle, drawn towards each vertex by its share there.
//
// The height above a side is the share of the opposite vertex. Only the position uses shares
// divided by their sum. Missing time has a ring around the dot, time at no vertex a broken ring, and
// a text below the picture states both.
import type { Axis, Frame } from './types';
import { describe, pin } from './actions';
import type { Places } from './axes';
import { vertexColours } from './classes';
import { readable } from './colour';
import { Crowds, type Crowd } from './crowds';
import { button, element } from './dom';
import { percent } from './format';
import { cornerName, fitted, tag } from './marks';
import type { Host, Projection } from './projection';
import type { Depth, Spot } from './scatter';
import { currentTheme } from './theme';
import {
  around, clamp, fit, gridValues, isWithin, proportionsAt, scaled, SMALLEST, spotOf, WHOLE,
  type Corners, type Part, type Three,
} from './triangle';

const KEY_STEP = 0.02;
const SHORTEST_ARROW = 14; // pixels: shorter ones have no number

export class Barry3 implements Projection {
  readonly name = 'barry3';
  readonly label = 'each entity is a dot in a triangle. Arrow keys move the crosshair, plus and minus zoom, Enter pins, v names the states of a vertex, b shows the tetrahedron.';
  readonly drags = 'Zoom';
  readonly depths: Depth[] = [{ factor: 1, fade: 0 }];
  readonly depthOf = null;
  private readonly reset = button('Whole triangle', { class: 'small', hidden: '' }, () => this.show(WHOLE));
  readonly tools = [this.reset];
  private corners: Corners = fit(100, 100, { top: 0, side: 0, bottom: 0 });
  private part: Part = WHOLE;
  private readonly crowding = new Crowds();
  private cursor: Three | null = null; // position of the crosshair
  private drawn: Spot[] = []; // path of a drag
  private corner: Three | null = null; // where a brush by keys started

  constructor(private readonly host: Host) {}

  drawBackground(): void {
    const { scatter } = this.host;
    const isSmall = scatter.width < 420;
    this.corners = fit(scatter.width, scatter.height, { top: 42, side: isSmall ? 26 : 44, bottom: 46 });
    scatter.setBackground((context) => {
      this.drawGrid(context);
      this.drawNames(context, this.host.axes);
    });
    this.reset.hidden = this.part.size >= 1;
  }

  private show(part: Part): void {
    this.part = part;
    this.host.restart();
    this.host.app.say(part.size >= 1 ? 'The whole triangle.' : `A part from ${this.host.axes.map((axis, i) => `${axis.name} ${percent(part.from[i]!)}`).join(', ')}; edge ${percent(part.size)}.`);
  }

  put(frame: Frame, { proportions, sums }: Places, isHidden: (row: number) => boolean): number {
    const { corners, part, host: { scatter } } = this;
    const [top, left, right] = corners;
    const ratio = scatter.ratio / part.size;
    const [p, q, r] = proportions as [Float32Array, Float32Array, Float32Array];
    let outside = 0;
    for (let row = 0; row < frame.count; row++) {
      const a = p[row]! - part.from[0], b = q[row]! - part.from[1], c = r[row]! - part.from[2];
      const isPlaced = sums[row]! > 0 && !isHidden(row);
      if (!isPlaced || a < -1e-6 || b < -1e-6 || c < -1e-6) {
        scatter.hide(row);
        if (isPlaced) outside++;
        continue;
      }
      scatter.x[row] = (a * top.x + b * left.x + c * right.x) * ratio;
      scatter.y[row] = (a * top.y + b * left.y + c * right.y) * ratio;
    }
    return outside;
  }

  crowds(frame: Frame): Crowd[] {
    return this.crowding.spread(this.host.scatter, frame);
  }

  spotOf(proportions: readonly number[]): Spot | null {
    return isWithin(this.part, proportions as Three) ? spotOf(this.corners, this.part, proportions as Three) : null;
  }

  sides(): [Spot, Spot][] {
    const [top, left, right] = this.corners;
    return [[top, left], [left, right], [right, top]];
  }

  private colour(vertex: number): string {
    return readable(vertexColours(this.host.app.store.head!, 3)[vertex]!);
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
    const [dx, dy, align]: [number, number, CanvasTextAlign] =
      vertex === 0 ? [-13, -6, 'right'] : vertex === 1 ? [3, 16, 'center'] : [13, -7, 'left']; // outside of large dots on the sides
    const at = vertex === 0 ? (a.x < b.x ? a : b) : vertex === 1 ? (a.y > b.y ? a : b) : a.x > b.x ? a : b;
    context.fillStyle = this.colour(vertex);
    context.textAlign = align;
    context.textBaseline = 'middle';
    context.fillText(text, at.x + dx, at.y + dy);
  }

  private drawNames(context: CanvasRenderingContext2D, axes: Axis[]): void {
    const { corners, part, host: { scatter, names } } = this;
    const places: [CanvasTextAlign, number, number][] = [
      ['center', corners[0].x, corners[0].y - 26], // above a large dot
      ['left', Math.max(6, corners[1].x - 20), corners[1].y + 30],
      ['right', Math.min(scatter.width - 6, corners[2].x + 20), corners[2].y + 30],
    ];
    context.font = `600 14px ${currentTheme().font}`;
    context.textBaseline = 'middle';
    names.at.length = 3;
    places.forEach(([align, x, y], vertex) => {
      context.textAlign = align;
      context.fillStyle = this.colour(vertex);
      const room = scatter.width / (vertex === 0 ? 1.2 : 2.1);
      const whole = cornerName(axes[vertex]!.name, part.from[vertex]! + part.size);
      const text = fitted(context, whole, room), half = context.measureText(text).width / 2;
      context.fillText(text, x, y);
      names.at[vertex] = { x: x + (vertex === 0 ? 0 : vertex === 1 ? half : -half), y, half, axis: axes[vertex]! };
    });
  }

  drawBelow(): void { /* the grid is in the background */ }

  drawAbove(context: CanvasRenderingContext2D): void {
    if (this.cursor && this.host.app.ui.state.hover === null) this.drawCrosshair(context, this.cursor);
    if (this.drawn.length > 1) this.drawPart(context);
  }

  private drawCrosshair(context: CanvasRenderingContext2D, cursor: Three): void {
    context.lineWidth = 1;
    context.setLineDash([3, 3]);
    cursor.forEach((value, vertex) => {
      const [a, b] = this.line(vertex, value);
      context.strokeStyle = this.colour(vertex);
      stroke(context, a, b);
    });
    context.setLineDash([]);
  }

  /** Draws the coordinates as arrows, each at a right angle to a side, which is not visible in a part. */
  drawArrows(context: CanvasRenderingContext2D, proportions: readonly number[]): boolean {
    if (this.part.size < 1) return false;
    const from = spotOf(this.corners, WHOLE, proportions as Three);
    proportions.forEach((share, vertex) => {
      const others = [(vertex + 1) % 3, (vertex + 2) % 3];
      const foot: Three = [0, 0, 0];
      for (const other of others) foot[other] = proportions[other]! + share / 2;
      const to = spotOf(this.corners, WHOLE, foot);
      context.strokeStyle = context.fillStyle = this.colour(vertex);
      context.lineWidth = 1.75;
      if (arrow(context, from, to) < SHORTEST_ARROW) return;
      tag(context, `p${vertex + 1} ${percent(share)}`, { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }, this.colour(vertex));
    });
    return true;
  }

  /** Draws the frame of the new visible part, while the user drags. */
  private drawPart(context: CanvasRenderingContext2D): void {
    const { from, size } = this.enclosed(this.drawn);
    const theme = currentTheme();
    context.beginPath();
    for (const vertex of [0, 1, 2]) {
      const place = [...from] as Three;
      place[vertex]! += size;
      const spot = spotOf(this.corners, this.part, place);
      context.lineTo(spot.x, spot.y);
    }
    context.closePath();
    context.globalAlpha = 0.1;
    context.fillStyle = theme.pin;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = theme.pin;
    context.lineWidth = 1.25;
    context.stroke();
  }

  private enclosed(line: Spot[]): Part {
    return around(clamp(this.at(line[0]!)), clamp(this.at(line.at(-1)!)), 0.012 * this.part.size);
  }

  private at(spot: Spot): Three {
    return proportionsAt(this.corners, this.part, spot);
  }

  values(): HTMLElement[] | null {
    return this.cursor && this.cursor.map((value, i) => {
      const part = element('span', {}, `${this.host.axes[i]!.name} ${percent(value)}`);
      part.style.color = this.colour(i);
      return part;
    });
  }

  point(spot: Spot | null): void {
    const place = spot && this.at(spot);
    this.cursor = place && isWithin(this.part, place) ? place : null;
  }

  drag(line: Spot[]): void {
    this.drawn = line;
    this.host.redraw();
  }

  dragged(line: Spot[]): void {
    this.drawn = [];
    this.show(this.enclosed(line));
  }

  zooms(factor: number): boolean {
    return this.part.size < 1 && (factor > 1 || this.part.size > SMALLEST);
  }

  zoom(factor: number, spot: Spot): void {
    this.zoomAt(factor, clamp(this.at(spot)));
  }

  private zoomAt(factor: number, centre: Three): void {
    this.show(scaled(this.part, factor, centre));
  }

  key(event: KeyboardEvent): boolean {
    const middle: Three = this.cursor ?? (this.part.from.map((from) => from + this.part.size / 3) as Three);
    const step = KEY_STEP * this.part.size;
    switch (event.key) {
      case 'ArrowUp': return this.step([step, -step / 2, -step / 2], middle, event.shiftKey);
      case 'ArrowDown': return this.step([-step, step / 2, step / 2], middle, event.shiftKey);
      case 'ArrowLeft': return this.step([0, step, -step], middle, event.shiftKey);
      case 'ArrowRight': return this.step([0, -step, step], middle, event.shiftKey);
      case '+': case '=': this.zoomAt(0.5, middle); return true;
      case '-': this.zoomAt(2, middle); return true;
      case '0': this.show(WHOLE); return true;
      case 'Enter': return this.finish();
      default: return false;
    }
  }

  private lasso: Spot[] = []; // the brush by keys

  /** Moves the crosshair; with Shift, also the second corner of the brush. */
  private step(by: Three, from: Three, brushes: boolean): boolean {
    const { host } = this;
    const to = clamp(from.map((value, i) => Math.max(this.part.from[i]!, value + by[i]!)) as Three);
    this.corner = brushes ? this.corner ?? from : null;
    const spot = spotOf(this.corners, this.part, to);
    const room = KEY_STEP * (this.corners[2].x - this.corners[1].x) / 2;
    this.lasso = this.corner ? box(spotOf(this.corners, this.part, this.corner), spot, room) : [];
    host.brush(this.corner ? this.lasso : null);
    host.point(spot);
    this.cursor = to;
    const hover = host.app.ui.state.hover;
    const values = to.map((value, i) => `${host.axes[i]!.name} ${percent(value)}`).join(', ');
    host.app.say(hover === null ? values : describe(host.app, hover));
    host.redraw();
    return true;
  }

  private finish(): boolean {
    if (!this.corner) {
      const { hover } = this.host.app.ui.state;
      if (hover === null) return false;
      pin(this.host.app, hover);
    } else {
      this.corner = null;
      this.host.finish(this.lasso);
    }
    return true;
  }

  /** Cancels the drawing in progress, or else shows the whole triangle. Returns false if neither
   * was needed. */
  escape(): boolean {
    if (this.drawn.length > 0 || this.corner) {
      this.drawn = [];
      this.corner = null;
      this.host.brush(null);
      return true;
    }
    if (this.part.size >= 1) return false;
    this.show(WHOLE);
    return true;
  }
}

/** The rectangle around two spots, with some room on all sides: two spots side by side have no height. */
function box(a: Spot, b: Spot, room: number): Spot[] {
  const left = Math.min(a.x, b.x) - room, right = Math.max(a.x, b.x) + room;
  const top = Math.min(a.y, b.y) - room, bottom = Math.max(a.y, b.y) + room;
  return [{ x: left, y: top }, { x: right, y: top }, { x: right, y: bottom }, { x: left, y: bottom }];
}

function stroke(context: CanvasRenderingContext2D, a: Spot, b: Spot): void {
  context.beginPath();
  context.moveTo(a.x, a.y);
  context.lineTo(b.x, b.y);
  context.stroke();
}

/** Draws an arrow; returns its length. */
function arrow(context: CanvasRenderingContext2D, from: Spot, to: Spot): number {
  const dx = to.x - from.x, dy = to.y - from.y, length = Math.hypot(dx, dy);
  if (length < 3) return length;
  const head = Math.min(7, length), ux = dx / length, uy = dy / length;
  stroke(context, from, to);
  context.beginPath();
  context.moveTo(to.x, to.y);
  context.lineTo(to.x - head * ux + 0.45 * head * uy, to.y - head * uy - 0.45 * head * ux);
  context.lineTo(to.x - head * ux - 0.45 * head * uy, to.y - head * uy + 0.45 * head * ux);
  context.fill();
  return length;
}
