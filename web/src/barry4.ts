// Barry4: each entity is a dot in a tetrahedron, which can be turned. Nearer dots are larger and
// more opaque; pinned, dimmed and hovered entities look as in the triangle.
import type { Frame } from './types';
import { CORNERS4, type Places } from './axes';
import { vertexColours } from './classes';
import { readable } from './colour';
import type { Crowd } from './crowds';
import { button } from './dom';
import { fitted } from './marks';
import { whileSeen } from './parts';
import type { Host, Projection } from './projection';
import type { Depth, Spot } from './scatter';
import { currentTheme, prefersLessMotion } from './theme';

type Point = [x: number, y: number, z: number];

const LEVELS = 8; // of distance
const EYE = 4.2; // distance of the eye, in heights of the tetrahedron
const BEGIN = { turn: -0.38, tilt: 0.22 };
const TILT_MAXIMUM = Math.PI / 2;
const TURN_PER_PIXEL = 0.009;
const TURN_PER_KEY = 0.08;
const TURN_PER_S = 0.35;
const MARGIN = { side: 28, end: 26 }; // pixels for the names of vertices

const middle = [0, 1, 2].map((i) => CORNERS4.reduce((sum, corner) => sum + corner[i]!, 0) / 4) as Point;
const CORNERS = CORNERS4.map((corner) => corner.map((value, i) => value - middle[i]!) as Point);
const OUTER = Math.max(...CORNERS.map(([x, y, z]) => Math.hypot(x, y, z)));

const EDGES = [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3], [3, 1]] as const;

/** Turns a point about the upright axis and tilts it towards the eye: x right, y up, z away. */
function turned([x, y, z]: Point, turn: number, tilt: number): Point {
  const c = Math.cos(turn), s = Math.sin(turn), d = Math.cos(tilt), e = Math.sin(tilt);
  const across = x * c + z * s, away = z * c - x * s;
  return [across, y * d + away * e, away * d - y * e];
}

/** Projects the corners at a scale of 1; y is down, from the middle of the picture. An upright
 * tetrahedron has three quarters of its height above its centroid. */
function projected(turn: number, tilt: number): (Spot & { nearness: number })[] {
  return CORNERS.map((corner) => {
    const [x, y, z] = turned(corner, turn, tilt);
    const nearness = EYE / (EYE + z);
    return { x: x * nearness, y: 0.25 * Math.cos(tilt) - y * nearness, nearness };
  });
}

/** The greatest distance of any corner from the middle, however the tetrahedron is turned. */
const REACH = { x: 0, y: 0 };
for (let tilt = -8; tilt <= 8; tilt++)
  for (let turn = 0; turn < 120; turn++)
    for (const { x, y } of projected((turn / 120) * 2 * Math.PI, (tilt / 8) * TILT_MAXIMUM)) {
      REACH.x = Math.max(REACH.x, Math.abs(x));
      REACH.y = Math.max(REACH.y, Math.abs(y));
    }

export class Barry4 implements Projection {
  readonly name = 'barry4';
  readonly label = 'each entity is a dot in a tetrahedron. Arrow keys turn it, n and N go through the entities, Enter pins, v names the states of a vertex, b shows the triangle.';
  readonly drags = 'Turn';
  readonly depths: Depth[] = Array.from({ length: LEVELS }, (_, level) => ({
    factor: 0.72 + (0.46 * level) / (LEVELS - 1), fade: 0.6 - (0.6 * level) / (LEVELS - 1),
  }));
  depthOf = new Uint8Array(0);
  private readonly spin = button('Spin', { class: 'small', 'aria-pressed': 'false', 'aria-label': 'Turn slowly' }, () => this.toggleSpin());
  readonly tools = [this.spin];
  private turn = BEGIN.turn;
  private tilt = BEGIN.tilt;
  private corners: (Spot & { nearness: number })[] = []; // projected
  private isSpinning = false;
  private readonly isSeen;
  private from: Spot | null = null;

  constructor(private readonly host: Host) {
    this.spin.hidden = prefersLessMotion();
    this.isSeen = whileSeen(host.scatter.element, () => undefined);
  }

  drawBackground(): void {
    this.host.scatter.setBackground(() => undefined);
    this.project();
  }

  /** Computes the places of the corners in the picture. */
  private project(): void {
    const { width, height } = this.host.scatter;
    const scale = Math.max(10, Math.min((width / 2 - MARGIN.side) / REACH.x, (height / 2 - MARGIN.end) / REACH.y));
    this.corners = projected(this.turn, this.tilt).map(({ x, y, nearness }) =>
      ({ x: width / 2 + x * scale, y: height / 2 + y * scale, nearness }));
  }

  /** Returns the place of proportions. Nearness weights them: straight lines stay straight. */
  spotOf(proportions: readonly number[]): Spot & { nearness: number } {
    let x = 0, y = 0, sum = 0;
    this.corners.forEach((corner, i) => {
      const weight = proportions[i]! / corner.nearness;
      sum += weight;
      x += weight * corner.x;
      y += weight * corner.y;
    });
    return { x: x / sum, y: y / sum, nearness: 1 / sum };
  }

