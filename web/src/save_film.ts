// A film of the ribbon and the stage: an animated PNG (APNG), which browsers show like any PNG. After
// the first picture, only pixels that differ from the picture before are stored.
// Format: https://www.w3.org/TR/png-3/ (acTL, fcTL, fdAT).
import { layOut, paint, pictured } from './save_picture';
import type { App } from './types';

const PICTURES_MAXIMUM = 300;
const WIDTH_MAXIMUM = 1280; // pixels
const LENGTH_MAXIMUM_MS = 30_000;
const PICTURE_LEAST_MS = 1000 / 30;

export interface Plan {
  pictures: [from: number, to: number][]; // the frames of each; of several, it shows the mean
  eachMs: number; // how long each picture is shown
}

/** Plans a film of the selected range, or of all kept frames, at a speed in frames of the page. */
export function planOf([from, to]: readonly [number, number], frameMs: number): Plan {
  const frames = to - from, wholeMs = Math.min(LENGTH_MAXIMUM_MS, frames * frameMs);
  const step = Math.max(1, Math.ceil(frames / PICTURES_MAXIMUM), Math.ceil((frames * PICTURE_LEAST_MS) / wholeMs - 1e-6));
  const pictures: [number, number][] = [];
  for (let at = from; at < to; at += step) pictures.push([at, Math.min(to, at + step)]);
  return { pictures, eachMs: wholeMs / pictures.length };
}

/** Makes the film while the page stays as it is; null: it was cancelled. */
export async function film(app: App, signal: AbortSignal, progress: (share: number) => void): Promise<Blob | null> {
  const { store, ui } = app, { range, speed } = ui.state;
  const plan = planOf(range ?? [store.firstFrame, store.endFrame], store.head!.interval_ms / speed);
  const first = layOut(app), scale = Math.min(1, WIDTH_MAXIMUM / first.width);
  const reel = new Reel(Math.round(first.width * scale), Math.round(first.height * scale), plan.eachMs);
  for (const [i, [from, to]] of plan.pictures.entries()) {
    progress(i / plan.pictures.length);
    draw(app, [from, to], reel.context);
    await reel.add();
    if (!document.hidden) await new Promise((resolve) => setTimeout(resolve)); // timers of hidden pages are late
    if (signal.aborted) return null;
  }
  return reel.end();
}

/** Draws a time of the film with the page's own views, and then what they showed before. The browser
 * shows the page only after that. */
function draw(app: App, [from, to]: [number, number], context: CanvasRenderingContext2D): void {
  const views = pictured(app), refresh = () => views.forEach((view) => view.refresh());
  try {
    app.ui.during({ current: to - 1, range: to - from > 1 ? [from, to] : null, hover: null }, () => {
      refresh();
      const layout = layOut(app);
      if (layout.parts.length > 0) paint(context, layout);
    });
  } finally {
    refresh();
  }
}

/** The pictures of an APNG. */
class Reel {
  readonly context: CanvasRenderingContext2D;
  private readonly parts: Uint8Array<ArrayBuffer>[] = [];
  private readonly before: Uint32Array; // the pixels of the last picture
  private pictures = 0;
  private sequence = 0; // of fcTL and fdAT chunks

  constructor(private readonly width: number, private readonly height: number, private readonly eachMs: number) {
    const canvas = document.createElement('canvas');
    canvas.width = width;
    canvas.height = height;
    this.context = canvas.getContext('2d', { willReadFrequently: true })!;
    this.before = new Uint32Array(width * height);
  }

  /** Adds what is on the canvas. */
  async add(): Promise<void> {
    const { width, height, before } = this;
    const after = new Uint32Array(this.context.getImageData(0, 0, width, height).data.buffer);
    const box = this.pictures === 0 ? { left: 0, top: 0, right: width, bottom: height } : changed(before, after, width);
    const columns = box.right - box.left, lines = box.bottom - box.top;
    const rows = new Uint8Array(lines * (1 + 4 * columns)); // each after a byte: no filter
    const line = new Uint32Array(columns);
    for (let y = 0; y < lines; y++) {
      for (let x = 0; x < columns; x++) {
        const at = (box.top + y) * width + box.left + x;
        line[x] = after[at] === before[at] ? 0 : after[at]!; // transparent over an equal pixel
      }
      rows.set(new Uint8Array(line.buffer), y * (1 + 4 * columns) + 1);
    }
    before.set(after);
    this.parts.push(chunk('fcTL', numbers([4, this.sequence++], [4, columns], [4, lines], [4, box.left], [4, box.top],
      [2, Math.min(65535, Math.round(this.eachMs))], [2, 1000], [1, 0], [1, 1]))); // keeps the canvas, draws over it
    const data = await deflated(rows);
    this.parts.push(this.pictures++ === 0 ? chunk('IDAT', data) : chunk('fdAT', numbers([4, this.sequence++]), data));
  }

  end(): Blob {
    return new Blob([
      Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10),
      chunk('IHDR', numbers([4, this.width], [4, this.height], [1, 8], [1, 6], [1, 0], [1, 0], [1, 0])), // 8 bits, RGBA
      chunk('acTL', numbers([4, this.pictures], [4, 0])), // shown again and again
      ...this.parts,
      chunk('IEND'),
    ], { type: 'image/png' });
  }
}

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Returns the smallest box with all pixels that differ; a picture has one pixel at least. */
function changed(before: Uint32Array, after: Uint32Array, width: number): Box {
  let left = width, right = 0, first = -1, last = 0;
  for (let at = 0, x = 0; at < after.length; at++) {
    if (before[at] !== after[at]) {
      if (first < 0) first = at;
      last = at;
      if (x < left) left = x;
      if (x >= right) right = x + 1;
    }
    if (++x === width) x = 0;
  }
  if (first < 0) return { left: 0, top: 0, right: 1, bottom: 1 };
  return { left, top: Math.floor(first / width), right, bottom: Math.floor(last / width) + 1 };
}

async function deflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const { writable, readable } = new CompressionStream('deflate'), writer = writable.getWriter();
  const [made] = await Promise.all([new Response(readable).arrayBuffer(), writer.write(bytes), writer.close()]);
  return new Uint8Array(made);
}

/** Numbers of some bytes each, the highest byte first. */
function numbers(...parts: [size: number, value: number][]): Uint8Array {
  return Uint8Array.from(parts.flatMap(([size, value]) => Array.from({ length: size }, (_, i) => (value >>> (8 * (size - 1 - i))) & 255)));
}

/** Returns a chunk of a PNG: its length, its type, its data, and their CRC. */
function chunk(type: string, ...data: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const length = data.reduce((sum, { length: own }) => sum + own, 0), made = new Uint8Array(length + 12);
  made.set(numbers([4, length]));
  made.set(new TextEncoder().encode(type), 4);
  let at = 8;
  for (const piece of data) {
    made.set(piece, at);
    at += piece.length;
  }
  made.set(numbers([4, crc(made.subarray(4, at))]), at);
  return made;
}

/** The remainders of all bytes, for crc(). */
const CRCS = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? 0xedb88320 ^ (byte >>> 1) : byte >>> 1;
  return byte;
});

function crc(bytes: Uint8Array): number {
  let rest = -1;
  for (let i = 0; i < bytes.length; i++) rest = CRCS[(rest ^ bytes[i]!) & 255]! ^ (rest >>> 8);
  return ~rest;
}
