// The frame around the views: title, notes, help, and the keys that work everywhere.
import type { App, View } from './types';
import type { Controls } from './controls';
import type { Player } from './player';
import type { Status } from './source';
import type { FrameStore } from './store';
import type { Summary } from './summary_view';
import { commandBelow, hoverNext, pin } from './actions';
import { button, element, setText } from './dom';
import { createHints } from './hints';
import { copyButton } from './parts';
import { clearPeriods } from './ribbon_range';
import type { Tabs } from './tabs';

const KEYS: [string, string][] = [
  ['Space', 'play, pause'], ['← →', 'one frame back, on ( , . within a picture)'], ['Home End', 'first, last frame'],
  ['l', 'follow the newest frame'], ['1 … 9', 'go to a picture'], ['s', 'say what is wrong now'], ['n N', 'next, previous entity'],
  ['p Enter', 'pin or unpin it'], ['u', 'unpin all'], ['/', 'search names'], ['g', 'groups'], ['a', 'axes'],
  ['b', 'triangle or tetrahedron'], ['+ − 0', 'zoom in the triangle, whole triangle'], ['Arrows', 'in the triangle: crosshair; in the tetrahedron: turn'],
  ['Shift Arrows', 'in the triangle: draw a brush, Enter chooses'], ['Esc', 'cancel: brush, search, range, zoom'], ['v', 'on the stage: the next vertex and its states'], ['?', 'this help'],
];
const HANDS: [string, string][] = [
  ['Click', 'pin; on an axis of time: show that time'], ['Drag', 'triangle: zoom into a part; tetrahedron: turn'], ['Shift drag', 'brush: others are dimmed everywhere (or choose Select)'],
  ['Drag on the ribbon', 'the mean of a range; with Shift: compare with it'],
  ['Ctrl wheel, double click', 'zoom'],
  ['Click in the ranking', 'details; again: the members, Esc goes back'],
];

export class Shell {
  private readonly title = element('span', { class: 'subject' });
  private readonly status = element('p', { class: 'status', role: 'status', hidden: '' });
  private readonly notes = element('p', { class: 'notes', hidden: '' });
  private readonly below = element('p', { class: 'below', hidden: '' });
  private readonly live = element('p', { class: 'unseen', 'aria-live': 'polite', id: 'live' });
  private readonly main = element('main', {});
  private readonly help = element('dialog', { class: 'help', 'aria-label': 'Keys' });
  private actions: Record<string, () => void> = {};
  private controls!: Controls;
  private readonly views: View[] = [];

  build(tools: HTMLElement, player: HTMLElement, ...first: HTMLElement[]): void {
    this.help.append(element('h2', {}, 'Keys'), list(KEYS), element('h2', {}, 'Mouse and touch'), list(HANDS),
      button('Close', { class: 'small' }, () => this.help.close()));
    const help = button('?', { 'aria-label': 'Keys and help', class: 'help-button' }, () => this.toggleHelp());
    tools.append(help);
    document.body.append(
      element('header', { class: 'top' }, element('h1', {}, 'camp'), this.title, tools),
      this.status, this.notes, element('div', { class: 'first' }, ...first), this.below, this.main, player, this.help, this.live);
  }

  /** Adds a view, which Escape may leave, to the page or to its tabs. */
  add(view: View, tabs: Tabs | null = null): void {
    if (!tabs) this.main.append(view.element);
    else if (!tabs.element.isConnected) this.main.append(tabs.element);
    this.views.push(view);
  }

  say(text: string): void {
    // The same text again is no change, so a screen reader would say nothing.
    setText(this.live, text === this.live.textContent ? `${text}\u00a0` : text);
  }

  /** Shows a status. An error without any data leaves nothing to control or to see. */
  tell({ kind, text }: Status, hasData: boolean): void {
    document.body.classList.toggle('bare', kind === 'error' && !hasData);
    this.status.hidden = text === '';
    this.status.className = `status ${kind}`;
    this.status.setAttribute('role', kind === 'error' ? 'alert' : 'status');
    setText(this.status, text);
  }

