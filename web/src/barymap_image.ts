// The picture of a barymap: a line of pixels for each entity, or for several if they are too many,
// and a column for each bin of frames. Painted by columns, so that a new frame costs only one.
import { CELL_UNIT, signed, type Cells } from './cells';
import { Mixer, parseColour } from './colour';
import type { Span } from './series';
import type { Theme } from './theme';

const HATCH = 4; // pixels of the page, from one stroke to the next
const GAP = 7; // a line of at least this height leaves a pixel free below

/** The layout. Lengths in pixels of the canvas. */
export interface Layout {
  span: Span;
  width: number;
  lineHeight: number;
  perLine: number; // entities
  lines: number;
  scale: number; // pixels of the canvas for one of the page
}

export function layOut(entities: number, span: Span, width: number, height: number, scale: number): Layout {
  const perLine = Math.max(1, Math.ceil(entities / height));
  const lines = Math.ceil(entities / perLine);
  const lineHeight = Math.max(1, Math.min(Math.floor(height / Math.max(1, lines)), Math.round(18 * scale)));
  return { span, width, lineHeight, perLine, lines, scale };
}

export function isSame(a: Layout, b: Layout): boolean {
  return a.span.from === b.span.from && a.span.to === b.span.to && a.width === b.width &&
    a.lineHeight === b.lineHeight && a.perLine === b.perLine && a.lines === b.lines && a.scale === b.scale;
}

/** Returns the first pixel whose middle is in the frame. */
export function xOf({ span, width }: Layout, frame: number): number {
  return Math.ceil(((frame - span.from) * width) / (span.to - span.from) - 0.5);
}

/** Returns the frame at the middle of a pixel. */
export function frameAt({ span, width }: Layout, x: number): number {
  return Math.floor(span.from + ((x + 0.5) * (span.to - span.from)) / width);
}

/** Sums of one cell or of several cells. */
class Sum {
  readonly shares: Float64Array;
  weight = 0;
  missing = 0; // in CELL_UNIT, of the cell with the most
  over = 0;

  constructor(shares: number) {
    this.shares = new Float64Array(shares);
  }

  clear(): void {
    this.shares.fill(0);
    this.weight = this.missing = this.over = 0;
  }

  add(cells: Uint8Array, at: number): void {
    const { length } = this.shares, weight = cells[at + length + 1];
    if (!weight) return; // absent or unknown then
    for (let i = 0; i < length; i++) this.shares[i]! += cells[at + i]! * weight;
    this.weight += weight;
    const unaccounted = signed(cells[at + length]!);
    this.missing = Math.max(this.missing, unaccounted);
    this.over = Math.max(this.over, -unaccounted);
  }
}

export class CellImage {
  /** [lines] 1: time is missing somewhere in the line, 2: some time was accounted twice. */
  marks = new Uint8Array(0);
  private image: ImageData | null = null;
  private pixels = new Uint32Array(0);
  private readonly sum: Sum;
  private readonly mixer: Mixer;
  private readonly missing: number;
  private readonly over: number;

  constructor(
    private readonly context: CanvasRenderingContext2D, private readonly layout: Layout,
    private readonly cells: Cells, private readonly rows: Uint32Array, colours: string[], theme: Theme,
  ) {
    this.sum = new Sum(cells.shares);
    this.mixer = new Mixer(colours, theme.paper);
    this.missing = opaque(parseColour(theme.missing));
    this.over = opaque(parseColour(theme.over));
    this.marks = new Uint8Array(layout.lines);
    const height = layout.lines * layout.lineHeight;
    if (height === 0) return;
    this.image = context.createImageData(layout.width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  /** Paints the columns of bins [from, to). */
  paint(from: number, to: number): void {
    if (!this.image || to <= from) return;
    const { layout, cells } = this;
    const left = Math.max(0, xOf(layout, from * cells.size));
    const right = Math.min(layout.width, Math.max(left + 1, xOf(layout, to * cells.size)));
    for (let x = left; x < right;) {
      const bin = cells.binOf(frameAt(layout, x));
      const end = Math.min(right, Math.max(x + 1, xOf(layout, (bin + 1) * cells.size)));
      this.paintColumn(x, end, bin, Math.max(bin + 1, cells.binOf(frameAt(layout, end))));
      x = end;
    }
    this.context.putImageData(this.image, 0, 0, left, 0, right - left, this.image.height);
  }

  /** Paints pixels [x, end) with the mean of bins [from, to). */
  private paintColumn(x: number, end: number, from: number, to: number): void {
    const { sum, layout, rows } = this;
    for (let line = 0; line < layout.lines; line++) {
      const last = Math.min(rows.length, (line + 1) * layout.perLine);
      sum.clear();
      for (let bin = from; bin < to; bin++) {
        const cells = this.cells.bin(bin);
        if (cells) for (let i = line * layout.perLine; i < last; i++) sum.add(cells, rows[i]! * this.cells.width);
      }
      this.paintCell(x, end, line);
    }
  }

  private paintCell(x: number, end: number, line: number): void {
    const { sum, layout, pixels } = this;
    const colour = sum.weight > 0 ? opaque(this.mixer.mix(sum.shares, 0, CELL_UNIT / sum.weight)) : 0;
    const isMissing = sum.missing >= 1, isOver = sum.over >= 1;
    if (isMissing) this.marks[line]! |= 1;
    if (isOver) this.marks[line]! |= 2;
    const top = line * layout.lineHeight;
    const step = Math.round(HATCH * layout.scale), thick = Math.max(1, Math.round(layout.scale));
    const bottom = top + layout.lineHeight - (layout.lineHeight / layout.scale >= GAP ? 1 : 0);
    for (let y = top; y < bottom; y++) {
      const at = y * layout.width;
      pixels.fill(colour, at + x, at + end);
      if (!isMissing && !isOver) continue;
      for (let i = x; i < end; i++) {
        if (isMissing && (i + y) % step < thick) pixels[at + i] = this.missing;
        else if (isOver && (i - y + layout.lines * layout.lineHeight * step) % step < thick) pixels[at + i] = this.over;
      }
    }
  }
}

/** 0xRRGGBB as an opaque pixel: the bytes are in the order red, green, blue, alpha. */
function opaque(rgb: number): number {
  return (0xff000000 | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}
