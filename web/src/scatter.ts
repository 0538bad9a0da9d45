// The canvases of the stage: dots below and text above; the hovered entity, the entities within a
// lasso, and the kind of dot of each entity.
import type { App, Frame } from './types';
import { LEFT_OUT, MISSING } from './axes';
import { colourOf } from './classes';
import { element } from './dom';
import { Dots, faded, kindOf, type Kind, type Sink } from './dots';
import type { SvgPen } from './save_svg';
import { currentTheme, onThemeChange, pixelRatio } from './theme';
import { radiusOf, SIZES, type Weight } from './weight';

export type Spot = { x: number; y: number }; // pixels of the page, from the stage's corner

const NOWHERE = -1e6;
const REACH = 12; // pixels of the page around a dot
const ARCS = 24; // steps of the angle that shows how much time is missing
const FADE_IDLE = 0.35;
const FADE_DIMMED = 0.55;

/** The look of dots at one distance. */
export interface Depth {
  factor: number; // of the radius
  fade: number; // 0 to 1
}

export class Scatter {
  readonly element: HTMLElement;
  readonly dots: Dots;
  readonly text: CanvasRenderingContext2D;
  width = 0; // pixels of the page
  height = 0;
  ratio = 1;
  x = new Float32Array(0); // [frame.count] pixels of the picture; NOWHERE: hidden
  y = new Float32Array(0);
  private frame: Frame | null = null;
  private weight: Weight | null = null;
  private leftOut: Int32Array | null = null; // of the frame's rows, as in Places
  private sink: Sink;
  private background: (context: CanvasRenderingContext2D) => void = () => undefined;
  private depths: Depth[] = [];
  private depthOf: Uint8Array | null = null; // null: one depth
  private order = new Uint32Array(0);
  private looks: (Look | undefined)[] = []; // [depths * SIZES] of `looksKey`
  private looksKey = '';

  constructor(private readonly app: App, private readonly resized: () => void) {
    const below = element('canvas', { 'aria-hidden': 'true' });
    const above = element('canvas', { 'aria-hidden': 'true' });
    this.element = element('div', { class: 'stage', tabindex: '0', role: 'application' }, below, above);
    this.dots = this.sink = new Dots(below);
    this.text = above.getContext('2d')!;
    new ResizeObserver(() => this.measure()).observe(this.element);
    onThemeChange(() => this.resized());
  }

  /** Measures the stage, and adapts the picture to a new size. */
  private measure(): void {
    const { width, height } = this.element.getBoundingClientRect();
    const ratio = pixelRatio();
    if (width === this.width && height === this.height && ratio === this.ratio) return;
    Object.assign(this, { width, height, ratio });
    this.text.canvas.width = Math.round(width * ratio);
    this.text.canvas.height = Math.round(height * ratio);
    this.resized();
  }

  setBackground(paint: (context: CanvasRenderingContext2D) => void): void {
    const { ratio } = this;
    this.background = paint;
    const width = Math.max(1, Math.round(this.width * ratio)), height = Math.max(1, Math.round(this.height * ratio));
    this.dots.setBackground(width, height, (context) => {
      // The whole canvas, because the stage's size may be no whole number of pixels.
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.fillStyle = currentTheme().paper;
      context.fillRect(0, 0, width, height);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      paint(context);
    });
  }

  /** Starts a frame: provides space for the places of its rows. */
  begin(weight: Weight, leftOut: Int32Array | null): void {
    const { count } = (this.frame = weight.frame);
    this.weight = weight;
    this.leftOut = leftOut;
    if (this.x.length < count) {
      this.x = new Float32Array(count + 1024);
      this.y = new Float32Array(count + 1024);
      this.order = new Uint32Array(count + 1024);
    }
  }

  hide(row: number): void {
    this.x[row] = NOWHERE;
  }

  isShown(row: number): boolean {
    return this.x[row]! > NOWHERE;
  }

  beginText(): CanvasRenderingContext2D {
    this.text.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.text.clearRect(0, 0, this.width + 1, this.height + 1);
    return this.text;
  }

  /** Draws all rows, the farthest and then the largest first, so that no large dot hides small ones. */
  paint(depths: Depth[], depthOf: Uint8Array | null): void {
    this.depths = depths;
    this.depthOf = depthOf;
    this.paintRows();
  }

  /** Draws the background and the rows again, as elements of a vector picture. */
  record(pen: SvgPen): void {
    pen.within('background', 0, 0, () => this.background(pen.context));
    if (!this.frame) return;
    this.sink = pen.dots(this.ratio);
    pen.within('dots', 0, 0, () => this.paintRows());
    this.sink = this.dots;
  }

