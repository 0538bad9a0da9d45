// All kept frames, as received, because these are small. A whole frame is decoded on request, from
// the frame before or from the last key frame; the last few are cached.
import { lockOf } from './classes';
import type { Entity, Frame, Head, Store } from './types';
import { FrameSum } from './frame_sum';
import { isEntity, isHead } from './shape';
import {
  applyFrame, CAUSES, CPUS, emptyFrame, END, ENTITIES, FRAME, HEAD, NOTE, readFrame, StreamError, type Block,
  type FrameBlock,
} from './stream';

const LIVE_BYTES = 256 << 20; // of frames as received; older ones are dropped
const MADE_MAXIMUM = 12;
const MEANS_MAXIMUM = 2; // the shown range, and the one that it is compared with
const NOTES_MAXIMUM = 20;

interface Kept {
  payload: ArrayBuffer;
  causes: ArrayBuffer | null;
  lengthMs: number;
  isKey: boolean;
  full: number;
  firstFull: number;
}

/** The server is another run than before, in which entities have other numbers. */
export class OtherRun extends Error {}

export class FrameStore implements Store {
  head: Head | null = null;
  entities: Entity[] = [];
  entitiesVersion = 0;
  firstFrame = 0;
  endFrame = 0;
  ended: string | null = null;
  open: number | null = null;
  notes: string[] = [];
  cpus = 0;
  hasOthers = false;
  newestEndMs = -Infinity;
  silentSince: number | null = null;

  private kept: Kept[] = []; // [endFrame - firstFrame], the first one a key frame
  private mentioned: number[] = []; // [entities] the frame with its last description
  private bytes = 0;
  private causesNext: ArrayBuffer | null = null; // of waits, of the next frame
  private made = new Map<number, Frame>(); // the least recently used first
  private fullNow: Pick<Kept, 'full' | 'firstFull'> = { full: 0, firstFull: -1 }; // of the frames that follow
  private listeners: (() => void)[] = [];

  constructor(private readonly limit = LIVE_BYTES) {}

  subscribe(listener: () => void): void {
    this.listeners.push(listener);
  }

  tell(): void {
    for (const listener of this.listeners) listener();
  }

  /** Adds a block. Throws StreamError when it is damaged; earlier data stays. */
  add(block: Block): void {
    switch (block.type) {
      case HEAD: return this.addHead(json(block) as Head);
      case ENTITIES: return this.addEntities(json(block) as Entity[]);
      case FRAME: return this.addFrame(block.payload);
      case CPUS: return this.addCpus(json(block) as Record<string, unknown>);
      case NOTE: return this.addNoteBlock(json(block) as { text?: unknown });
      case CAUSES: this.causesNext = block.payload; return;
      case END: return this.end(json(block) as { reason?: unknown; open?: unknown });
      default: // a beat, or of a later version's type
    }
  }

  frame(index: number): Frame {
    if (this.endFrame === this.firstFrame) return emptyFrame(this.head?.states.length ?? 0);
    const wanted = Math.min(Math.max(Math.floor(index), this.firstFrame), this.endFrame - 1);
    let from = wanted;
    while (!this.made.has(from) && !this.keptOf(from).isKey) from--;
    let frame = this.made.get(from) ?? this.make(from, emptyFrame(this.head!.states.length));
    while (from < wanted) frame = this.make(++from, frame);
    this.keep(wanted, frame);
    return frame;
  }

  private means: { from: number; to: number; frame: Frame }[] = []; // the last used first

  mean(from: number, to: number): Frame {
    const begin = Math.max(from, this.firstFrame), end = Math.min(to, this.endFrame);
    if (end - begin <= 1) return this.frame(begin);
    let mean = this.means.find((one) => one.from === begin && one.to === end);
    if (!mean) {
      const sum = new FrameSum(this.head!.states.length, this.entities.length, lockOf(this.head!));
      for (let index = begin; index < end; index++) sum.add(this.frame(index));
      mean = { from: begin, to: end, frame: sum.mean };
    }
    this.means = [mean, ...this.means.filter((one) => one !== mean)].slice(0, MEANS_MAXIMUM);
    return mean.frame;
  }

  private addHead(head: Head): void {
    if (head.schema !== 'camp.stream/1')
      throw new StreamError(`its format is ${JSON.stringify(head.schema)}; this page reads camp.stream/1`);
    if (!isHead(head) || head.states.length > 128) throw new StreamError('its head lacks what docs/stream.md describes');
    if (this.head && JSON.stringify(this.head) !== JSON.stringify(head)) throw new OtherRun();
    this.head = head;
    this.ended = null;
  }

  private addEntities(entities: Entity[]): void {
    if (!Array.isArray(entities)) throw new StreamError('entities are no array');
    const known = this.entities.slice();
    for (const entity of entities) {
      if (!isEntity(entity)) throw new StreamError('an entity is not as docs/stream.md describes it');
      const n = entity.n;
      if (!Number.isInteger(n) || n < 0 || n >= this.entities.length + entities.length)
        throw new StreamError(`an entity has the number ${n}`);
      known[n] = entity;
    }
    if (known.includes(undefined as unknown as Entity)) throw new StreamError('an entity is missing');
    for (const { n } of entities) {
      const before = this.entities[n];
      if (before && isOther(before, known[n]!)) this.forget(n);
      known[n] = { ...known[n]!, past: before && !isOther(before, known[n]!) ? this.pastOf(before, known[n]!) : [] };
    }
    this.entities = known;
    this.entitiesVersion++;
  }

