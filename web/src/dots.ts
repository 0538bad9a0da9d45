// Draws dots, tens of thousands of them a frame, without a GPU: WebGL is unavailable on remote
// desktops, and arcs of a canvas are too slow.
//
// Each kind of dot (shape, radius, colour) is drawn once, as antialiased masks at 4 x 4 places
// within a pixel; masks are blended into the pixels of the picture by integer arithmetic. The
// picture is opaque and starts as a copy of its background (grid), so that 8 bits a channel
// suffice.

export type Shape = 'disc' | 'square' | 'ring' | 'broken'; // broken: four arcs around a dot

const PHASES = 4; // places within a pixel, in each direction
const SAMPLES = 4; // of coverage, in each direction of a pixel

/** A kind of dot at one place within a pixel. */
interface Mask {
  margin: number; // the greatest distance of a pixel from the middle
  colour: number; // of wholly covered pixels
  whole: Int32Array; // [n][dx, dy] of wholly covered pixels
  part: Int32Array; // [n][dx, dy, 256 - cover, red and blue x cover, green x cover] of the others
  width: number; // of the picture that `wholeAt` and `partAt` are for
  wholeAt: Int32Array; // [n] offset from the middle, in pixels
  partAt: Int32Array; // [n]
}

export interface Kind {
  shape: Shape;
  radius: number;
  colour: string;
  ring: Ring;
  masks: (Mask | undefined)[]; // [PHASES * PHASES]
  make(phase: number): Mask;
}

