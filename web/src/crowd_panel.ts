// The members of a crowd, by group: each group can be brushed or pinned.
import type { App } from './types';
import { brush } from './actions';
import { button, element } from './dom';
import { count } from './format';
import { toggledPins } from './parts';
import type { Spot } from './scatter';
import { kind } from './ui';

const IN_WORDS = 5; // groups
const LINES = 50; // in the list

/** The groups of some entities, the largest first. */
export function groupsOf({ store }: App, entities: number[]): [name: string, members: number[]][] {
  const groups = new Map<string, number[]>();
  for (const n of entities) {
    const name = kind(store.entities[n]!.name), list = groups.get(name);
    if (list) list.push(n);
    else groups.set(name, [n]);
  }
  return [...groups].sort(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1));
}

/** "162 threads: java 100, nginx 62". */
export function crowdInWords(app: App, entities: number[]): string {
  const groups = groupsOf(app, entities);
  const words = groups.slice(0, IN_WORDS).map(([name, members]) => `${name} ${count(members.length)}`);
  return `${count(entities.length)} ${app.store.head!.kind}: ${words.join(', ')}${groups.length > IN_WORDS ? ', …' : ''}`;
}

export class CrowdPanel {
  readonly element = element('div', { class: 'crowd', role: 'dialog', 'aria-label': 'Members of a crowd', hidden: '' });

  constructor(private readonly app: App, private readonly closed: () => void) {
    this.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      this.close();
    });
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  open({ x, y }: Spot, entities: number[], width: number, height: number): void {
    const { app } = this, groups = groupsOf(app, entities), rest = groups.slice(LINES);
    const line = ([name, members]: [string, number[]]) => element('li', {},
      button(`${name} × ${count(members.length)}`, { class: 'small', 'aria-label': `Choose ${members.length} ${name}` }, () => brush(app, new Set(members))),
      button('pin', { class: 'small', 'aria-label': `Pin ${members.length} ${name}` }, () => app.ui.set({ pinned: toggledPins(app, members) })));
    this.element.replaceChildren(
      element('header', {}, element('strong', {}, `${count(entities.length)} ${app.store.head!.kind}`),
        button('×', { class: 'small', 'aria-label': 'Close' }, () => this.close())),
      element('ul', {}, ...groups.slice(0, LINES).map(line), ...(rest.length > 0 ? [element('li', {}, `… ${count(rest.length)} more`)] : [])));
    this.element.hidden = false;
    const { offsetWidth, offsetHeight } = this.element;
    this.element.style.left = `${Math.max(4, Math.min(width - offsetWidth - 4, x + 12))}px`;
    this.element.style.top = `${Math.max(4, Math.min(height - offsetHeight - 4, y - 20))}px`;
    this.element.querySelector<HTMLElement>('li button')?.focus({ preventScroll: true });
    app.say(crowdInWords(app, entities));
  }

  close(): void {
    if (!this.isOpen) return;
    this.element.hidden = true;
    this.closed();
  }
}