  private pastOf({ past = [], ...before }: Entity, now: Entity): NonNullable<Entity['past']> {
    const kept = past.filter(({ end }) => end > this.firstFrame);
    return JSON.stringify(before.labels) === JSON.stringify(now.labels) ? kept : [...kept, { end: this.endFrame, entity: before }];
  }

  private addCpus({ cpus, others, full, first_full }: Record<string, unknown>): void {
    this.cpus = Number.isInteger(cpus) ? (cpus as number) : 0;
    this.hasOthers = others === true;
    this.fullNow = {
      full: Number.isInteger(full) ? (full as number) : 0,
      firstFull: Number.isInteger(first_full) ? (first_full as number) : -1,
    };
  }

  private addFrame(payload: ArrayBuffer): void {
    if (!this.head) throw new StreamError('a frame came before the head');
    const block = readFrame(payload, this.head.states.length);
    for (const n of block.entity)
      if (n >= this.entities.length) throw new StreamError(`a frame has entity ${n}, which is not known`);
    if (!(block.unit > 0 && block.unit < Infinity)) throw new StreamError(`a frame has the unit ${block.unit}`);
    if (!Number.isFinite(block.endMs)) throw new StreamError(`a frame ends at ${block.endMs}`);
    if (!(block.lengthMs > 0 && block.lengthMs < Infinity)) throw new StreamError(`a frame is ${block.lengthMs} ms long`);
    const causes = this.causesNext;
    this.causesNext = null;
    if (this.isAgain && !this.goesOn(block)) return;
    if (this.kept.length === 0 && !block.isKey) throw new StreamError('the first frame is no key frame');
    for (const n of block.entity) this.mentioned[n] = this.endFrame;
    this.newestEndMs = block.endMs;
    this.kept.push({ payload, causes, lengthMs: block.lengthMs, isKey: block.isKey, ...this.fullNow });
    this.bytes += payload.byteLength + (causes?.byteLength ?? 0);
    this.endFrame++;
    if (this.head.live && this.bytes > this.limit) this.dropOldest();
  }

  causes(index: number): ArrayBuffer | null {
    return this.kept[index - this.firstFrame]?.causes ?? null;
  }

  lengthMs(index: number): number {
    return this.kept[index - this.firstFrame]?.lengthMs ?? 0;
  }

  private end({ reason, open }: { reason?: unknown; open?: unknown }): void {
    if (typeof reason !== 'string') throw new StreamError('the reason of the end is no text');
    this.ended = reason;
    if (Number.isInteger(open)) this.open = open as number;
  }

  private addNoteBlock({ text }: { text?: unknown }): void {
    if (typeof text !== 'string') throw new StreamError('a note is no text');
    this.addNote(text);
  }

  private addNote(text: string): void {
    this.notes.push(text);
    if (this.notes.length > NOTES_MAXIMUM) this.notes.shift();
  }

  private isAgain = false;

  /** Called at a new connection: the same run sends its frames again, from the oldest it kept. */
  connectedAgain(): void {
    this.isAgain = this.kept.length > 0;
  }

  /** Does a frame of a new connection follow the kept frames? Earlier frames repeat kept frames, up
   * to the last kept one; if the server has dropped that one, a gap and then a key frame follow. */
  private goesOn({ endMs, isKey }: FrameBlock): boolean {
    const isNew = isKey && endMs > this.newestEndMs;
    if (isNew || endMs === this.newestEndMs) this.isAgain = false;
    if (isNew) this.addNote('The connection was lost: some intervals are missing.');
    return isNew;
  }

  /** Drops frames up to the next key frame, but keeps the last key frame. */
  private dropOldest(): void {
    const next = this.kept.findIndex((kept, i) => i > 0 && kept.isKey);
    if (next > 0) this.drop(next);
  }

  /** Drops frames because a number has a new owner: frames with the old owner, up to the first key
   * frame without it; all frames if there is no such key frame yet. */
  private forget(n: number): void {
    const since = (this.mentioned[n] ?? -1) - this.firstFrame;
    if (since < 0) return;
    const key = this.kept.findIndex(({ isKey }, i) => i > since && isKey);
    this.drop(key > 0 ? key : this.kept.length);
  }

  private drop(count: number): void {
    for (const { payload, causes } of this.kept.splice(0, count)) this.bytes -= payload.byteLength + (causes?.byteLength ?? 0);
    this.firstFrame += count;
    for (const index of this.made.keys()) if (index < this.firstFrame) this.made.delete(index);
  }

  private keptOf(index: number): Kept {
    return this.kept[index - this.firstFrame]!;
  }

  private make(index: number, before: Frame): Frame {
    const { payload, full, firstFull } = this.keptOf(index);
    const frame = { ...applyFrame(before, readFrame(payload, this.head!.states.length), index, this.entities.length), full, firstFull };
    this.keep(index, frame);
    return frame;
  }

  private keep(index: number, frame: Frame): void {
    this.made.delete(index);
    this.made.set(index, frame);
    if (this.made.size > MADE_MAXIMUM) this.made.delete(this.made.keys().next().value!);
  }
}

/** Does the number belong to another entity now, and not to the same one with a new name? */
function isOther(before: Entity, now: Entity): boolean {
  return before.id !== now.id || (now.id === 0 && before.name !== now.name);
}

/** Returns an object or an array. */
function json(block: Block): unknown {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(block.payload));
  } catch {
    throw new StreamError('a block of text is not JSON');
  }
  if (typeof value !== 'object' || value === null) throw new StreamError('a block of text is not an object or an array');
  return value;
}
