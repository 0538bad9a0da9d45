// Parses camp.stream/1 (docs/stream.md): bytes to blocks, and blocks of frames to whole frames.
//
// A frame's block has only its differences from the frame before. So decoding one is a copy of that
// frame with some rows overwritten.
import type { Frame } from './types';

export const HEAD = 1, ENTITIES = 2, FRAME = 3, BEAT = 4, END = 5, NOTE = 6, CPUS = 7, CAUSES = 8;

const BLOCK_HEADER = 8;
const FRAME_HEADER = 64;
const LENGTH_MAXIMUM = 1 << 28; // a longer block is damaged
const KEY = 1, NEW = 1, ENDED = 2;

/** The data does not follow docs/stream.md. */
export class StreamError extends Error {}

export interface Block {
  type: number;
  payload: ArrayBuffer;
}

/** Divides the input, which comes in chunks of any size, into blocks. */
export class BlockReader {
  private bytes = new Uint8Array(1 << 16);
  private begin = 0;
  private end = 0;

  push(chunk: Uint8Array): void {
    if (this.end + chunk.length > this.bytes.length) this.makeRoom(chunk.length);
    this.bytes.set(chunk, this.end);
    this.end += chunk.length;
  }

  /** Returns the next whole block; null if more input is needed. */
  next(): Block | null {
    if (this.end - this.begin < BLOCK_HEADER) return null;
    const header = new DataView(this.bytes.buffer, this.begin, BLOCK_HEADER);
    const length = header.getUint32(0, true);
    if (length > LENGTH_MAXIMUM) throw new StreamError(`a block of ${length} bytes`);
    const whole = BLOCK_HEADER + Math.ceil(length / 8) * 8;
    if (this.end - this.begin < whole) return null;
    const from = this.begin + BLOCK_HEADER;
    this.begin += whole;
    return { type: header.getUint32(4, true), payload: this.bytes.buffer.slice(from, from + length) };
  }

  /** Does the input end inside a block? */
  get isInBlock(): boolean {
    return this.end > this.begin;
  }

  private makeRoom(more: number): void {
    const rest = this.bytes.subarray(this.begin, this.end);
    const needed = rest.length + more;
    const bytes = needed > this.bytes.length / 2 ? new Uint8Array(needed * 2) : this.bytes;
    bytes.set(rest);
    this.bytes = bytes;
    this.end = rest.length;
    this.begin = 0;
  }
}

/** A frame's block, with arrays as in the payload. */
export interface FrameBlock {
  endMs: number;
  lengthMs: number;
  unit: number;
  isKey: boolean;
  unseen: number;
  lost: number;
  partial: number;
  gone: Uint32Array;
  entity: Uint32Array;
  elapsed: Float32Array;
  unaccounted: Float32Array;
  flags: Uint16Array;
  shares: (Uint16Array | null)[]; // [states]
}

/** Throws StreamError. The arrays are views of `payload`. */
export function readFrame(payload: ArrayBuffer, stateCount: number): FrameBlock {
  if (payload.byteLength < FRAME_HEADER) throw new StreamError('a frame is too short');
  const view = new DataView(payload);
  const u32 = (index: number) => view.getUint32(24 + 4 * index, true);
  const count = u32(1), gone = u32(2);
  const has = Array.from({ length: stateCount }, (_, i) => ((u32(6 + (i >> 5)) >>> (i & 31)) & 1) === 1);
  const columns = has.filter(Boolean).length;
  if (payload.byteLength !== FRAME_HEADER + 4 * gone + count * (14 + 2 * columns))
    throw new StreamError('a frame has another length than its rows and columns');
  let at = FRAME_HEADER;
  const take = <T>(type: new (b: ArrayBuffer, o: number, n: number) => T, n: number, bytes: number): T => {
    at += n * bytes;
    return new type(payload, at - n * bytes, n);
  };
  return {
    endMs: view.getFloat64(0, true),
    lengthMs: view.getFloat64(8, true),
    unit: view.getFloat64(16, true),
    isKey: (u32(0) & KEY) !== 0,
    unseen: u32(3),
    lost: u32(4),
    partial: u32(5),
    gone: take(Uint32Array, gone, 4),
    entity: take(Uint32Array, count, 4),
    elapsed: take(Float32Array, count, 4),
    unaccounted: take(Float32Array, count, 4),
    flags: take(Uint16Array, count, 2),
    shares: has.map((there) => (there ? take(Uint16Array, count, 2) : null)),
  };
}

