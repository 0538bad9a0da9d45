// Draws dots, tens of thousands of them a frame, without a GPU: WebGL is not to be had on remote
// desktops, and arcs of a canvas are too slow.
//
// Each kind of dot (shape, radius, colour) is drawn once, as antialiased masks at 4 x 4 places
// within a pixel; masks are blended into the pixels of the picture by integer arithmetic. The
// picture is opaque and begins as a copy of its background (grid), so that 8 bits a channel do.

export type Shape = 'disc' | 'square' | 'ring';

const PHASES = 4; // places within a pixel, in each direction
const SAMPLES = 4; // of coverage, in each direction of a pixel

/** A kind of dot: its pixels, colours multiplied by how much they cover (0 to 256). */
interface Mask {
  margin: number; // no pixel is farther from the middle
  dx: Int8Array;
  dy: Int8Array;
  rest: Uint16Array; // 256 - cover
  redBlue: Uint32Array;
  green: Uint32Array;
}

export interface Kind {
  masks: Mask[]; // [PHASES * PHASES]
}

/** "#rrggbb" as red, green, blue. */
export function rgb(colour: string): [number, number, number] {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** Is a place, as seen from the middle, within the shape? */
function isInside(shape: Shape, radius: number, x: number, y: number): boolean {
  if (shape === 'square') return Math.max(Math.abs(x), Math.abs(y)) <= radius * 0.89; // as large as the disc
  const distance = Math.hypot(x, y);
  return distance <= radius && (shape === 'disc' || distance >= radius * 0.62);
}

function cover(shape: Shape, radius: number, x: number, y: number): number {
  let inside = 0;
  for (let i = 0; i < SAMPLES * SAMPLES; i++) {
    const sx = x + ((i % SAMPLES) + 0.5) / SAMPLES - 0.5;
    const sy = y + (Math.floor(i / SAMPLES) + 0.5) / SAMPLES - 0.5;
    if (isInside(shape, radius, sx, sy)) inside++;
  }
  return inside / (SAMPLES * SAMPLES);
}

function makeMask(shape: Shape, radius: number, colour: string, alpha: number, fx: number, fy: number): Mask {
  const margin = Math.ceil(radius) + 1;
  const [red, green, blue] = rgb(colour);
  const pixels: [number, number, number][] = [];
  for (let y = -margin; y <= margin; y++)
    for (let x = -margin; x <= margin; x++) {
      const a = Math.round(256 * alpha * cover(shape, radius, x - fx, y - fy));
      if (a > 0) pixels.push([x, y, a]);
    }
  return {
    margin,
    dx: Int8Array.from(pixels, ([x]) => x),
    dy: Int8Array.from(pixels, ([, y]) => y),
    rest: Uint16Array.from(pixels, ([, , a]) => 256 - a),
    redBlue: Uint32Array.from(pixels, ([, , a]) => ((blue * a) << 16 | 0) + red * a), // ABGR in memory order
    green: Uint32Array.from(pixels, ([, , a]) => green * a),
  };
}

const kinds = new Map<string, Kind>();

/** The radius is in pixels of the picture. The same arguments give the same object. */
export function kindOf(shape: Shape, radius: number, colour: string, alpha = 1): Kind {
  const key = `${shape} ${radius} ${colour} ${alpha}`;
  let kind = kinds.get(key);
  if (!kind) {
    const masks = Array.from({ length: PHASES * PHASES }, (_, i) =>
      makeMask(shape, radius, colour, alpha, (i % PHASES) / PHASES, Math.floor(i / PHASES) / PHASES));
    kinds.set(key, (kind = { masks }));
  }
  return kind;
}

/** A picture of dots on a canvas. Coordinates are pixels of the picture. */
export class Dots {
  width = 0;
  height = 0;
  private readonly context: CanvasRenderingContext2D;
  private image: ImageData | null = null;
  private pixels = new Uint32Array(0);
  private background = new Uint32Array(0);

  constructor(readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d', { alpha: false })!;
  }

  /** Draws what lies under the dots, once: paint() gets an empty context of that size. */
  setBackground(width: number, height: number, paint: (context: CanvasRenderingContext2D) => void): void {
    if (this.width !== width || this.height !== height) {
      this.canvas.width = this.width = width;
      this.canvas.height = this.height = height;
      this.image = this.context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.context.save();
    paint(this.context);
    this.context.restore();
    this.background = new Uint32Array(this.context.getImageData(0, 0, width, height).data.buffer);
  }

  begin(): void {
    this.pixels.set(this.background);
  }

  put(kind: Kind, x: number, y: number): void {
    const left = Math.floor(x * PHASES + 0.5), top = Math.floor(y * PHASES + 0.5);
    const mask = kind.masks[(top & 3) * PHASES + (left & 3)]!;
    const px = left >> 2, py = top >> 2;
    const isWhole = px >= mask.margin && py >= mask.margin &&
      px < this.width - mask.margin && py < this.height - mask.margin;
    if (isWhole) blend(this.pixels, this.width, mask, px, py);
    else this.putCut(mask, px, py);
  }

  end(): void {
    if (this.image) this.context.putImageData(this.image, 0, 0);
  }

  /** At the edge of the picture. */
  private putCut(mask: Mask, px: number, py: number): void {
    for (let i = 0; i < mask.dx.length; i++) {
      const x = px + mask.dx[i]!, y = py + mask.dy[i]!;
      if (x >= 0 && y >= 0 && x < this.width && y < this.height)
        blendPixel(this.pixels, y * this.width + x, mask, i);
    }
  }
}

/** Red and blue are multiplied in one go: 8 bits of room lie above each. */
function blendPixel(pixels: Uint32Array, at: number, mask: Mask, i: number): void {
  const under = pixels[at]!, rest = mask.rest[i]!;
  const redBlue = (Math.imul(under & 0xff00ff, rest) + mask.redBlue[i]!) | 0;
  const green = (Math.imul((under >>> 8) & 0xff, rest) + mask.green[i]!) | 0;
  pixels[at] = ((redBlue >>> 8) & 0xff00ff) | (green & 0xff00) | 0xff000000;
}

function blend(pixels: Uint32Array, width: number, mask: Mask, px: number, py: number): void {
  const { dx, dy } = mask;
  const middle = py * width + px;
  for (let i = 0; i < dx.length; i++) blendPixel(pixels, middle + dy[i]! * width + dx[i]!, mask, i);
}
