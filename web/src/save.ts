// Saves what the page shows: the pictures as PNG, the rows of the shown frame as CSV.
import { button, element } from './dom';
import { columnsOf } from './table_columns';
import { currentTheme } from './theme';
import type { App } from './types';

/** A cell of CSV. A spreadsheet takes a text that starts like a formula for one, so that a name from
 * elsewhere could compute something: such a text gets an apostrophe before it. */
export function csvCell(value: number | string): string {
  if (typeof value === 'number') return String(Math.round(value * 1e4) / 1e4);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** All rows of the shown frame that are not dimmed, with the columns of the table. */
export function csvOf(app: App): string {
  const frame = app.shown(), columns = columnsOf(app);
  const lines = [columns.map(({ key, title }) => csvCell(key === 'elapsed' ? 'elapsed ms' : title)).join(',')];
  for (let row = 0; row < frame.count; row++)
    if (!app.ui.isDimmed(frame.entity[row]!)) lines.push(columns.map((column) => csvCell(column.value(frame, row))).join(','));
  return `${lines.join('\r\n')}\r\n`;
}

/** Draws the ribbon and the stage below each other, as they are on the screen. */
function pictures(): HTMLCanvasElement | null {
  const found = [...document.querySelectorAll<HTMLCanvasElement>('#ribbon canvas, .stage canvas')].filter((canvas) => canvas.checkVisibility());
  if (found.length === 0) return null;
  const boxes = found.map((canvas) => canvas.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left)), top = Math.min(...boxes.map((box) => box.top));
  const width = Math.max(...boxes.map((box) => box.right)) - left, height = Math.max(...boxes.map((box) => box.bottom)) - top;
  const ratio = Math.max(...found.map((canvas, i) => canvas.width / boxes[i]!.width));
  const made = element('canvas');
  made.width = Math.round(width * ratio);
  made.height = Math.round(height * ratio);
  const context = made.getContext('2d')!;
  context.scale(ratio, ratio);
  context.fillStyle = currentTheme().paper;
  context.fillRect(0, 0, width, height);
  found.forEach((canvas, i) => context.drawImage(canvas, boxes[i]!.left - left, boxes[i]!.top - top, boxes[i]!.width, boxes[i]!.height));
  return made;
}

/** The menu of the header. */
export class Save {
  private readonly menu = element('div', { class: 'menu', hidden: '' });
  private readonly open = button('Save ▾', { 'aria-expanded': 'false', 'aria-haspopup': 'true' }, () => this.show(this.menu.hidden));
  readonly element = element('div', { class: 'save' }, this.open, this.menu);

  constructor(private readonly app: App) {
    this.menu.append(button('Pictures as PNG', {}, () => this.png()), button('Rows as CSV', {}, () => this.csv()),
      button('Print…', {}, () => (this.show(false), print())));
    this.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || this.menu.hidden) return;
      event.preventDefault();
      this.show(false);
      this.open.focus();
    });
    document.addEventListener('pointerdown', (event) => this.element.contains(event.target as Node) || this.show(false));
  }

  private show(isOpen: boolean): void {
    this.menu.hidden = !isOpen;
    this.open.setAttribute('aria-expanded', String(isOpen));
  }

  private png(): void {
    const canvas = pictures();
    canvas?.toBlob((blob) => blob && this.give(blob, 'png'));
    this.show(false);
  }

  private csv(): void {
    this.give(new Blob([csvOf(this.app)], { type: 'text/csv' }), 'csv');
    this.show(false);
  }

  /** Lets the browser save a file, which is named for the time that is shown. */
  private give(blob: Blob, kind: string): void {
    const time = new Date(this.app.shown().endMs), url = URL.createObjectURL(blob);
    const at = Number.isFinite(time.getTime()) ? time.toISOString().slice(0, 19).replaceAll(':', '') : 'empty';
    const link = element('a', { href: url, download: `camp-${at}.${kind}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    this.app.say(`Saved ${link.download}.`);
  }
}