  private paintRows(): void {
    this.prepareLooks();
    const count = this.sort();
    const isDimming = this.app.ui.state.search !== null || this.app.ui.state.brush !== null;
    this.sink.begin();
    if (isDimming) this.paintDimmed(count);
    if (this.leftOut) this.paintLeftOut(this.leftOut, count);
    this.paintBright(count, isDimming);
    this.paintChosen();
    this.sink.end();
  }

  /** Sorts the shown rows by counting; returns their number. */
  private sort(): number {
    const { size } = this.weight!, { count } = this.frame!, { depthOf, x } = this;
    const keyOf = (row: number) => (depthOf ? depthOf[row]! : 0) * SIZES + SIZES - 1 - size[row]!;
    const begin = new Uint32Array(this.depths.length * SIZES + 1);
    let shown = 0;
    for (let row = 0; row < count; row++)
      if (x[row]! > NOWHERE) {
        begin[keyOf(row) + 1]!++;
        shown++;
      }
    for (let key = 1; key < begin.length; key++) begin[key]! += begin[key - 1]!;
    for (let row = 0; row < count; row++) if (x[row]! > NOWHERE) this.order[begin[keyOf(row)]!++] = row;
    return shown;
  }

  private lookOf(row: number): Look {
    const at = (this.depthOf ? this.depthOf[row]! : 0) * SIZES + this.weight!.size[row]!;
    return (this.looks[at] ??= this.makeLook(this.depths[Math.floor(at / SIZES)]!, radiusOf(at % SIZES)));
  }

  private paintDimmed(count: number): void {
    for (let i = 0; i < count; i++) {
      const row = this.order[i]!;
      if (this.app.ui.isDimmed(this.frame!.entity[row]!)) this.sink.put(this.lookOf(row).dimmed(), this.x[row]!, this.y[row]!);
    }
  }

  private paintBright(count: number, isDimming: boolean): void {
    const { entity, unaccounted } = this.frame!, { style } = this.weight!;
    for (let i = 0; i < count; i++) {
      const row = this.order[i]!;
      if (isDimming && this.app.ui.isDimmed(entity[row]!)) continue;
      const look = this.lookOf(row), x = this.x[row]!, y = this.y[row]!, missing = unaccounted[row]!;
      this.sink.put(look.disc(style[row]!), x, y);
      if (missing > MISSING) {
        this.sink.put(look.track(), x, y);
        this.sink.put(look.missing(Math.min(ARCS, Math.max(1, Math.round(missing * ARCS)))), x, y);
      } else if (missing < -MISSING) this.sink.put(look.over(), x, y);
    }
  }

  /** Draws the broken rings of time at no vertex, below all dots, so that they hide none. */
  private paintLeftOut(leftOut: Int32Array, count: number): void {
    const least = LEFT_OUT / this.frame!.unit;
    for (let i = 0; i < count; i++) {
      const row = this.order[i]!;
      if (leftOut[row]! <= least || this.app.ui.isDimmed(this.frame!.entity[row]!)) continue;
      this.sink.put(this.lookOf(row).leftOut(), this.x[row]!, this.y[row]!);
    }
  }

  /** Draws pinned dots and the hovered one again, above all others, with a ring. */
  private paintChosen(): void {
    const frame = this.frame!, { pinned, hover } = this.app.ui.state;
    const theme = currentTheme();
    for (const n of hover === null ? pinned : new Set([...pinned, hover])) {
      const row = frame.rowOf[n] ?? -1;
      if (row < 0 || !this.isShown(row)) continue;
      const radius = this.radiusOf(row) * this.ratio, x = this.x[row]!, y = this.y[row]!;
      const isMarked = Math.abs(frame.unaccounted[row]!) > MISSING;
      const inner = radius + (isMarked ? 3.5 : 0) * this.ratio;
      const ring = (from: number, to: number, colour: string) =>
        this.sink.put(kindOf('ring', inner + to * this.ratio, colour, { inner: inner + from * this.ratio, share: 1 }), x, y);
      this.sink.put(this.lookOf(row).disc(this.weight!.style[row]!), x, y);
      ring(0, 2.5, pinned.has(n) ? theme.pin : theme.ink);
      const halo = this.leftOut && this.leftOut[row]! > LEFT_OUT / frame.unit ? 8 : 5;
      if (n === hover) ring(halo, halo + 2.5, faded(pinned.has(n) ? theme.pin : theme.ink, theme.paper, 0.65));
    }
  }

