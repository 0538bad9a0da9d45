// The table: the text equivalent of every picture. Only visible rows are elements.
import { pin } from './actions';
import { button, element, setAttribute, setText } from './dom';
import { count } from './format';
import { used, whileSeen } from './parts';
import { columnsOf, type Column } from './table_columns';
import { seriesOf } from './series';
import type { App, Frame, View, ViewFactory } from './types';

const ROW = 24; // pixels of the page, as in style.css
const PAGE = 10;

class Table implements View {
  readonly element: HTMLElement;
  private readonly isSeen;
  private readonly caption = element('p', { class: 'caption' });
  private readonly header = element('tr');
  private readonly above = element('tr', { class: 'room', 'aria-hidden': 'true' }, element('td'));
  private readonly below = element('tr', { class: 'room', 'aria-hidden': 'true' }, element('td'));
  private readonly body = element('tbody', {}, this.above, this.below);
  private readonly table = element('table', { role: 'grid', 'aria-label': 'All values of the frame' },
    element('thead', {}, this.header), this.body);
  private readonly scroll = element('div', { class: 'table-scroll', tabindex: '0', role: 'group', 'aria-label': 'Table of entities' }, this.table);
  private rows: HTMLTableRowElement[] = [];
  private columns: Column[] = [];
  private columnsKey = '';
  private sortKey = '';
  private isDescending = true;
  private order: number[] = []; // entities, sorted and filtered
  private orderKey = '';
  private frame!: Frame; // the source of rows, order and cells
  private active = -1; // index in the order: the keyboard's row

  constructor(private readonly app: App) {
    const copy = button('Copy as TSV', { class: 'small' }, () => void this.copy());
    this.element = element('section', { class: 'panel wide table', id: 'table', 'aria-label': 'Table' },
      element('header', {}, element('h2', {}, 'Table'), this.caption, element('div', { class: 'choices' }, copy)), this.scroll);
    this.isSeen = whileSeen(this.element, () => seriesOf(app).again());
    seriesOf(app).watch(this);
    this.scroll.addEventListener('scroll', () => this.showRows());
    this.scroll.addEventListener('keydown', (event) => this.key(event));
    this.body.addEventListener('click', (event) => this.clicked(event));
    this.body.addEventListener('pointermove', (event) => this.hover(this.rowOf(event)));
    this.body.addEventListener('pointerenter', (event) => (this.isPointed = event.pointerType !== 'touch'));
    this.body.addEventListener('pointerleave', () => {
      this.isPointed = false;
      this.hover(-1);
      app.redraw(this);
    });
    this.scroll.addEventListener('focusout', () => app.redraw(this));
  }

  draw(): void {
    if (!this.app.store.head || !this.isSeen()) return;
    this.frame = this.app.shown();
    this.shape();
    this.sort();
    this.showRows();
    const { count: all } = this.frame;
    const shown = this.order.length === all ? count(all) : `${count(this.order.length)} of ${count(all)}`;
    setText(this.caption, `${shown} entities ${this.app.ui.state.range ? 'in the mean of the range' : 'of the current frame'} · click pins`);
  }

  private shape(): void {
    const { axes3, axes4, groupBy } = this.app.ui.state;
    const key = JSON.stringify([axes3, axes4, groupBy, this.app.store.head!.states.length, this.app.ui.groupings()]);
    if (key === this.columnsKey) return;
    this.columnsKey = key;
    this.columns = columnsOf(this.app);
    if (!this.columns.some((column) => column.key === this.sortKey)) this.sortKey = 'active';
    this.header.replaceChildren(...this.columns.map((column) => this.heading(column)));
    this.rows.forEach((row) => row.remove());
    this.rows = [];
    this.orderKey = '';
  }

  private heading(column: Column): HTMLElement {
    const sort = button(column.title, { title: column.help }, () => this.sortBy(column));
    return element('th', { scope: 'col', 'data-key': column.key, ...(column.isNumber ? {} : { class: 'text' }) }, sort);
  }

