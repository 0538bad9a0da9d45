// Values beside the colours of their axes: the legend of charts, and the values of a barymap's
// cell.
import { MISSING } from './axes';
import { element, setText } from './dom';
import { percent } from './format';
import type { Mean } from './means';
import type { Axis } from './types';

export class Readout {
  readonly element = element('dl', { class: 'values' });
  private key = '';
  private values: HTMLElement[] = [];

  /** Shows the values of a mean; null shows only the names. */
  show(axes: Axis[], colours: string[], mean: Mean | null): void {
    const key = axes.map((axis) => axis.name).join('\n') + colours.join();
    if (key !== this.key) this.rebuild(axes, colours);
    this.key = key;
    const texts = mean ? mean.shares.map((share) => percent(share)) : axes.map(() => '');
    texts.push(mean && mean.leftOut > 0.0005 ? percent(mean.leftOut) : '');
    texts.push(mean && mean.unaccounted > MISSING ? percent(mean.unaccounted) : '');
    texts.push(mean && mean.over > MISSING ? `+${percent(mean.over)}` : '');
    this.values.forEach((value, i) => {
      setText(value, texts[i]!);
      if (i >= axes.length) value.parentElement!.hidden = texts[i] === '';
    });
  }

  private rebuild(axes: Axis[], colours: string[]): void {
    const names = [...axes.map((axis) => axis.name), 'not on an axis', 'unaccounted', 'over 100 %'];
    const classes = [...axes.map(() => ''), 'left-out', 'missing', 'over'];
    this.values = names.map(() => element('dd'));
    this.element.replaceChildren(...names.map((name, i) => {
      const swatch = element('i', { class: `swatch ${classes[i]}` });
      if (i < axes.length) swatch.style.background = colours[i % colours.length]!;
      return element('div', {}, element('dt', {}, swatch, name), this.values[i]!);
    }));
  }
}

/** Returns the values as text: "CPU 12.0 %, idle 80.0 %, …". */
export function inWords(axes: Axis[], mean: Mean | null): string {
  if (!mean) return 'absent';
  const words = axes.map((axis, i) => `${axis.name} ${percent(mean.shares[i]!)}`);
  if (mean.leftOut > 0.0005) words.push(`not on an axis ${percent(mean.leftOut)}`);
  if (mean.unaccounted > MISSING) words.push(`unaccounted ${percent(mean.unaccounted)}`);
  if (mean.over > MISSING) words.push(`over 100 % by ${percent(mean.over)}`);
  return words.join(', ');
}
