// A stage for dots: shared by Barry3 and Barry4. Two canvases, dots below and text above; the
// hovered entity, the entities within a lasso, and the kind of dot of each entity.
import type { App, Frame } from './types';
import { LEFT_OUT, MISSING } from './axes';
import { element } from './dom';
import { Dots, faded, kindOf, type Kind, type Shape } from './dots';
import { currentTheme, onThemeChange, pixelRatio } from './theme';

export type Spot = { x: number; y: number }; // pixels of the page, from the stage's corner

const DIMMED = 13; // styles: 0 without a group, 1 to 12 groups
const NOWHERE = -1e6;
const REACH = 12; // pixels of the page around a dot

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
  private leftOut: Int32Array | null = null; // of the frame's rows, as in Places
  private kinds: Kinds[] = []; // of `kindsKey`
  private kindsKey = '';

  constructor(private readonly app: App, label: string, private readonly resized: () => void) {
    const below = element('canvas', { 'aria-hidden': 'true' });
    const above = element('canvas', { 'aria-hidden': 'true' });
    this.element = element('div', {
      class: 'stage', tabindex: '0', role: 'application', 'aria-label': label,
    }, below, above);
    this.dots = new Dots(below);
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
    const width = Math.max(1, Math.round(this.width * ratio)), height = Math.max(1, Math.round(this.height * ratio));
    this.dots.setBackground(width, height, (context) => {
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.fillStyle = currentTheme().paper;
      context.fillRect(0, 0, this.width, this.height);
      paint(context);
    });
  }

  /** Starts a frame: provides space for the places of its rows. */
  begin(frame: Frame, leftOut: Int32Array | null): void {
    this.frame = frame;
    this.leftOut = leftOut;
    if (this.x.length < frame.count) {
      this.x = new Float32Array(frame.count + 1024);
      this.y = new Float32Array(frame.count + 1024);
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
    this.text.clearRect(0, 0, this.width, this.height);
    return this.text;
  }

  /** Radius of a dot in pixels of the page: larger when there are fewer. */
  radius(): number {
    const count = this.frame?.count ?? 0;
    return (count <= 300 ? 4.5 : count <= 3000 ? 3.5 : count <= 15000 ? 2.5 : 2) * (this.width < 420 ? 0.8 : 1);
  }

  /** Draws all rows in `order` (the farthest first; null: as in the frame), each at its level:
   * levels[levelOf[row]]. */
  paint(levels: Level[], order: Uint32Array | null, levelOf: Uint8Array | null): void {
    const frame = this.frame!;
    const kinds = this.kindsOfLevels(levels);
    const isDimming = this.app.ui.state.search !== null || this.app.ui.state.brush !== null;
    this.dots.begin();
    if (isDimming) this.paintPass(frame, kinds, order, levelOf, true);
    if (this.leftOut) this.paintLeftOut(frame, this.leftOut, kinds, order, levelOf);
    this.paintPass(frame, kinds, order, levelOf, false);
    this.paintChosen(frame, levels, kinds, levelOf);
    this.dots.end();
  }

  private paintPass(frame: Frame, kinds: Kinds[], order: Uint32Array | null, levelOf: Uint8Array | null, dimmed: boolean): void {
    const { ui } = this.app;
    const isDimming = ui.state.search !== null || ui.state.brush !== null;
    const isGrouped = ui.state.groupBy !== 'none';
    for (let i = 0; i < frame.count; i++) {
      const row = order ? order[i]! : i;
      const x = this.x[row]!;
      if (x <= NOWHERE) continue;
      const n = frame.entity[row]!;
      if (isDimming && ui.isDimmed(n) !== dimmed) continue;
      const of = kinds[levelOf ? levelOf[row]! : 0]!;
      const unaccounted = frame.unaccounted[row]!;
      const group = isGrouped ? ui.groupOf(n) + 1 : 0;
      if (dimmed) this.dots.put(of.styles[DIMMED]!, x, this.y[row]!);
      else if (unaccounted <= MISSING && unaccounted >= -MISSING) this.dots.put(of.styles[group]!, x, this.y[row]!);
      else this.putMarked(of, unaccounted, isGrouped ? group : -1, x, this.y[row]!);
    }
  }

  /** Draws the broken rings of time at no vertex, below all dots, so that they hide none. */
  private paintLeftOut(frame: Frame, leftOut: Int32Array, kinds: Kinds[], order: Uint32Array | null, levelOf: Uint8Array | null): void {
    const least = LEFT_OUT / frame.unit;
    for (let i = 0; i < frame.count; i++) {
      const row = order ? order[i]! : i;
      if (leftOut[row]! <= least || !this.isShown(row) || this.app.ui.isDimmed(frame.entity[row]!)) continue;
      this.dots.put(kinds[levelOf ? levelOf[row]! : 0]!.leftOut, this.x[row]!, this.y[row]!);
    }
  }

  /** Draws the rings of time that is missing or accounted twice. */
  private putMarked(of: Kinds, unaccounted: number, group: number, x: number, y: number): void {
    this.dots.put(unaccounted > 0 ? of.missing : of.over, x, y);
    if (group >= 0) this.dots.put(of.centres[group]!, x, y);
  }

  /** Draws pinned dots and the hovered one again, above all others. */
  private paintChosen(frame: Frame, levels: Level[], kinds: Kinds[], levelOf: Uint8Array | null): void {
    const { pinned, hover } = this.app.ui.state;
    const theme = currentTheme();
    for (const n of hover === null ? pinned : new Set([...pinned, hover])) {
      const row = frame.rowOf[n] ?? -1;
      if (row < 0 || !this.isShown(row)) continue;
      const level = levelOf ? levelOf[row]! : 0;
      const radius = levels[level]!.radius * this.ratio;
      const unaccounted = frame.unaccounted[row]!;
      const isLeftOut = this.leftOut !== null && this.leftOut[row]! > LEFT_OUT / frame.unit;
      if (isLeftOut) this.dots.put(kinds[level]!.leftOut, this.x[row]!, this.y[row]!);
      if (Math.abs(unaccounted) <= MISSING)
        this.dots.put(kindOf('disc', radius * 1.15, pinned.has(n) ? theme.pin : theme.ink), this.x[row]!, this.y[row]!);
      if (n === hover || Math.abs(unaccounted) > MISSING)
        this.dots.put(kindOf('ring', radius * (isLeftOut ? 3.3 : 2.6), faded(pinned.has(n) ? theme.pin : theme.ink, theme.paper, 0.65)), this.x[row]!, this.y[row]!);
    }
  }

  /** Reuses the last kinds if nothing differs: looking up some hundred kinds is slow. */
  private kindsOfLevels(levels: Level[]): Kinds[] {
    const { ui: { state: { groupBy } }, store: { head } } = this.app;
    const key = [levels[0]!.radius, this.ratio, groupBy !== 'none', currentTheme().dot, head?.colours.groups].join();
    if (key !== this.kindsKey) this.kinds = levels.map((level) => this.kindsOf(level));
    this.kindsKey = key;
    return this.kinds;
  }

  private kindsOf({ radius, fade }: Level): Kinds {
    const theme = currentTheme();
    const colours = this.app.store.head?.colours.groups ?? [];
    const r = Math.round(radius * this.ratio * 8) / 8;
    const made = (shape: Shape, size: number, colour: string, by = fade) => kindOf(shape, size, faded(colour, theme.paper, by));
    const of = (group: number, size: number) =>
      made(group > 6 ? 'square' : 'disc', size, group === 0 ? theme.dot : colours[(group - 1) % 6] ?? theme.dot);
    const isGrouped = this.app.ui.state.groupBy !== 'none';
    const styles = Array.from({ length: DIMMED }, (_, group) =>
      group === 0 && isGrouped ? made('disc', r, theme.dim) : of(group, r));
    styles[DIMMED] = made('disc', r, theme.dim, 1 - (1 - fade) * 0.45);
    return {
      styles,
      centres: Array.from({ length: DIMMED }, (_, group) => of(group, r * 0.6)),
      missing: made('ring', r * 1.25, theme.missing),
      over: made('ring', r * 1.25, theme.over),
      leftOut: made('broken', r * 2, theme.leftOut),
    };
  }

  /** Returns the entity nearest to a spot, within reach. */
  nearest({ x, y }: Spot, reach = REACH): number | null {
    if (!this.frame) return null;
    const px = x * this.ratio, py = y * this.ratio;
    const { ui } = this.app;
    let best = (reach * this.ratio) ** 2, found: number | null = null;
    for (let row = 0; row < this.frame.count; row++) {
      const dx = this.x[row]! - px, dy = this.y[row]! - py;
      const distance = dx * dx + dy * dy;
      if (distance >= best || ui.isDimmed(this.frame.entity[row]!)) continue;
      best = distance;
      found = this.frame.entity[row]!;
    }
    return found;
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

  /** Returns the place of an entity; null if it is hidden. */
  spotOf(n: number): Spot | null {
    const row = this.frame?.rowOf[n] ?? -1;
    if (row < 0 || !this.isShown(row)) return null;
    return { x: this.x[row]! / this.ratio, y: this.y[row]! / this.ratio };
  }
}

/** The look of dots at one level of distance. */
interface Level {
  radius: number; // pixels of the page
  fade: number; // 0 to 1
}

interface Kinds {
  styles: Kind[];
  centres: Kind[]; // within rings
  missing: Kind;
  over: Kind;
  leftOut: Kind;
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
