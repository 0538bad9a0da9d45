// The flame graph of sleeps: a frame is as wide as the time asleep below it. The outermost frame is above, after the state.
import { inkOn, Mixer } from './colour';
import { button, element, setText } from './dom';
import { count, duration, percent } from './format';
import { onWidth, used } from './parts';
import { currentTheme } from './theme';
import type { App, Head } from './types';
import type { WhyStack } from './why_data';
import { flameOf, keyOf, layFlame, type FlameBox, type FlameNode } from './why_layout';
import { stateColour, stateTitle } from './why_words';

const ROW = 20; // pixels
const LEAST = 1.5; // pixels, of a frame
const MOST = 4000; // frames
const LINES = 200; // of the table
const NAMED = 26; // pixels, from which a frame has space for a name
const WIDTH = 1000; // of the picture, before it is visible
const KERNEL = /_\[k\]$/;

export class Flame {
  readonly element: HTMLElement;
  private readonly title = element('h3', {}, 'Where it slept');
  private readonly about = element('small');
  private readonly up = button('◂ zoom out', { class: 'small', hidden: '' }, () => this.back());
  private readonly picture = element('div', { class: 'flame', role: 'group', 'aria-label': 'Flame graph: a frame is as wide as the time asleep below it' });
  private readonly lines = element('tbody');
  private readonly table = element('details', { class: 'flame-table' }, element('summary', {}, 'As a table'), element('div', { class: 'table-scroll', tabindex: '0', role: 'group', 'aria-label': 'Stacks' },
    element('table', {}, element('thead', {}, element('tr', {}, ...['state', 'stack, the outermost frame first', '%', 'asleep', 'sleeps'].map((title) => element('th', { scope: 'col' }, title)))), this.lines)));
  private root: FlameNode = flameOf([]);
  private zooms: FlameNode[] = []; // the last one has the whole width
  private boxes: FlameBox[] = [];
  private stacks: readonly WhyStack[] = [];
  private readonly width;

  constructor(private readonly app: App) {
    this.element = element('section', { class: 'why-part', 'aria-label': 'Where it slept', hidden: '' }, element('header', {}, this.title, this.about, this.up), this.picture, this.table);
    this.picture.addEventListener('keydown', (event) => this.key(event));
    this.table.addEventListener('toggle', () => this.showTable());
    this.width = onWidth(this.picture, () => this.draw());
  }

  /** Shows stacks. The frame that was zoomed into stays, if it still has sleeps. */
  show(stacks: readonly WhyStack[]): void {
    this.element.hidden = stacks.length === 0;
    this.stacks = stacks;
    const root = flameOf(this.stacks);
    this.zooms = this.zooms.map((node) => sameIn(root, node)).filter((node) => node !== null);
    this.root = root;
    this.draw();
  }

  /** Leaves a zoom; returns false if there is none. */
  back(): boolean {
    const left = this.zooms.pop();
    if (!left || this.element.hidden) return false;
    this.draw(left);
    const top = this.zooms.at(-1) ?? this.root;
    this.app.say(`Zoomed out to ${this.words(top)}.`);
    return true;
  }

  private draw(focused: FlameNode | null = null): void {
    if (!this.app.store.head) return;
    const top = this.zooms.at(-1) ?? this.root, percentOf = (pixels: number) => (100 * pixels) / (this.width() || WIDTH);
    const { boxes, hidden } = layFlame(top, percentOf(LEAST), MOST), named = percentOf(NAMED);
    const hadFocus = focused !== null || this.picture.contains(document.activeElement);
    const wanted = focused ?? this.boxOf(document.activeElement)?.node ?? null;
    this.boxes = boxes;
    const { head } = this.app.store, callers = stepsOf(top).length, made = boxes.map((box) => this.frame(head, box, callers, named));
    this.picture.replaceChildren(...made);
    this.picture.style.height = `${ROW * (1 + Math.max(0, ...boxes.map(({ depth }) => depth)))}px`;
    this.picture.hidden = this.table.hidden = this.root.ms === 0;
    this.up.hidden = this.zooms.length === 0;
    const known = this.stacks.reduce((sum, { isKnown, ms }) => sum + (isKnown ? ms : 0), 0);
    setText(this.about, this.root.ms === 0 ? 'no time' : [`${duration(this.root.ms)} in ${count(this.root.sleeps)} sleeps`, `${percent(known / this.root.ms)} with a stack`,
        hidden > 0 ? `${count(hidden)} narrow frames are left out; zoom in to see them` : ''].filter(Boolean).join(' · '));
    if (hadFocus) this.focus(boxes.findIndex(({ node }) => wanted !== null && pathOf(node) === pathOf(wanted)), top);
    this.showTable();
  }

