// Shared by views of many frames: they read all frames in slices, so that the page stays
// responsive; they show the same span of time; and the frame under the pointer in one is marked in
// all.
import { ticksOf, type Tick, type Times } from './time';
import type { App, Frame, View } from './types';

/** Reads frames in their order. */
export interface Reader {
  next: number; // the next frame to read
  read(frame: Frame): void; // frame `next`; 1 is added after the call
}

const SLICE_MS = 8; // of reading between two paintings
const NEAR = 4; // frames: a reader this close to the newest is served first

/** The span of frames [from, to) that views of time show, beyond the last frame while live. */
export interface Span {
  from: number;
  to: number;
}

const SPAN_MINIMUM = 32;

/** The series of a page. */
export class Series {
  /** The hovered frame in any view of time; null: none. */
  cursor: number | null = null;
  private readonly readers = new Set<Reader>();
  private readonly views = new Set<View>();
  private readonly times = new Map<number, Times>(); // of the frames read
  private deadline = 0; // for reading before the next picture; 0: nothing was read since the last
  private isAsked = false;
  private ticksKey = '';
  private ticksKept: Tick[] = [];

  constructor(private readonly app: App) {}

  /** Registers a view, which is drawn when more was read or the cursor has moved. */
  watch(view: View, ...readers: Reader[]): void {
    this.views.add(view);
    for (const reader of readers) this.readers.add(reader);
  }

  /** Stops reading for a reader. */
  unwatch(reader: Reader): void {
    this.readers.delete(reader);
  }

  /** Draws the visible views in the next animation frame. */
  again(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => {
      this.isAsked = false;
      this.deadline = 0;
      // Each drawing makes another layout necessary, so all views are asked first.
      const shown = [...this.views].filter(({ element }) => element.getClientRects().length > 0);
      for (const view of shown) view.draw();
    });
  }

  /** Lets the readers read until the deadline of this animation frame, and continues in the next
   * one. Call it before drawing. */
  run(): void {
    const { store } = this.app;
    if (!this.nextReader()) return;
    if (this.deadline === 0) {
      this.deadline = performance.now() + SLICE_MS;
      requestAnimationFrame(() => (this.deadline = 0));
    }
    if (performance.now() > this.deadline) return this.again();
    for (let reader = this.nextReader(); reader; reader = this.nextReader()) {
      const frame = store.frame(reader.next);
      this.times.set(frame.index, timesOf(frame));
      for (const one of this.readers) {
        if (one.next !== frame.index) continue;
        one.read(frame);
        one.next++;
      }
      if (performance.now() > this.deadline) break;
    }
    const isReading = this.nextReader() !== null;
    document.body.toggleAttribute('data-reading', isReading); // for tests
    if (isReading) this.again();
    while (this.times.size > store.endFrame - store.firstFrame)
      this.times.delete(this.times.keys().next().value!);
  }

  /** Returns a reader that lacks only the newest frames, so that live views do not wait; otherwise
   * the reader that lacks most frames. */
  private nextReader(): Reader | null {
    const { firstFrame, endFrame } = this.app.store;
    let last: Reader | null = null;
    for (const reader of this.readers) {
      if (reader.next < firstFrame) reader.next = firstFrame;
      if (reader.next >= endFrame) continue;
      if (reader.next >= endFrame - NEAR) return reader;
      if (!last || reader.next < last.next) last = reader;
    }
    return last;
  }

  endMs(frame: number): number {
    return this.timesOf(frame).endMs;
  }

  beginMs(frame: number): number {
    const { endMs, lengthMs } = this.timesOf(frame);
    return endMs - lengthMs;
  }

  /** Returns the time of a frame, estimated for frames not read yet and for future frames. */
  private timesOf(frame: number): Times {
    const known = this.times.get(frame);
    if (known) return known;
    const { firstFrame, endFrame, head } = this.app.store;
    const interval = head?.interval_ms ?? 1000;
    const later = (times: Times, frames: number) => ({ endMs: times.endMs + frames * interval, lengthMs: interval });
    const last = this.times.get(endFrame - 1);
    if (frame >= endFrame && last) return later(last, frame - endFrame + 1);
    if (endFrame === firstFrame) return { endMs: 0, lengthMs: interval };
    if (!this.times.has(firstFrame)) this.times.set(firstFrame, timesOf(this.app.store.frame(firstFrame)));
    return frame === firstFrame ? this.times.get(firstFrame)! : later(this.times.get(firstFrame)!, frame - firstFrame);
  }

  /** Returns about `count` round times of the span. */
  ticks(count: number): Tick[] {
    const { from, to } = this.span;
    const key = `${from} ${to} ${count} ${this.times.size} ${this.app.store.firstFrame}`;
    if (key !== this.ticksKey) {
      this.ticksKey = key;
      this.ticksKept = ticksOf(from, to, (frame) => this.timesOf(frame), count);
    }
    return this.ticksKept;
  }

  /** While live, the span grows in steps, so that pictures do not move with each frame: it ends at
   * most a tenth after the last frame. */
  get span(): Span {
    const { head, firstFrame, endFrame, ended } = this.app.store;
    if (!head || !head.live || ended)
      return { from: firstFrame, to: Math.max(endFrame, firstFrame + 1, ended ? 0 : head?.frames ?? 0) };
    let length = SPAN_MINIMUM;
    while (length * 31 < (endFrame - firstFrame) * 32) length = Math.ceil(length * 1.06);
    const step = length >> 5;
    const from = Math.floor(firstFrame / step) * step;
    return { from, to: from + length };
  }

  setCursor(frame: number | null): void {
    if (frame === this.cursor) return;
    this.cursor = frame;
    this.again();
  }

  /** Shows a frame, like a click on a view of time. */
  scrub(frame: number): void {
    const { firstFrame, endFrame } = this.app.store;
    if (endFrame === firstFrame) return;
    const current = Math.min(endFrame - 1, Math.max(firstFrame, frame));
    this.app.ui.set({ current, playing: false, following: false });
  }
}

const timesOf = ({ endMs, lengthMs }: Times): Times => ({ endMs, lengthMs });

const ofApp = new WeakMap<App, Series>();

export function seriesOf(app: App): Series {
  let series = ofApp.get(app);
  if (!series) ofApp.set(app, (series = new Series(app)));
  return series;
}
