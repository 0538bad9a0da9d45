// Barry4: each entity is a dot in a tetrahedron, which can be turned. Nearer dots are larger and
// more opaque; pinned, dimmed and hovered entities are the same everywhere.
import type { App, Axis, Frame, View, ViewFactory } from './types';
import { brush, pin } from './actions';
import { CORNERS4, placeAll, type Places } from './axes';
import { button, element, setText } from './dom';
import { Gestures } from './gestures';
import { drawLabels, drawTrails, fitted, type Label } from './marks';
import { whileSeen } from './parts';
import { Scatter, type Spot } from './scatter';
import { leftOutText } from './sums';
import { currentTheme, prefersLessMotion } from './theme';
import { showTooltip } from './tooltip';
import { VertexNames } from './vertex_names';

type Point = [x: number, y: number, z: number];

const LEVELS = 8; // of distance
const EYE = 4.2; // distance of the eye, in heights of the tetrahedron
const BEGIN = { turn: -0.38, tilt: 0.22 };
const TILT_MAXIMUM = Math.PI / 2;
const TURN_PER_PIXEL = 0.009;
const TURN_PER_KEY = 0.08;
const TURN_PER_S = 0.35;

const middle = [0, 1, 2].map((i) => CORNERS4.reduce((sum, corner) => sum + corner[i]!, 0) / 4) as Point;
const CORNERS = CORNERS4.map((corner) => corner.map((value, i) => value - middle[i]!) as Point);
const OUTER = Math.max(...CORNERS.map(([x, y, z]) => Math.hypot(x, y, z)));

const EDGES = [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3], [3, 1]] as const;

export class Barry4 implements View {
  readonly element: HTMLElement;
  private readonly scatter: Scatter;
  private readonly names: VertexNames;
  private readonly leftOut = element('p', { class: 'warn left-out', hidden: '' });
  private readonly spin = button('Turn', { class: 'small', 'aria-pressed': 'false', 'aria-label': 'Turn slowly' }, () => this.toggleSpin());
  private turn = BEGIN.turn;
  private tilt = BEGIN.tilt;
  private places: Places | null = null;
  private axes: Axis[] | null = null;
  private lasso: Spot[] = [];
  private corners: (Spot & { nearness: number })[] = []; // projected
  private order = new Uint32Array(0);
  private levelOf = new Uint8Array(0);
  private isSpinning = false;
  private readonly isSeen;
  private dragged: Spot | null = null;

  constructor(private readonly app: App) {
    this.scatter = new Scatter(app, 'Barry4: each entity is a dot in a tetrahedron. Arrow keys turn it, n and N go through the entities, Enter pins, v names the states of a vertex.', () => this.restart());
    this.names = new VertexNames(app, this.scatter.element);
    this.element = element('section', { class: 'panel barry4', id: 'barry4' },
      element('header', {}, element('h2', {}, 'Barry4'), this.spin), this.scatter.element, this.leftOut);
    this.spin.hidden = prefersLessMotion();
    this.isSeen = whileSeen(this.element, () => undefined);
    this.listen();
  }

  draw(): void {
    const { axes4 } = this.app.ui.state;
    this.element.hidden = axes4.length !== 4;
    if (axes4.length !== 4 || this.scatter.width === 0) return;
    const frame = this.app.shown();
    if (this.places?.frame !== frame || this.places.axes !== axes4) this.places = placeAll(frame, axes4, this.places);
    this.axes = axes4;
    this.project();
    this.putAll(frame, this.places);
    const radius = this.scatter.radius();
    this.scatter.paint(Array.from({ length: LEVELS }, (_, level) => ({
      radius: radius * (0.72 + (0.46 * level) / (LEVELS - 1)), fade: 0.6 - (0.6 * level) / (LEVELS - 1),
    })), this.order, this.levelOf);
    this.drawText();
    setText(this.leftOut, leftOutText(frame, axes4));
    this.leftOut.hidden = this.leftOut.textContent === '';
  }

  private restart(): void {
    this.scatter.setBackground(() => undefined);
    this.draw();
  }

  /** Turns a point about the upright axis and tilts it towards the eye: x right, y up, z away. */
  private turned([x, y, z]: Point): Point {
    const c = Math.cos(this.turn), s = Math.sin(this.turn), d = Math.cos(this.tilt), e = Math.sin(this.tilt);
    const across = x * c + z * s, away = z * c - x * s;
    return [across, y * d + away * e, away * d - y * e];
  }