  private frame(head: Head, { node, depth, from, width }: FlameBox, callers: number, named: number): HTMLElement {
    const made = button(width >= named ? this.nameOf(head, node) : '', {
      class: depth < callers ? 'caller' : '', tabindex: depth === callers ? '0' : '-1', title: this.words(node), 'aria-label': this.words(node),
    }, () => this.zoom(node));
    made.style.left = `${from}%`;
    made.style.width = `${width}%`;
    made.style.top = `${ROW * depth}px`;
    const colour = this.colour(head, node);
    made.style.background = colour;
    made.style.color = inkOn(colour);
    if (node.kind === 'unknown') made.classList.add('no-stack');
    return made;
  }

  private nameOf(head: Head, node: FlameNode): string {
    return node.kind === 'state' ? stateTitle(head, node.state) : node.name;
  }

  /** A state has its colour; its frames are paler, those of programs more so than those of the kernel. */
  private colour(head: Head, node: FlameNode): string {
    const { paper, grid } = currentTheme();
    if (node.parent === null) return grid;
    const own = stateColour(head, node.state);
    const share = node.kind === 'state' ? 1 : node.kind === 'unknown' ? 0.25 : KERNEL.test(node.name) ? 0.62 : 0.36;
    return share === 1 ? own : `#${new Mixer([own], paper).mix([share]).toString(16).padStart(6, '0')}`;
  }

  private words(node: FlameNode): string {
    const name = this.nameOf(this.app.store.head!, node);
    return `${name}: ${duration(node.ms)}, ${percent(this.root.ms > 0 ? node.ms / this.root.ms : 0)} of all sleeps, ${count(node.sleeps)} ${node.sleeps === 1 ? 'sleep' : 'sleeps'}`;
  }

  private zoom(node: FlameNode): void {
    const at = this.zooms.indexOf(node);
    if (node === this.root) this.zooms = [];
    else if (at >= 0) this.zooms.length = at + 1;
    else this.zooms = [...this.zooms.filter((one) => isBelow(node, one)), node];
    this.draw(node);
    this.app.say(this.words(node));
  }

  private boxOf(made: Element | null): FlameBox | undefined {
    return this.boxes[[...this.picture.children].indexOf(made as HTMLElement)];
  }

  /** Arrows go to the frame above or below, and to the next one of the same depth. */
  private key(event: KeyboardEvent): void {
    const box = this.boxOf(event.target as Element);
    if (!box || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Backspace') {
      this.back();
      return used(event);
    }
    const to = this.neighbour(box, event.key);
    if (to === undefined) return;
    if (to >= 0) this.focus(to);
    used(event);
  }

  /** Returns the index of the frame that a key goes to, -1 if there is none; undefined: the key is another one. */
  private neighbour(box: FlameBox, key: string): number | undefined {
    const { boxes } = this, { node, depth } = box, level = boxes.filter((one) => one.depth === depth);
    switch (key) {
      case 'ArrowUp': return boxes.findIndex((one) => one.node === node.parent);
      case 'ArrowDown': return boxes.findIndex((one) => one.node.parent === node);
      case 'ArrowLeft': return boxes.indexOf(level[level.indexOf(box) - 1]!);
      case 'ArrowRight': return boxes.indexOf(level[level.indexOf(box) + 1]!);
      case 'Home': return 0;
      default: return undefined;
    }
  }

  private focus(index: number, top: FlameNode | null = null): void {
    const at = index >= 0 ? index : this.boxes.findIndex(({ node }) => node === top);
    [...this.picture.children].forEach((one, i) => one.setAttribute('tabindex', i === at ? '0' : '-1'));
    (this.picture.children[at] as HTMLElement | undefined)?.focus();
  }

  /** The text equivalent; made only while it is open. */
  private showTable(): void {
    if (!this.table.open) return;
    const head = this.app.store.head!, sorted = [...this.stacks].sort((a, b) => b.ms - a.ms);
    const line = (...cells: string[]) => element('tr', {}, ...cells.map((text, i) => element('td', i < 2 ? { class: 'text' } : {}, text)));
    const rest = sorted.slice(LINES);
    this.lines.replaceChildren(...sorted.slice(0, LINES).map(({ state, frames, ms, sleeps }) =>
      line(stateTitle(head, state), frames.join('; '), percent(ms / (this.root.ms || 1)), duration(ms), count(sleeps))),
    ...(rest.length > 0 ? [line('', `${count(rest.length)} more`, '', duration(rest.reduce((sum, { ms }) => sum + ms, 0)), '')] : []));
  }
}

const stepsOf = (node: FlameNode): FlameNode[] => (node.parent ? [...stepsOf(node.parent), node] : []);
const pathOf = (node: FlameNode): string => stepsOf(node).map(keyOf).join('\n');

/** The node of another tree with the same path; null: there is none. */
function sameIn(root: FlameNode, node: FlameNode): FlameNode | null {
  let found: FlameNode | undefined = root;
  for (const step of stepsOf(node)) found = found?.index.get(keyOf(step));
  return found ?? null;
}

const isBelow = (node: FlameNode, above: FlameNode): boolean => stepsOf(node).includes(above);
