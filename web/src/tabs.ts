// Views in tabs: one of them is shown, and the others are not drawn.
import { button, element } from './dom';
import { used } from './parts';

interface Tab {
  button: HTMLButtonElement;
  panel: HTMLElement;
  view: HTMLElement;
}

export class Tabs {
  private readonly list = element('div', { class: 'tab-list', role: 'tablist', 'aria-label': 'Further views' });
  readonly element = element('section', { class: 'tabs wide', id: 'tabs' }, this.list);
  /** Called when another tab was opened. */
  onOpened: (id: string) => void = () => undefined;
  private readonly tabs: Tab[] = [];

  constructor() {
    this.list.addEventListener('keydown', (event) => this.key(event));
    this.element.addEventListener('wanted', (event) => this.open((event.target as HTMLElement).id));
  }

  add(view: HTMLElement, title: string): void {
    const isFirst = this.tabs.length === 0;
    const tab = button(title, {
      role: 'tab', id: `tab-${view.id}`, 'aria-controls': `panel-${view.id}`, 'aria-selected': String(isFirst), tabindex: isFirst ? '0' : '-1',
    }, () => this.open(view.id));
    const panel = element('div', { role: 'tabpanel', id: `panel-${view.id}`, 'aria-labelledby': tab.id }, view);
    panel.hidden = !isFirst;
    this.tabs.push({ button: tab, panel, view });
    this.list.append(tab);
    this.element.append(panel);
  }

  /** Is the view in a tab that is not open? */
  hides(view: HTMLElement): boolean {
    return this.tabs.some((tab) => tab.view === view && tab.panel.hidden);
  }

  /** The id of the view that is shown. */
  get shown(): string {
    return this.tabs.find(({ panel }) => !panel.hidden)?.view.id ?? '';
  }

  /** The id of the view that is shown; '' if it is the first one. */
  get changed(): string {
    return this.shown === this.tabs[0]?.view.id ? '' : this.shown;
  }

  open(id: string): void {
    if (!this.tabs.some(({ view }) => view.id === id) || id === this.shown) return;
    for (const { button: tab, panel, view } of this.tabs) {
      const isOpen = view.id === id;
      panel.hidden = !isOpen;
      tab.setAttribute('aria-selected', String(isOpen));
      tab.setAttribute('tabindex', isOpen ? '0' : '-1');
    }
    this.onOpened(id);
  }

  /** Arrow keys, Home and End open a tab. */
  private key(event: KeyboardEvent): void {
    const at = this.tabs.findIndex(({ panel }) => !panel.hidden), end = this.tabs.length;
    const to = { ArrowLeft: (at + end - 1) % end, ArrowRight: (at + 1) % end, Home: 0, End: end - 1 }[event.key];
    if (to === undefined) return;
    this.open(this.tabs[to]!.view.id);
    this.tabs[to]!.button.focus();
    used(event);
  }
}
