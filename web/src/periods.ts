// Two periods, before and after, as ranges on a strip of time: dragged whole or by their ends.
import { element, setText } from './dom';
import { clock } from './format';
import { used } from './parts';
import { seriesOf } from './series';
import type { App } from './types';

export type Period = [from: number, to: number]; // frames [from, to)
export interface Pair {
  before: Period;
  after: Period;
}

const NAMES = { before: 'Before', after: 'After' } as const;
type Which = keyof Pair;
type Part = 'from' | 'to' | 'whole';

export class Periods {
  readonly element = element('div', { class: 'periods' });
  private readonly lanes;

  constructor(private readonly app: App) {
    this.lanes = { before: this.lane('before'), after: this.lane('after') };
    this.element.append(this.lanes.before.element, this.lanes.after.element);
  }

  show(pair: Pair): void {
    const { from, to } = seriesOf(this.app).span;
    for (const which of ['before', 'after'] as const) {
      const lane = this.lanes[which], [begin, end] = pair[which];
      lane.bar.style.left = `${(100 * (begin - from)) / (to - from)}%`;
      lane.bar.style.width = `${(100 * (end - begin)) / (to - from)}%`;
      const text = this.words(pair[which]);
      setText(lane.text, `${NAMES[which]} · ${text}`);
      say(lane.ends.from, begin, from, to, this.time(begin));
      say(lane.ends.to, end, from, to, this.time(end));
    }
  }

  words([from, to]: Period): string {
    return `${this.time(from)} to ${this.time(to)}, ${to - from} frames`;
  }

  /** Returns the start of a frame as text. */
  private time(frame: number): string {
    const { head } = this.app.store;
    return clock(seriesOf(this.app).endMs(frame) - head!.interval_ms).replace(/\.000$/, '');
  }

  private lane(which: Which) {
    const end = (part: Part) => element('span', {
      class: `end ${part}`, role: 'slider', tabindex: '0', 'aria-label': `${NAMES[which]}: ${part}`, 'data-part': part,
    });
    const ends = { from: end('from'), to: end('to') };
    const bar = element('div', { class: `bar ${which}`, 'data-part': 'whole' }, ends.from, ends.to);
    const strip = element('div', { class: 'strip' }, bar);
    const text = element('span', { class: 'caption' });
    this.listen(strip, bar, which);
    return { element: element('div', { class: 'lane' }, text, strip), bar, ends, text };
  }

  private listen(strip: HTMLElement, bar: HTMLElement, which: Which): void {
    let held: { part: Part; at: number; period: Period } | null = null;
    bar.addEventListener('pointerdown', (event) => {
      const period = this.app.ui.state.compare?.[which];
      if (!period) return;
      const part = (event.target as HTMLElement).dataset.part as Part;
      held = { part, at: event.clientX, period };
      bar.setPointerCapture(event.pointerId);
    });
    bar.addEventListener('pointermove', (event) => {
      if (!held) return;
      const { from, to } = seriesOf(this.app).span;
      this.move(which, held.part, Math.round(((event.clientX - held.at) * (to - from)) / strip.clientWidth), held.period);
    });
    bar.addEventListener('pointerup', () => (held = null));
    bar.addEventListener('keydown', (event) => {
      const steps: Record<string, number> = {
        ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -1e9, End: 1e9,
      };
      const step = steps[event.key], period = this.app.ui.state.compare?.[which];
      if (step === undefined || !period) return;
      this.move(which, (event.target as HTMLElement).dataset.part as Part, step, period);
      used(event);
    });
  }

  private move(which: Which, part: Part, by: number, [from, to]: Period): void {
    const { store, ui } = this.app;
    const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));
    let period: Period = [from, to];
    if (part === 'from') period = [clamp(from + by, store.firstFrame, to - 1), to];
    else if (part === 'to') period = [from, clamp(to + by, from + 1, store.endFrame)];
    else {
      const moved = clamp(by, store.firstFrame - from, store.endFrame - to);
      period = [from + moved, to + moved];
    }
    ui.set({ compare: { ...ui.state.compare!, [which]: period } });
  }
}

function say(end: HTMLElement, now: number, least: number, most: number, text: string): void {
  const values = { 'aria-valuenow': now, 'aria-valuemin': least, 'aria-valuemax': most, 'aria-valuetext': text };
  for (const [name, value] of Object.entries(values)) end.setAttribute(name, String(value));
}