/** "#rrggbb" as red, green, blue. */
export function rgb(colour: string): [number, number, number] {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** A colour faded into the paper, by 0 to 1: opaque, which is faster than transparency. */
export function faded(colour: string, paper: string, by: number): string {
  const under = rgb(paper);
  return `#${rgb(colour).map((value, i) => Math.round(value + (under[i]! - value) * by).toString(16).padStart(2, '0')).join('')}`;
}

/** What is drawn of a ring: between two radii, clockwise from the top. */
export interface Ring {
  inner: number; // radius in pixels of the picture
  share: number; // of the whole circle
}

/** Of shapes that are given none. */
const INNER: Record<Shape, number> = { disc: 0, square: 0, ring: 0.62, broken: 0.75 };

/** Is a point, relative to the middle, within the shape? */
function isInside(shape: Shape, radius: number, { inner, share }: Ring, x: number, y: number): boolean {
  if (shape === 'square') return Math.max(Math.abs(x), Math.abs(y)) <= radius * 0.89; // same area
                                                                                      // as the disc
  const distance = Math.hypot(x, y);
  if (distance > radius || distance < inner) return false;
  if (shape === 'broken') return Math.abs(Math.abs(x) - Math.abs(y)) > radius * 0.36;
  return share >= 1 || (Math.atan2(x, -y) / (2 * Math.PI) + 1) % 1 <= share;
}

function cover(shape: Shape, radius: number, ring: Ring, x: number, y: number): number {
  const distance = Math.hypot(x, y);
  if (shape !== 'square' && (distance > radius + 1 || distance < ring.inner - 1)) return 0;
  if (shape === 'disc' && distance < radius - 1) return 1;
  let inside = 0;
  for (let i = 0; i < SAMPLES * SAMPLES; i++) {
    const sx = x + ((i % SAMPLES) + 0.5) / SAMPLES - 0.5;
    const sy = y + (Math.floor(i / SAMPLES) + 0.5) / SAMPLES - 0.5;
    if (isInside(shape, radius, ring, sx, sy)) inside++;
  }
  return inside / (SAMPLES * SAMPLES);
}

function makeMask(shape: Shape, radius: number, colour: string, ring: Ring, fx: number, fy: number): Mask {
  const margin = Math.ceil(radius) + 1;
  const [red, green, blue] = rgb(colour);
  const pixels: [number, number, number][] = [];
  for (let y = -margin; y <= margin; y++)
    for (let x = -margin; x <= margin; x++) {
      const a = Math.round(256 * cover(shape, radius, ring, x - fx, y - fy));
      if (a > 0) pixels.push([x, y, a]);
    }
  const whole = pixels.filter(([, , a]) => a === 256), part = pixels.filter(([, , a]) => a < 256);
  return {
    margin,
    colour: (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0, // as bytes: red, green, blue, 255
    whole: Int32Array.from(whole.flatMap(([x, y]) => [x, y])),
    part: Int32Array.from(part.flatMap(([x, y, a]) => [x, y, 256 - a, ((blue * a) << 16) + red * a, green * a])),
    width: 0, wholeAt: new Int32Array(whole.length), partAt: new Int32Array(part.length),
  };
}

const KINDS_MAXIMUM = 3000; // a tetrahedron that turns for long would fill the memory
const kinds = new Map<string, Kind>();

/** The radius is in pixels of the picture. Equal arguments return the same object, until there are too many. Its masks are made
 * when they are needed first. */
export function kindOf(shape: Shape, radius: number, colour: string, ring: Ring = { inner: radius * INNER[shape], share: 1 }): Kind {
  const key = `${shape} ${radius} ${colour} ${ring.inner} ${ring.share}`;
  let kind = kinds.get(key);
  if (kinds.size > KINDS_MAXIMUM) kinds.clear();
  if (!kind) kinds.set(key, (kind = { shape, radius, colour, ring, masks: [], make: (i) => makeMask(shape, radius, colour, ring, (i % PHASES) / PHASES, Math.floor(i / PHASES) / PHASES) }));
  return kind;
}

/** Where dots are drawn. Coordinates are pixels of the picture. */
export interface Sink {
  begin(): void;
  put(kind: Kind, x: number, y: number): void;
  end(): void;
}

/** A picture of dots on a canvas. */
export class Dots implements Sink {
  width = 0;
  height = 0;
  private readonly context: CanvasRenderingContext2D;
  private image: ImageData | null = null;
  private pixels = new Uint32Array(0);
  private background = new Uint32Array(0);

  constructor(readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d', { alpha: false, willReadFrequently: true })!;
  }

  /** Draws the background, once: paint() gets an empty context of that size. */
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
    const phase = (top & 3) * PHASES + (left & 3);
    const mask = kind.masks[phase] ?? (kind.masks[phase] = kind.make(phase));
    const px = left >> 2, py = top >> 2;
    const isWhole = px >= mask.margin && py >= mask.margin &&
      px < this.width - mask.margin && py < this.height - mask.margin;
    if (isWhole) blend(this.pixels, this.width, mask, px, py);
    else this.putCut(mask, px, py);
  }

  end(): void {
    if (this.image) this.context.putImageData(this.image, 0, 0);
  }

  /** Draws a dot that the edge of the picture cuts. */
  private putCut({ whole, part, colour }: Mask, px: number, py: number): void {
    const at = (dx: number, dy: number) => {
      const x = px + dx, y = py + dy;
      return x >= 0 && y >= 0 && x < this.width && y < this.height ? y * this.width + x : -1;
    };
    for (let i = 0; i < whole.length; i += 2) {
      const pixel = at(whole[i]!, whole[i + 1]!);
      if (pixel >= 0) this.pixels[pixel] = colour;
    }
    for (let i = 0; i < part.length; i += 5) {
      const pixel = at(part[i]!, part[i + 1]!);
      if (pixel >= 0) this.pixels[pixel] = over(this.pixels[pixel]!, part[i + 2]!, part[i + 3]!, part[i + 4]!);
    }
  }
}

/** Blends a pixel over another. Red and blue are multiplied together: each has 8 free bits above it.
 */
function over(under: number, rest: number, redBlue: number, green: number): number {
  const both = (Math.imul(under & 0xff00ff, rest) + redBlue) | 0;
  const middle = (Math.imul((under >>> 8) & 0xff, rest) + green) | 0;
  return ((both >>> 8) & 0xff00ff) | (middle & 0xff00) | 0xff000000;
}

function fitTo(width: number, mask: Mask): void {
  const { whole, part, wholeAt, partAt } = mask;
  mask.width = width;
  for (let i = 0; i < wholeAt.length; i++) wholeAt[i] = whole[2 * i + 1]! * width + whole[2 * i]!;
  for (let i = 0; i < partAt.length; i++) partAt[i] = part[5 * i + 1]! * width + part[5 * i]!;
}

function blend(pixels: Uint32Array, width: number, mask: Mask, px: number, py: number): void {
  if (mask.width !== width) fitTo(width, mask);
  const { wholeAt, partAt, part, colour } = mask;
  const middle = py * width + px;
  for (let i = 0; i < wholeAt.length; i++) pixels[middle + wholeAt[i]!] = colour;
  for (let i = 0, j = 2; i < partAt.length; i++, j += 5) {
    const at = middle + partAt[i]!;
    pixels[at] = over(pixels[at]!, part[j]!, part[j + 1]!, part[j + 2]!);
  }
}