  private sortBy(column: Column): void {
    this.isDescending = column.key === this.sortKey ? !this.isDescending : column.isNumber;
    this.sortKey = column.key;
    this.orderKey = '';
    this.app.say(`sorted by ${column.title}, ${this.isDescending ? 'largest' : 'smallest'} first`);
    this.draw();
  }

  /** Sorts the rows. While the pointer or the keyboard is in the table, new frames change the values
   * but not the order, so that no other row comes under the pointer. */
  private sort(): void {
    const { ui: { state }, store } = this.app;
    const asked = [this.sortKey, this.isDescending, state.search, state.brush];
    const isAsked = !asked.every((value, i) => value === this.asked[i]) || this.orderKey === '';
    const key = [store.entitiesVersion, this.isHeld].join(' ');
    if (!isAsked && this.frame === this.sortedFrame && key === this.orderKey) return;
    const who = this.order[this.active];
    this.asked = asked;
    this.sortedFrame = this.frame;
    this.orderKey = key;
    this.order = this.isHeld && !isAsked ? [...new Set([...this.order, ...this.sorted()])] : this.sorted();
    this.active = who === undefined ? -1 : this.order.indexOf(who);
    for (const th of this.header.children)
      th.setAttribute('aria-sort', th.getAttribute('data-key') !== this.sortKey ? 'none' : this.isDescending ? 'descending' : 'ascending');
    this.table.setAttribute('aria-rowcount', String(this.order.length + 1));
  }

  private get isHeld(): boolean {
    return this.isPointed || this.scroll.matches(':focus-visible') || this.scroll.querySelector('tbody :focus-visible') !== null;
  }

  private isPointed = false; // the pointer is over the rows
  private asked: unknown[] = [];
  private sortedFrame: Frame | null = null;

  private sorted(): number[] {
    const { frame, app: { ui } } = this;
    const column = this.columns.find(({ key }) => key === this.sortKey)!;
    const sign = this.isDescending ? -1 : 1;
    const { compare } = new Intl.Collator('en', { numeric: true });
    const values = new Map<number, number | string>();
    for (let row = 0; row < frame.count; row++) {
      const n = frame.entity[row]!;
      if (!ui.isDimmed(n)) values.set(n, column.value(frame, row));
    }
    const by = column.isNumber
      ? (a: number, b: number) => (values.get(a) as number) - (values.get(b) as number)
      : (a: number, b: number) => compare(values.get(a) as string, values.get(b) as string);
    return [...values.keys()].sort((a, b) => sign * by(a, b) || a - b);
  }

  private showRows(): void {
    const first = Math.max(0, Math.floor(this.scroll.scrollTop / ROW) - 2);
    const wanted = Math.min(this.order.length - first, Math.ceil(this.scroll.clientHeight / ROW) + 4);
    while (this.rows.length < wanted) this.addRow();
    while (this.rows.length > Math.max(0, wanted)) this.rows.pop()!.remove();
    setHeight(this.above, first * ROW);
    setHeight(this.below, Math.max(0, this.order.length - first - this.rows.length) * ROW);
    this.rows.forEach((row, i) => this.showRow(row, first + i));
    const active = this.rows[this.active - first];
    if (active) this.scroll.setAttribute('aria-activedescendant', active.id);
    else this.scroll.removeAttribute('aria-activedescendant');
  }

  private addRow(): void {
    const row = element('tr', { id: `table-row-${this.rows.length}` }, ...this.columns.map((column) => {
      const cell = element('td', column.isNumber ? {} : { class: 'text' });
      if (column.colour) cell.style.backgroundImage = `linear-gradient(${column.colour}, ${column.colour})`;
      return cell;
    }));
    this.rows.push(row);
    this.below.before(row);
  }

