// The box in a corner of the stage: how much time all rows together spend at each vertex, in entities
// at once (seconds a second), and which time is shown. Waits of parked rows are a sum of their own.
import type { App } from './types';
import { MISSING, missingOf, type Places } from './axes';
import { readable } from './colour';
import { element } from './dom';
import { clock } from './format';
import { Pace } from './parts';
import type { Weight } from './weight';

const LEAST = 0.005; // is shown as 0.00

export class StageSums {
  readonly element = element('div', { class: 'stage-sums' });
  private shown: unknown[] = [];

  private readonly pace: Pace;

  /** `again` draws the stage again. */
  constructor(private readonly app: App, again: () => void) {
    this.pace = new Pace(app, again);
  }

  draw({ frame, axes, own, leftOut }: Places, { active }: Weight, colours: readonly string[]): void {
    const { app, element: box } = this, { range } = app.ui.state;
    if (this.shown[0] === frame && this.shown[1] === axes && this.shown[2] === range || !this.pace.isDue()) return;
    this.shown = [frame, axes, range];
    const sum = (column: ArrayLike<number>, unit: number) => {
      let total = 0;
      for (let row = 0; row < frame.count; row++) if (!active.parked[row]) total += column[row]! * unit * frame.elapsed[row]!;
      return total;
    };
    const parked = active.parked.reduce((total, is, row) => total + is * frame.elapsed[row]!, 0);
    const whole = frame.elapsed.reduce((total, own) => total + own, 0);
    const missing = sum(frame.unaccounted.map((_, row) => missingOf(frame, row)), 1);
    const out = leftOut ? sum(leftOut, frame.unit) : 0;
    const lines: [string, number, string][] = axes.map(({ name }, i) => [name, sum(own[i]!, frame.unit), readable(colours[i]!)]);
    if (out >= LEAST) lines.push(['at no vertex', out, '']);
    if (parked >= LEAST) lines.push(['parked', parked, '']);
    lines.push(['unaccounted', missing, '']);
    const step = app.store.head!.interval_ms;
    const end = clock(frame.endMs, step);
    const time = range ? `${clock(frame.endMs - frame.lengthMs, step)} – ${end} · mean` : end;
    box.replaceChildren(element('strong', {}, frame.count > 0 ? time : ''),
      element('dl', {}, ...lines.flatMap(([name, value, colour]) => {
        const title = element('dt', {}, name), figure = element('dd', {}, value.toFixed(value < 100 ? 2 : value < 1000 ? 1 : 0));
        title.style.color = colour;
        if (name === 'unaccounted' && value > Math.max(LEAST, MISSING * whole)) title.className = figure.className = 'missing';
        return [element('div', {}, title, figure)];
      })));
  }
}
