// Small parts of several views of time.
import { button, element } from './dom';
import type { App } from './types';
import { LABEL } from './ui';

/** A select element with its label. */
export function choice<T extends string>(
  name: string, options: readonly (readonly [T, string])[], changed: (value: T) => void,
): HTMLLabelElement {
  const select = element('select', {}, ...options.map(([value, text]) => element('option', { value }, text)));
  select.addEventListener('change', () => changed(select.value as T));
  return element('label', { class: 'choice' }, element('span', {}, name), select);
}

const TITLES: Record<string, string> = { pid: 'process', uid: 'user' };

/** Fills a select element with the available groupings, each with `before` as a prefix. */
export function offerGroupings(select: HTMLSelectElement, { ui }: App, none: string, before = ''): void {
  const there = ui.groupings();
  if (there.join() === [...select.options].map(({ value }) => value).join()) return;
  select.replaceChildren(...there.map((value) => element('option', { value },
    value === 'none' ? none : before + (TITLES[value] ?? value.replace(LABEL, '')))));
}

/** Sets a canvas to `width` x `height` pixels of the page. Returns true if this emptied it. */
export function fit(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): boolean {
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width === w && canvas.height === h) return false;
  canvas.width = w;
  canvas.height = h;
  canvas.style.width = `${w / ratio}px`;
  canvas.style.height = `${h / ratio}px`;
  return true;
}

/** Marks an event as handled: neither the page nor the browser continues with it. */
export function used(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}

/** Calls the listener when the element's width has changed. Returns a function that returns the width without
 * a layout of the page, which each other view would then need again. */
export function onWidth(watched: HTMLElement, listener: () => void): () => number {
  let width = -1;
  new ResizeObserver(() => {
    if (watched.clientWidth === width) return;
    width = watched.clientWidth;
    listener();
  }).observe(watched);
  return () => (width < 0 ? watched.clientWidth : width);
}

/** Returns a function that reports whether an element is visible, or nearly. Calls `came` when the
 * element becomes visible. */
export function whileSeen(watched: HTMLElement, came: () => void): () => boolean {
  let isSeen = false;
  new IntersectionObserver((entries) => {
    isSeen = entries.at(-1)!.isIntersecting;
    if (isSeen) came();
  }, { rootMargin: '100px' }).observe(watched);
  return () => isSeen;
}

const READABLE_MS = 200;

/** Texts that change at each frame while frames play are unreadable, and cost more than the picture. */
export class Pace {
  private lastMs = -READABLE_MS;
  private timer: number | undefined;

  /** `again` is called when texts that were not due are due. */
  constructor(private readonly app: App, private readonly again: () => void) {}

  /** Makes the texts due, because the user chose something. */
  skip(): void {
    this.lastMs = -READABLE_MS;
  }

  /** Returns whether the texts may change now. */
  isDue(): boolean {
    const now = performance.now(), left = this.lastMs + READABLE_MS - now;
    const { playing, following } = this.app.ui.state;
    if ((playing || following) && left > 0) {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        this.again();
      }, left);
      return false;
    }
    this.lastMs = now;
    return true;
  }
}

/** Returns the pins after pinning some entities, or unpinning them if all of them are pinned. */
export function toggledPins(app: App, entities: Iterable<number>): Set<number> {
  const some = [...entities], pinned = new Set(app.ui.state.pinned);
  const areAll = some.every((n) => pinned.has(n));
  for (const n of some) areAll ? pinned.delete(n) : pinned.add(n);
  return pinned;
}

/** A button that copies a command. Where the page may not write to the clipboard, it selects the command instead. */
export function copyButton(code: HTMLElement): HTMLButtonElement {
  const select = () => getSelection()?.selectAllChildren(code);
  return button('Copy', { class: 'small' }, () => {
    const { clipboard } = navigator as { clipboard?: Clipboard }; // pages of other hosts without TLS have none
    if (clipboard) clipboard.writeText(code.textContent ?? '').catch(select);
    else select();
  });
}
