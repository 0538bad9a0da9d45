// Small pictures of the ranking and of the details: a composition as a bar, a history as a line.
import { element, setAttribute } from './dom';

const SVG = 'http://www.w3.org/2000/svg';

/** A part of a bar: the name of a class, its colour, its time. */
export type Part = readonly [name: string, colour: string, time: number];

/** A bar whose width is its sum in relation to `scale`. */
export function bar(parts: Part[], scale: number, words: string): HTMLElement {
  const made = element('div', { class: 'bar-parts', role: 'img' });
  setBar(made, parts, scale, words);
  return made;
}

/** Changes a bar. Its parts stay the same elements as long as it has the same classes and colours. */
export function setBar(on: HTMLElement, parts: Part[], scale: number, words: string): void {
  const shown = parts.filter(([, , time]) => time > 0), key = shown.map(([name, colour]) => name + colour).join();
  setAttribute(on, 'aria-label', words);
  setAttribute(on, 'title', words);
  if (on.dataset.key !== key) {
    on.dataset.key = key;
    on.replaceChildren(...shown.map(([name, colour]) => {
      const part = element('i', { 'data-class': name });
      part.style.background = colour;
      return part;
    }));
  }
  shown.forEach(([, , time], i) => ((on.children[i] as HTMLElement).style.width = `${(100 * time) / scale}%`));
}

export function spark(): SVGSVGElement {
  const made = document.createElementNS(SVG, 'svg');
  for (const [name, value] of Object.entries({ class: 'spark', viewBox: '0 0 100 20', preserveAspectRatio: 'none', 'aria-hidden': 'true' }))
    made.setAttribute(name, value);
  made.append(document.createElementNS(SVG, 'rect'), document.createElementNS(SVG, 'path'));
  return made;
}

/** Draws values from 0 to the largest of them, and marks a part of the width. */
export function setSpark(on: SVGSVGElement, values: number[], marked: [from: number, to: number] | null = null): void {
  const most = Math.max(...values, 1e-9), step = 100 / Math.max(1, values.length - 1);
  const path = values.map((value, i) => `${(i * step).toFixed(1)} ${(18.5 - (14 * value) / most).toFixed(1)}`);
  const [rect, line] = on.children as unknown as [SVGElement, SVGElement];
  const of = (name: string, value: number) => setAttribute(rect, name, value);
  setAttribute(line, 'd', path.length > 1 ? `M${path.join('L')}` : '');
  of('height', marked ? 20 : 0);
  of('x', marked ? 100 * marked[0] : 0);
  of('width', marked ? Math.max(0.5, 100 * (marked[1] - marked[0])) : 0);
}

const LIKE = 0.1; // a change by less than this share is none
export const SMALL = 0.05; // a change between smaller active times is none

/** The text for a change, and its direction. */
export function change(now: number, before: number | null): [text: string, direction: 'up' | 'down' | ''] {
  if (before === null || (now < SMALL && before < SMALL)) return ['', ''];
  if (before < SMALL && before < now / 10) return ['▲ new', 'up'];
  const ratio = now / before, digits = ratio >= 100 ? 0 : ratio >= 10 || ratio < 1 - LIKE || ratio > 1 + LIKE ? 1 : 2;
  const text = ratio < 0.05 ? '< ×0.1' : `×${ratio.toFixed(digits)}`;
  return ratio > 1 + LIKE ? [`▲ ${text}`, 'up'] : ratio < 1 - LIKE ? [`▼ ${text}`, 'down'] : [`= ${text.slice(1)}`, ''];
}