  /** Computes the places of the corners in the picture. */
  private project(): void {
    const { width, height } = this.scatter;
    const scale = Math.max(10, Math.min((width - 84) / 1.44, (height - 56) / 1.42));
    // An upright tetrahedron has three quarters of its height above its centroid.
    const centre = height / 2 + 0.25 * Math.cos(this.tilt) * scale;
    this.corners = CORNERS.map((corner) => {
      const [x, y, z] = this.turned(corner);
      const near = EYE / (EYE + z);
      return { x: width / 2 + x * near * scale, y: centre - y * near * scale, nearness: near };
    });
  }

  /** Returns the place of proportions. Nearness weights them: straight lines stay straight. */
  private spotOf(proportions: readonly number[]): Spot & { nearness: number } {
    let x = 0, y = 0, sum = 0;
    this.corners.forEach((corner, i) => {
      const weight = proportions[i]! / corner.nearness;
      sum += weight;
      x += weight * corner.x;
      y += weight * corner.y;
    });
    return { x: x / sum, y: y / sum, nearness: 1 / sum };
  }

  private putAll(frame: Frame, { proportions, sums, leftOut }: Places): void {
    const { scatter } = this;
    scatter.begin(frame, leftOut);
    if (this.levelOf.length < frame.count) {
      this.levelOf = new Uint8Array(frame.count + 1024);
      this.order = new Uint32Array(frame.count + 1024);
    }
    const [w0, w1, w2, w3] = this.corners.map(({ nearness }) => 1 / nearness) as [number, number, number, number];
    const xs = this.corners.map(({ x, nearness }) => (x / nearness) * scatter.ratio) as [number, number, number, number];
    const ys = this.corners.map(({ y, nearness }) => (y / nearness) * scatter.ratio) as [number, number, number, number];
    const nearest = 1 - OUTER / EYE, depth = (2 * OUTER) / EYE;
    const [p, q, r, s] = proportions as [Float32Array, Float32Array, Float32Array, Float32Array];
    for (let row = 0; row < frame.count; row++) {
      const a = p[row]!, b = q[row]!, c = r[row]!, d = s[row]!;
      if (!(sums[row]! > 0)) {
        scatter.hide(row);
        continue;
      }
      const far = a * w0 + b * w1 + c * w2 + d * w3;
      scatter.x[row] = (a * xs[0] + b * xs[1] + c * xs[2] + d * xs[3]) / far;
      scatter.y[row] = (a * ys[0] + b * ys[1] + c * ys[2] + d * ys[3]) / far;
      const level = Math.round((1 - (far - nearest) / depth) * (LEVELS - 1));
      this.levelOf[row] = Math.min(LEVELS - 1, Math.max(0, level));
    }
    this.sort(frame.count);
  }

  /** Sorts rows by level, the farthest first, by counting sort. */
  private sort(count: number): void {
    const begin = new Uint32Array(LEVELS + 1);
    for (let row = 0; row < count; row++) begin[this.levelOf[row]! + 1]!++;
    for (let level = 0; level < LEVELS; level++) begin[level + 1]! += begin[level]!;
    for (let row = 0; row < count; row++) this.order[begin[this.levelOf[row]!]!++] = row;
  }

  private drawText(): void {
    const { app, scatter } = this;
    const context = scatter.beginText();
    this.drawEdges(context);
    const pinned = [...app.ui.state.pinned];
    drawTrails(context, app, pinned, this.axes!, (proportions) => this.spotOf(proportions));
    const named: Label[] = [];
    for (const n of new Set([...pinned, ...(app.ui.state.hover === null ? [] : [app.ui.state.hover])])) {
      const spot = scatter.spotOf(n);
      if (spot) named.push({ ...spot, text: app.ui.label(n) });
    }
    drawLabels(context, named, 'ink', scatter.width);
    this.drawNames(context);
    this.drawLasso(context);
  }

  private drawEdges(context: CanvasRenderingContext2D): void {
    const theme = currentTheme();
    context.strokeStyle = context.fillStyle = theme.edge;
    context.lineWidth = 1.25;
    for (const [from, to] of EDGES) {
      const a = this.corners[from]!, b = this.corners[to]!;
      context.globalAlpha = Math.min(1, Math.max(0.2, 0.62 + 2.2 * ((a.nearness + b.nearness) / 2 - 1)));
      context.beginPath();
      context.moveTo(a.x, a.y);
      context.lineTo(b.x, b.y);
      context.stroke();
      for (const share of [0.25, 0.5, 0.75]) {
        const proportions = [0, 0, 0, 0];
        proportions[from] = share;
        proportions[to] = 1 - share;
        const { x, y } = this.spotOf(proportions);
        context.beginPath();
        context.arc(x, y, 1.75, 0, 2 * Math.PI);
        context.fill();
      }
    }
    context.globalAlpha = 1;
  }