  put(frame: Frame, { proportions, sums }: Places, isHidden: (row: number) => boolean): number {
    const { scatter } = this.host;
    if (this.depthOf.length < frame.count) this.depthOf = new Uint8Array(frame.count + 1024);
    const [w0, w1, w2, w3] = this.corners.map(({ nearness }) => 1 / nearness) as [number, number, number, number];
    const xs = this.corners.map(({ x, nearness }) => (x / nearness) * scatter.ratio) as [number, number, number, number];
    const ys = this.corners.map(({ y, nearness }) => (y / nearness) * scatter.ratio) as [number, number, number, number];
    const nearest = 1 - OUTER / EYE, depth = (2 * OUTER) / EYE;
    const [p, q, r, s] = proportions as [Float32Array, Float32Array, Float32Array, Float32Array];
    for (let row = 0; row < frame.count; row++) {
      const a = p[row]!, b = q[row]!, c = r[row]!, d = s[row]!;
      if (!(sums[row]! > 0) || isHidden(row)) {
        scatter.hide(row);
        continue;
      }
      const far = a * w0 + b * w1 + c * w2 + d * w3;
      scatter.x[row] = (a * xs[0] + b * xs[1] + c * xs[2] + d * xs[3]) / far;
      scatter.y[row] = (a * ys[0] + b * ys[1] + c * ys[2] + d * ys[3]) / far;
      const level = Math.round((1 - (far - nearest) / depth) * (LEVELS - 1));
      this.depthOf[row] = Math.min(LEVELS - 1, Math.max(0, level));
    }
    return 0;
  }

  crowds(): Crowd[] {
    return [];
  }

  sides(): [Spot, Spot][] {
    return [];
  }

  drawBelow(context: CanvasRenderingContext2D): void {
    this.drawEdges(context);
  }

  drawAbove(context: CanvasRenderingContext2D): void {
    this.drawNames(context);
  }

  drawArrows(): boolean {
    return false;
  }

  values(): null {
    return null;
  }

  point(): void { /* there is no crosshair */ }

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
    const { axes, names, scatter: { width, height }, app } = this.host;
    const centre = this.spotOf([0.25, 0.25, 0.25, 0.25]);
    context.font = `600 14px ${theme.font}`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    names.at.length = 4;
    this.corners.forEach((corner, i) => {
      const text = fitted(context, axes[i]!.name, width / 2.2);
      const half = context.measureText(text).width / 2;
      const dx = corner.x - centre.x, dy = corner.y - centre.y, length = Math.hypot(dx, dy) || 1;
      const x = Math.min(width - half - 4, Math.max(half + 4, corner.x + (dx / length) * (half + 10)));
      const y = Math.min(height - 10, Math.max(10, corner.y + (dy / length) * 18));
      context.lineWidth = 3.5;
      context.strokeStyle = theme.paper;
      context.strokeText(text, x, y);
      context.fillStyle = readable(vertexColours(app.store.head!, 4)[i]!);
      context.fillText(text, x, y);
      names.at[i] = { x, y, half, axis: axes[i]! };
    });
  }

  drag(line: Spot[]): void {
    const to = line.at(-1) ?? null;
    if (to) {
      const from = this.from ?? line[0]!;
      this.rotate((to.x - from.x) * TURN_PER_PIXEL, (to.y - from.y) * TURN_PER_PIXEL);
    }
    this.from = to;
  }

  dragged(): void {
    this.from = null;
  }

  private rotate(turn: number, tilt: number): void {
    this.turn = (this.turn + turn) % (2 * Math.PI);
    this.tilt = Math.min(TILT_MAXIMUM, Math.max(-TILT_MAXIMUM, this.tilt + tilt));
    this.project();
    this.host.redraw();
  }

  zooms(): boolean {
    return false;
  }

  zoom(): void { /* it turns, and does not zoom */ }

  key(event: KeyboardEvent): boolean {
    const [turn, tilt] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
    if (turn || tilt) this.rotate(turn! * TURN_PER_KEY, tilt! * TURN_PER_KEY);
    else if (event.key === '0') this.rotate(BEGIN.turn - this.turn, BEGIN.tilt - this.tilt);
    else return false;
    return true;
  }

  escape(): boolean {
    return false;
  }

  private toggleSpin(): void {
    this.isSpinning = !this.isSpinning;
    this.spin.setAttribute('aria-pressed', String(this.isSpinning));
    if (this.isSpinning) requestAnimationFrame((now) => this.spinFrom(now));
  }

  private spinFrom(before: number): void {
    requestAnimationFrame((now) => {
      if (!this.isSpinning) return;
      if (this.from === null && this.isSeen()) this.rotate(((now - before) / 1000) * TURN_PER_S, 0);
      this.spinFrom(now);
    });
  }
}