export function emptyFrame(stateCount: number): Frame {
  return {
    index: 0, endMs: 0, lengthMs: 0, unit: 1 / 50000, unseen: 0, lost: 0, partial: 0, full: 0, firstFull: -1, count: 0,
    entity: new Uint32Array(0), elapsed: new Float32Array(0), unaccounted: new Float32Array(0),
    flags: new Uint16Array(0), shares: new Array<null>(stateCount).fill(null), rowOf: new Int32Array(0),
  };
}

/** Returns the whole frame: a copy of `before` with the rows of `block`. */
export function applyFrame(before: Frame, block: FrameBlock, index: number, entities: number): Frame {
  const base = block.isKey ? emptyFrame(block.shares.length) : before;
  const rowOf = new Int32Array(entities).fill(-1);
  rowOf.set(base.rowOf.subarray(0, entities));
  const frame: Frame = {
    index, endMs: block.endMs, lengthMs: block.lengthMs, unit: block.unit,
    unseen: block.unseen, lost: block.lost, partial: block.partial, full: 0, firstFull: -1,
    rowOf, ...grown(base, block),
  };
  writeRows(frame, block);
  removeRows(frame, block);
  return cut(frame);
}

type Rows = Pick<Frame, 'count' | 'entity' | 'elapsed' | 'unaccounted' | 'flags' | 'shares'>;

/** Copies the rows of `base`, with space for all rows of the block. */
function grown(base: Frame, block: FrameBlock): Rows {
  const room = block.entity.reduce((rows, n) => rows + ((base.rowOf[n] ?? -1) < 0 ? 1 : 0), base.count);
  const copy = <T extends { set(from: T): void }>(to: T, from: T | null): T => {
    if (from) to.set(from);
    return to;
  };
  return {
    count: base.count,
    entity: copy(new Uint32Array(room), base.entity),
    elapsed: copy(new Float32Array(room), base.elapsed),
    unaccounted: copy(new Float32Array(room), base.unaccounted),
    flags: copy(new Uint16Array(room), base.flags),
    shares: block.shares.map((column, i) =>
      column || base.shares[i] ? copy(new Uint16Array(room), base.shares[i] ?? null) : null),
  };
}

/** Writes the rows of the block over existing rows, or after them. */
function writeRows(frame: Frame, block: FrameBlock): void {
  // An entity that was new in the last frame is no longer new, even if it has no row in the block.
  for (let row = 0; row < frame.count; row++) frame.flags[row]! &= ~NEW;
  const rows = new Uint32Array(block.entity.length);
  const written = new Uint8Array(frame.entity.length);
  const kept = frame.count;
  for (let i = 0; i < rows.length; i++) {
    const n = block.entity[i]!;
    let row = frame.rowOf[n]!;
    if (row < 0) row = frame.rowOf[n] = frame.count++;
    rows[i] = row;
    written[row] = 1;
    frame.entity[row] = n;
    frame.elapsed[row] = block.elapsed[i]!;
    frame.unaccounted[row] = block.unaccounted[i]!;
  }
  frame.shares.forEach((column, state) => {
    const from = block.shares[state];
    if (column) for (let i = 0; i < rows.length; i++) column[rows[i]!] = from ? from[i]! : 0;
  });
  // An entity that exited in the last frame is gone, even if the block does not list it.
  for (let row = kept - 1; row >= 0; row--) {
    if (frame.flags[row]! & ENDED && !written[row]) frame.flags[row]! |= GONE;
  }
  for (let i = 0; i < rows.length; i++) frame.flags[rows[i]!] = block.flags[i]!;
}

const GONE = 0x8000; // within applyFrame() only

function removeRows(frame: Frame, block: FrameBlock): void {
  for (const n of block.gone) {
    const row = frame.rowOf[n];
    if (row !== undefined && row >= 0) frame.flags[row]! |= GONE;
  }
  for (let row = frame.count - 1; row >= 0; row--) {
    if (frame.flags[row]! & GONE) removeRow(frame, row);
  }
}

/** Removes a row: the last row moves to its place. */
function removeRow(frame: Frame, row: number): void {
  const last = --frame.count;
  frame.rowOf[frame.entity[row]!] = -1;
  if (row === last) return;
  for (const column of [frame.entity, frame.elapsed, frame.unaccounted, frame.flags, ...frame.shares])
    if (column) column[row] = column[last]!;
  frame.rowOf[frame.entity[row]!] = row;
}

/** Shortens the arrays to [count]. */
function cut(frame: Frame): Frame {
  frame.entity = frame.entity.subarray(0, frame.count);
  frame.elapsed = frame.elapsed.subarray(0, frame.count);
  frame.unaccounted = frame.unaccounted.subarray(0, frame.count);
  frame.flags = frame.flags.subarray(0, frame.count);
  frame.shares = frame.shares.map((column) => column && column.subarray(0, frame.count));
  return frame;
}