  private showRow(element: HTMLTableRowElement, index: number): void {
    const { frame, app: { ui } } = this;
    const n = this.order[index]!, row = frame.rowOf[n] ?? -1;
    const classes = [ui.state.pinned.has(n) ? 'pinned' : '', row < 0 ? 'gone' : '', n === ui.state.hover ? 'hover' : '',
      index === this.active ? 'active' : ''].filter(Boolean).join(' ');
    if (element.className !== classes) element.className = classes;
    setAttribute(element, 'aria-rowindex', String(index + 2));
    setAttribute(element, 'aria-selected', String(ui.state.pinned.has(n)));
    element.dataset.n = String(n);
    this.columns.forEach((column, i) => {
      const cell = element.cells[i]!;
      if (row < 0) return setText(cell, i === 0 ? ui.label(n) : ''); // it is gone, but its place is kept
      setText(cell, column.text(frame, row));
      if (!column.isNumber) return;
      const kind = column.kind(frame, row);
      if (cell.className !== kind) cell.className = kind;
      if (column.colour) cell.style.backgroundSize = `${Math.min(100, Number(column.value(frame, row))).toFixed(1)}% 2px`;
    });
  }

  private rowOf(event: Event): number {
    const row = (event.target as HTMLElement).closest('tr');
    return row?.dataset.n === undefined ? -1 : this.order.indexOf(Number(row.dataset.n));
  }

  private clicked(event: Event): void {
    this.active = this.rowOf(event);
    if (this.active >= 0) this.pin();
  }

  private hover(index: number): void {
    this.app.ui.set({ hover: this.order[index] ?? null });
  }

  private pin(): void {
    pin(this.app, this.order[this.active] ?? null);
  }

  private key(event: KeyboardEvent): void {
    if (event.target !== this.scroll || event.altKey || event.ctrlKey || event.metaKey) return;
    const steps: Record<string, number> = {
      ArrowUp: -1, ArrowDown: 1, PageUp: -PAGE, PageDown: PAGE, Home: -Infinity, End: Infinity,
    };
    const step = steps[event.key];
    if (event.key === 'Enter' || event.key === ' ' || event.key === 'p') this.pin();
    else if (step === undefined) return;
    else this.move(step);
    used(event);
  }

  private move(step: number): void {
    const from = this.active < 0 ? (step > 0 ? -1 : this.order.length) : this.active;
    this.active = Math.min(this.order.length - 1, Math.max(0, from + step));
    const top = this.active * ROW, head = this.header.offsetHeight, room = this.scroll.clientHeight - head;
    if (top < this.scroll.scrollTop) this.scroll.scrollTop = top;
    else if (top + ROW > this.scroll.scrollTop + room) this.scroll.scrollTop = top + ROW - room;
    this.hover(this.active);
    this.showRows();
    const row = this.frame.rowOf[this.order[this.active] ?? -1] ?? -1;
    if (row >= 0) this.app.say(this.columns.slice(0, 9).map((column) => `${column.title} ${column.text(this.frame, row)}`).join(', '));
  }

  private tsv(): string {
    const { frame } = this;
    const lines = this.order.filter((n) => (frame.rowOf[n] ?? -1) >= 0).map((n) => this.columns.map((column) => {
      const value = column.value(frame, frame.rowOf[n]!);
      return typeof value === 'string' ? value.replace(/[\t\n]/g, ' ') : String(Math.round(value * 1e4) / 1e4);
    }).join('\t'));
    const titles = this.columns.map(({ key, title }) => (key === 'elapsed' ? 'elapsed ms' : title));
    return [titles.join('\t'), ...lines, ''].join('\n');
  }

  private async copy(): Promise<void> {
    const text = this.tsv();
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copyOld(text); // not permitted, or unavailable to the page
    }
    this.app.say(`${this.order.length} rows copied`);
  }
}

function copyOld(text: string): void {
  const area = element('textarea', { class: 'unseen' });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

function setHeight(row: HTMLTableRowElement, height: number): void {
  row.hidden = height === 0;
  row.cells[0]!.style.height = `${height}px`;
}

export const createTable: ViewFactory = (app) => new Table(app);
