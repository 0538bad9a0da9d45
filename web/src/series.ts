// What views of many frames share: they read all frames in slices, so that the page stays quick;
// they show the same span of time; and the frame under the pointer in one is marked in all.
import { ticksOf, type Tick } from './time';
import type { App, Frame, View } from './types';

/** Reads frames in their order. */
export interface Reader {
  next: number; // the frame it wants
  read(frame: Frame): void; // frame `next`; it is added 1 after that
}

const SLICE_MS = 8; // of reading between two paintings
const NEAR = 4; // frames: a reader this close to the newest is served first

/** The span of frames [from, to) that views of time show, wider than what there is while live. */
export interface Span {
  from: number;
  to: number;
}

const SPAN_MINIMUM = 64;

/** Of one page. */
export class Series {
  /** The frame under the pointer in any view of time; null: none. */
  cursor: number | null = null;
  private readonly readers = new Set<Reader>();
  private readonly views = new Set<View>();
  private readonly ends = new Map<number, number>(); // of frames that were read
  private deadline = 0; // of reading before the next picture; 0: none was read since the last
  private isAsked = false;
  private ticksKey = '';
  private ticksKept: Tick[] = [];

  constructor(private readonly app: App) {}

  /** The view is drawn when more was read, or the cursor has moved. */
  watch(view: View, ...readers: Reader[]): void {
    this.views.add(view);
    for (const reader of readers) this.readers.add(reader);
  }

  /** Draws the views that can be seen, in the next animation frame. */
  again(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => {
      this.isAsked = false;
      this.deadline = 0;
      for (const view of this.views) if (view.element.getClientRects().length > 0) view.draw();
    });
  }

  /** Gives the readers what is new, as long as there is time before this picture, and goes on in the
   *  next one if that was not all. Call it before drawing. */
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
      this.ends.set(frame.index, frame.endMs);
      for (const one of this.readers) {
        if (one.next !== frame.index) continue;
        one.read(frame);
        one.next++;
      }
      if (performance.now() > this.deadline) break;
    }
    if (this.nextReader()) this.again();
    while (this.ends.size > store.endFrame - store.firstFrame)
      this.ends.delete(this.ends.keys().next().value!);
  }

  /** One that has all but the newest frames, so that live views do not wait; or who lacks most. */
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

  /** When a frame ended. What was not read yet, or is to come, is reckoned from what was. */
  endMs(frame: number): number {
    const known = this.ends.get(frame);
    if (known !== undefined) return known;
    const { firstFrame, endFrame, head } = this.app.store;
    const interval = head?.interval_ms ?? 1000;
    const last = this.ends.get(endFrame - 1);
    if (frame >= endFrame && last !== undefined) return last + (frame - endFrame + 1) * interval;
    if (endFrame === firstFrame) return 0;
    if (!this.ends.has(firstFrame)) this.ends.set(firstFrame, this.app.store.frame(firstFrame).endMs);
    return this.ends.get(firstFrame)! + (frame - firstFrame) * interval;
  }

  /** Round times of the span, at most `count`. */
  ticks(count: number): Tick[] {
    const { from, to } = this.span;
    const key = `${from} ${to} ${count} ${this.ends.size} ${this.app.store.firstFrame}`;
    if (key !== this.ticksKey) {
      this.ticksKey = key;
      this.ticksKept = ticksOf(from, to, (frame) => this.endMs(frame), count);
    }
    return this.ticksKept;
  }

  /** While live it grows to twice its length now and then, so that pictures stand still. */
  get span(): Span {
    const { head, firstFrame, endFrame, ended } = this.app.store;
    if (!head || !head.live || ended)
      return { from: firstFrame, to: Math.max(endFrame, firstFrame + 1, ended ? 0 : head?.frames ?? 0) };
    let length = SPAN_MINIMUM;
    while (length < endFrame - firstFrame + length / 16) length *= 2;
    const step = length / 16;
    const from = Math.floor(firstFrame / step) * step;
    return { from, to: from + length };
  }

  setCursor(frame: number | null): void {
    if (frame === this.cursor) return;
    this.cursor = frame;
    this.again();
  }

  /** Shows a frame, as a click on a view of time does. */
  scrub(frame: number): void {
    const { firstFrame, endFrame } = this.app.store;
    if (endFrame === firstFrame) return;
    const current = Math.min(endFrame - 1, Math.max(firstFrame, frame));
    this.app.ui.set({ current, playing: false, following: false });
  }
}

const ofApp = new WeakMap<App, Series>();

export function seriesOf(app: App): Series {
  let series = ofApp.get(app);
  if (!series) ofApp.set(app, (series = new Series(app)));
  return series;
}
