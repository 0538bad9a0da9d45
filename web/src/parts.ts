// Small parts that several views of time are made of.
import { element } from './dom';
import type { App } from './types';
import { LABEL } from './ui';

/** A list to choose from, with its name before it. */
export function choice<T extends string>(
  name: string, options: readonly (readonly [T, string])[], changed: (value: T) => void,
): HTMLLabelElement {
  const select = element('select', {}, ...options.map(([value, text]) => element('option', { value }, text)));
  select.addEventListener('change', () => changed(select.value as T));
  return element('label', { class: 'choice' }, element('span', {}, name), select);
}

const TITLES: Record<string, string> = { pid: 'process', uid: 'user' };

/** Those groupings to choose from that there are, each with `before` before it. */
export function offerGroupings(select: HTMLSelectElement, { ui }: App, none: string, before = ''): void {
  const there = ui.groupings();
  if (there.join() === [...select.options].map(({ value }) => value).join()) return;
  select.replaceChildren(...there.map((value) => element('option', { value },
    value === 'none' ? none : before + (TITLES[value] ?? value.replace(LABEL, '')))));
}

/** A canvas as large as `width` x `height` pixels of the page. True: it is another size, and empty. */
export function fit(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): boolean {
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width === w && canvas.height === h) return false;
  canvas.width = w;
  canvas.height = h;
  canvas.style.width = `${w / ratio}px`;
  canvas.style.height = `${h / ratio}px`;
  return true;
}

/** The event was used here: neither the page nor the browser does more with it. */
export function used(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}

/** Calls when the element's width has changed. */
export function onWidth(watched: HTMLElement, listener: () => void): void {
  let width = -1;
  new ResizeObserver(() => {
    if (watched.clientWidth === width) return;
    width = watched.clientWidth;
    listener();
  }).observe(watched);
}

/** Tells whether an element is on the screen, or nearly; calls when it has come there. */
export function whileSeen(watched: HTMLElement, came: () => void): () => boolean {
  let isSeen = false;
  new IntersectionObserver((entries) => {
    isSeen = entries.at(-1)!.isIntersecting;
    if (isSeen) came();
  }, { rootMargin: '100px' }).observe(watched);
  return () => isSeen;
}

/** The pins when some entities are pinned; or let go, if all of them are. */
export function toggledPins(app: App, entities: Iterable<number>): Set<number> {
  const some = [...entities], pinned = new Set(app.ui.state.pinned);
  const areAll = some.every((n) => pinned.has(n));
  for (const n of some) areAll ? pinned.delete(n) : pinned.add(n);
  return pinned;
}