  /** Keeps the looks if nothing differs: looking up some hundred kinds is slow. */
  private prepareLooks(): void {
    const { classes } = this.weight!.active;
    const key = [this.depths.length, this.ratio, currentTheme().paper, ...classes.map(colourOf)].join();
    if (key !== this.looksKey) this.looks = [];
    this.looksKey = key;
  }

  private makeLook({ factor, fade }: Depth, size: number): Look {
    const theme = currentTheme(), { ratio } = this;
    const r = Math.max(1, Math.round(size * factor * ratio * 8) / 8);
    const paint = (colour: string, by = 0) => faded(colour, theme.paper, 1 - (1 - fade) * (1 - by));
    const colours = [paint(theme.dim, FADE_IDLE), ...this.weight!.active.classes.map((of) => paint(colourOf(of)))];
    const around = (from: number, to: number, colour: string, share = 1) =>
      kindOf('ring', r + to * ratio, colour, { inner: r + from * ratio, share });
    return {
      disc: cached((style) => kindOf('disc', r, colours[style] ?? colours[0]!)),
      dimmed: cached(() => kindOf('disc', r, paint(theme.dim, FADE_DIMMED))),
      missing: cached((steps) => around(1, 3.5, paint(theme.missing), steps / ARCS)),
      track: cached(() => around(1, 3.5, paint(theme.missing, 0.8))),
      over: cached(() => around(1, 3.5, paint(theme.over))),
      leftOut: cached(() => kindOf('broken', r + 7 * ratio, paint(theme.leftOut), { inner: r + 4 * ratio, share: 1 })),
    };
  }

  /** Radius of a row's dot in pixels of the page. */
  radiusOf(row: number): number {
    return radiusOf(this.weight!.size[row]!) * this.depths[this.depthOf ? this.depthOf[row]! : 0]!.factor;
  }

  /** Returns the row nearest to a spot, within reach or on its dot; -1 if there is none. */
  nearestRow({ x, y }: Spot): number {
    if (!this.frame || this.depths.length === 0) return -1;
    const px = x * this.ratio, py = y * this.ratio;
    const { ui } = this.app;
    let best = Infinity, found = -1;
    for (let row = 0; row < this.frame.count; row++) {
      const dx = this.x[row]! - px, dy = this.y[row]! - py;
      const distance = dx * dx + dy * dy;
      if (distance >= best || distance >= 1e6 || ui.isDimmed(this.frame.entity[row]!)) continue;
      if (distance >= (Math.max(REACH, this.radiusOf(row)) * this.ratio) ** 2) continue;
      best = distance;
      found = row;
    }
    return found;
  }

  nearest(spot: Spot): number | null {
    const row = this.nearestRow(spot);
    return row < 0 ? null : this.frame!.entity[row]!;
  }

  /** Returns the entities within a closed line. */
  within(line: Spot[]): Set<number> {
    const found = new Set<number>();
    const frame = this.frame;
    for (let row = 0; frame && row < frame.count; row++)
      if (this.isShown(row) && isWithin(line, this.x[row]! / this.ratio, this.y[row]! / this.ratio))
        found.add(frame.entity[row]!);
    return found;
  }

  /** Returns the place of an entity and the radius of its dot; null if it is hidden. */
  spotOf(n: number): (Spot & { radius: number }) | null {
    const row = this.frame?.rowOf[n] ?? -1;
    if (row < 0 || !this.isShown(row)) return null;
    return { x: this.x[row]! / this.ratio, y: this.y[row]! / this.ratio, radius: this.radiusOf(row) };
  }
}

/** The kinds of dots of one size at one distance, made when they are needed. */
interface Look {
  disc(style: number): Kind;
  dimmed(): Kind;
  missing(steps: number): Kind; // of ARCS
  track(): Kind; // the rest of the circle
  over(): Kind;
  leftOut(): Kind;
}

function cached(make: (index: number) => Kind): (index?: number) => Kind {
  const kinds: (Kind | undefined)[] = [];
  return (index = 0) => (kinds[index] ??= make(index));
}

/** From inside, a line to the right crosses the border an odd number of times. */
function isWithin(line: Spot[], x: number, y: number): boolean {
  let inside = false;
  line.forEach((a, i) => {
    const b = line[(i + 1) % line.length]!;
    if (a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x) inside = !inside;
  });
  return inside;
}
