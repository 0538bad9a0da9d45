// The selections of the page in its address, so that a reload or a link shows the same.
//
// They are the fragment: "#by=name&range=1790000001000-1790000005000". A server never sees it, and a
// file can have one, too. A fragment with "=" is never a token (source.ts). The token itself is only
// in the session storage of the tab: a copied address does not contain it.
import { AxesError, formatAxes, parseAxes } from './axes';
import { setPeriod } from './ribbon_range';
import type { App, Axis, GroupBy } from './types';

interface Kept {
  get(): string; // '' is not written
  set(text: string): void;
}

type Range = [from: number, to: number]; // frames [from, to)

const WAIT_MS = 300; // browsers limit how often an address may change
const PINS_MAXIMUM = 20;

export class Address {
  private readonly kept = new Map<string, Kept>();
  private pending: URLSearchParams; // not restored yet
  private timer = 0;

  constructor(private readonly app: App) {
    this.pending = new URLSearchParams(isState(location.hash) ? location.hash.slice(1) : '');
    const { ui } = app;
    this.keep('groups', { get: () => (ui.state.groupBy === 'none' ? '' : ui.state.groupBy), set: (text) => ui.groupings().includes(text as GroupBy) && ui.set({ groupBy: text as GroupBy }) });
    this.keep('range', { get: () => this.words(ui.state.range), set: (text) => this.withRange(text, (range) => setPeriod(app, 'range', range)) });
    this.keep('compare', {
      get: () => (ui.state.compare ? `${this.words(ui.state.compare.before)}.${this.words(ui.state.compare.after)}` : ''),
      set: (text) => this.compare(text.split('.')),
    });
    for (const which of ['axes3', 'axes4'] as const) this.keep(which, { get: () => this.axes(which), set: (text) => this.setAxes(which, text) });
    this.keep('pin', { get: () => [...ui.state.pinned].slice(0, PINS_MAXIMUM).map((n) => ui.label(n)).join('\n'), set: (text) => this.pin(text.split('\n')) });
  }

  /** Adds a value of a view. It is restored when the first frames are there. */
  keep(name: string, value: Kept): void {
    this.kept.set(name, value);
  }

  /** Writes the address soon. */
  changed(): void {
    if (this.timer || !this.app.store.head) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      this.write();
    }, WAIT_MS);
  }

  private write(): void {
    const values = new URLSearchParams(this.pending);
    for (const [name, value] of this.kept) {
      const text = value.get();
      if (text) values.set(name, text);
    }
    const text = values.toString();
    if (text === location.hash.slice(1)) return;
    history.replaceState(null, '', text ? `#${text}` : location.pathname + location.search);
  }

  /** Called when data has arrived: restores what can be restored now. */
  arrived(): void {
    const { store } = this.app;
    if (this.pending.size === 0 || store.endFrame === store.firstFrame) return;
    for (const [name, text] of [...this.pending]) {
      const value = this.kept.get(name);
      const until = Math.max(...(text.match(/\d{12,}/g) ?? []).map(Number));
      const isLater = (name === 'range' || name === 'compare') && store.frame(store.endFrame - 1).endMs < until && store.ended === null;
      if (isLater) continue;
      this.pending.delete(name);
      value?.set(text);
    }
  }

  /** The ends of the first and the last frame: numbers of frames differ after a reload. */
  private words(range: Range | null): string {
    if (!range) return '';
    const end = (frame: number) => Math.round(this.app.store.frame(frame).endMs);
    return `${end(range[0])}-${end(range[1] - 1)}`;
  }

  private withRange(text: string, use: (range: Range) => void): void {
    const [from, to] = text.split('-').map(Number);
    if (!(from! > 0) || !(to! >= from!)) return;
    const range: Range = [this.frameAt(from!), this.frameAt(to!) + 1];
    if (this.app.store.frame(range[0]).endMs <= to! + 1) use(range);
  }

  private compare([before = '', after = '']: string[]): void {
    const { ui } = this.app, { range } = ui.state; // the same object if they are the same: they move together
    this.withRange(before, (first) => this.withRange(after, (second) =>
      ui.set({ compare: { before: first, after: range?.[0] === second[0] && range[1] === second[1] ? range : second } })));
  }

  /** The first frame that does not end before a time, or the last one. */
  private frameAt(ms: number): number {
    const { store } = this.app;
    let low = store.firstFrame, high = store.endFrame - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Math.round(store.frame(middle).endMs) < ms) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private axes(which: 'axes3' | 'axes4'): string {
    const { store: { head }, ui: { state } } = this.app;
    const [usual, now] = [head?.[which] ?? [], state[which]].map((axes: Axis[]) => formatAxes(axes, head!.states));
    return usual === now ? '' : now!;
  }

  private setAxes(which: 'axes3' | 'axes4', text: string): void {
    try {
      this.app.ui.set({ [which]: parseAxes(text, this.app.store.head!.states, which === 'axes3' ? 3 : 4) });
    } catch (error) {
      if (!(error instanceof AxesError)) throw error; // the address is of another source
    }
  }

  private pin(labels: string[]): void {
    const { store, ui } = this.app, wanted = new Set(labels);
    ui.set({ pinned: new Set(store.entities.filter(({ n }) => wanted.has(ui.label(n))).map(({ n }) => n)) });
  }
}

/** Does the fragment of an address have the page's selections, and not a token? */
export const isState = (hash: string): boolean => hash.includes('=');

const ofApp = new WeakMap<App, Address>();

export function addressOf(app: App): Address {
  let address = ofApp.get(app);
  if (!address) ofApp.set(app, (address = new Address(app)));
  return address;
}