  /** Shows the texts of the head and the notes. */
  show(store: FrameStore): void {
    const head = store.head!;
    setText(this.title, [head.title, head.host, head.source, head.tier].filter(Boolean).join(' · '));
    document.title = head.title || `camp · ${head.host || head.source}`;
    const notes = [head.note, ...store.notes, head.live && store.ended ? `The source has ended: ${store.ended}.` : '',
      head.axes3 ? '' : 'This source has fewer than three states: there is no triangle to show.'].filter(Boolean);
    this.notes.hidden = notes.length === 0;
    setText(this.notes, notes.join('\n'));
  }

  /** Shows the command for the members of the entity pinned last, which this page does not show. */
  showBelow(app: App): void {
    const pinned = [...app.ui.state.pinned].pop();
    const command = pinned === undefined ? null : commandBelow(app, pinned);
    this.below.hidden = command === null;
    if (command === null || this.below.querySelector('code')?.textContent === command) return;
    const code = element('code', {}, command);
    this.below.replaceChildren(`Its groups, in a terminal: `, code, ' ', copyButton(code));
  }

  private toggleHelp(): void {
    if (this.help.open) this.help.close();
    else this.help.showModal();
  }

  listen(app: App, player: Player, controls: Controls, summary: Summary): void {
    this.controls = controls;
    const hints = createHints();
    if (hints) controls.legend.after(hints);
    this.main.before(controls.axes.element, controls.keys);
    this.actions = {
      ' ': () => player.toggle(),
      ArrowLeft: () => player.step(-1), ArrowRight: () => player.step(1), ',': () => player.step(-1), '.': () => player.step(1),
      Home: () => player.home(), End: () => player.end(), l: () => player.follow(),
      '/': () => controls.focusSearch(), g: () => controls.nextGroups(), a: () => controls.toggleAxes(),
      p: () => pin(app, app.ui.state.hover), Enter: () => pin(app, app.ui.state.hover), u: () => app.ui.set({ pinned: new Set() }),
      s: () => summary.say(),
      n: () => hoverNext(app, 1), N: () => hoverNext(app, -1),
      '?': () => this.toggleHelp(),
      '+': () => this.toStage('+'), '=': () => this.toStage('+'), '-': () => this.toStage('-'), '0': () => this.toStage('0'),
      b: () => this.toStage('b'), Escape: () => this.escape(app),
    };
    document.addEventListener('keydown', (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target as HTMLElement;
    const isWriting = target.matches('input:not([type=range]), textarea');
    if (event.key === 'Escape' && isWriting) return this.leave(target);
    if (isWriting || this.help.open && event.key !== '?') return;
    if (target.matches('button, select, input, summary, [role=slider]') && /^( |Enter|Arrow|Home|End)/.test(event.key)) return;
    const action = /^[1-9]$/.test(event.key) ? () => this.goTo(Number(event.key) - 1) : this.actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  private leave(input: HTMLElement): void {
    input.blur();
    if (input.matches('[type=search]')) this.controls.clear();
  }

  /** The pictures that keys go to: all that are visible, and all tabs. The sentence and the ribbon
   * have keys of their own. */
  private goTo(index: number): void {
    const view = this.views.map((one) => one.element).filter(({ hidden, id }) => !hidden && !/^(summary|ribbon)$/.test(id))[index];
    if (!view) return;
    view.dispatchEvent(new Event('wanted', { bubbles: true })); // its tab shows it
    view.scrollIntoView({ block: 'nearest' });
    const visible = (selector: string) => [...view.querySelectorAll<HTMLElement>(selector)].find((one) => one.checkVisibility());
    (visible('[tabindex="0"], .name') ?? visible('button, input'))?.focus({ preventScroll: true });
  }

  private toStage(key: string): void {
    this.main.querySelector('#stage .stage')?.dispatchEvent(new KeyboardEvent('keydown', { key }));
  }

  private escape(app: App): void {
    if (this.views.some((view) => view.back?.())) return;
    if (this.controls.clear() || clearPeriods(app)) return;
    this.toStage('Escape');
    app.ui.set({ hover: null });
  }
}

function list(lines: [string, string][]): HTMLElement {
  return element('dl', {}, ...lines.flatMap(([key, what]) => [element('dt', {}, element('kbd', {}, key)), element('dd', {}, what)]));
}