  /** Names are drawn outside of their corners, as seen from the middle. */
  private drawNames(context: CanvasRenderingContext2D): void {
    const theme = currentTheme();
    const { width, height } = this.scatter;
    const centre = this.spotOf([0.25, 0.25, 0.25, 0.25]);
    context.font = `600 14px ${theme.font}`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    this.corners.forEach((corner, i) => {
      const text = fitted(context, this.axes![i]!.name, width / 2.2);
      const half = context.measureText(text).width / 2;
      const dx = corner.x - centre.x, dy = corner.y - centre.y, length = Math.hypot(dx, dy) || 1;
      const x = Math.min(width - half - 4, Math.max(half + 4, corner.x + (dx / length) * (half + 10)));
      const y = Math.min(height - 10, Math.max(10, corner.y + (dy / length) * 18));
      context.lineWidth = 3.5;
      context.strokeStyle = theme.paper;
      context.strokeText(text, x, y);
      context.fillStyle = this.app.store.head?.colours.axes4[i] ?? theme.ink;
      context.fillText(text, x, y);
      this.names.at[i] = { x, y, half, axis: this.axes![i]! };
    });
  }

  private drawLasso(context: CanvasRenderingContext2D): void {
    if (this.lasso.length < 2) return;
    const theme = currentTheme();
    context.beginPath();
    for (const { x, y } of this.lasso) context.lineTo(x, y);
    context.closePath();
    context.strokeStyle = context.fillStyle = theme.pin;
    context.globalAlpha = 0.1;
    context.fill();
    context.globalAlpha = 1;
    context.stroke();
  }

  private listen(): void {
    new Gestures(this.scatter.element, {
      move: (spot) => this.point(spot),
      leave: () => this.point(null),
      press: (spot) => pin(this.app, this.scatter.nearest(spot)),
      drag: (line, brushes) => this.drag(line, brushes),
      dragged: (line, brushes) => {
        this.lasso = [];
        this.dragged = null;
        if (brushes) brush(this.app, this.scatter.within(line));
        this.app.redraw(this);
      },
    });
    this.scatter.element.addEventListener('keydown', (event) => {
      if (!this.key(event)) return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  private point(spot: Spot | null): void {
    const hover = spot ? this.scatter.nearest(spot) : null;
    if (hover !== null || !spot || !this.names.point(spot)) showTooltip(this.app, this.scatter.element, spot, hover, this.axes ?? []);
    this.app.ui.set({ hover });
  }

  private drag(line: Spot[], brushes: boolean): void {
    const to = line.at(-1) ?? null;
    if (brushes) this.lasso = line;
    else if (to) {
      const from = this.dragged ?? line[0]!;
      this.rotate((to.x - from.x) * TURN_PER_PIXEL, (to.y - from.y) * TURN_PER_PIXEL);
    }
    this.dragged = to;
    if (brushes) this.app.redraw(this);
  }

  private rotate(turn: number, tilt: number): void {
    this.turn = (this.turn + turn) % (2 * Math.PI);
    this.tilt = Math.min(TILT_MAXIMUM, Math.max(-TILT_MAXIMUM, this.tilt + tilt));
    this.app.redraw(this);
  }

  private key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const [turn, tilt] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
    if (event.key !== 'v') this.names.leave();
    if (turn || tilt) this.rotate(turn! * TURN_PER_KEY, tilt! * TURN_PER_KEY);
    else if (event.key === 'v') this.names.next();
    else if (event.key === '0') this.rotate(BEGIN.turn - this.turn, BEGIN.tilt - this.tilt);
    else return false;
    return true;
  }

  private toggleSpin(): void {
    this.isSpinning = !this.isSpinning;
    this.spin.setAttribute('aria-pressed', String(this.isSpinning));
    if (this.isSpinning) requestAnimationFrame((now) => this.spinFrom(now));
  }

  private spinFrom(before: number): void {
    requestAnimationFrame((now) => {
      if (!this.isSpinning) return;
      if (this.dragged === null && this.isSeen()) this.rotate(((now - before) / 1000) * TURN_PER_S, 0);
      this.spinFrom(now);
    });
  }
}

export const createBarry4: ViewFactory = (app) => new Barry4(app);
