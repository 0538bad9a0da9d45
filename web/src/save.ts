// Saves what the page shows: the pictures as PNG, SVG or a film, the rows of the shown frame as CSV.
import { button, element, setText } from './dom';
import { film } from './save_film';
import { pixels, vector } from './save_picture';
import { columnsOf } from './table_columns';
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

const SAVE = 'Save ▾', FILM = 'Film as PNG animation';

/** The menu of the header. */
export class Save {
  private readonly menu = element('div', { class: 'menu', hidden: '' });
  private readonly open = button(SAVE, { 'aria-expanded': 'false', 'aria-haspopup': 'true' }, () => this.show(this.menu.hidden));
  readonly element = element('div', { class: 'save' }, this.open, this.menu);
  private readonly film = button(FILM, {}, () => void (this.running ? this.cancel() : this.makeFilm()));
  private readonly progress = element('progress', { max: '1', hidden: '', 'aria-label': 'Film' });
  private readonly nothing = element('p', { hidden: '' }, 'There is nothing to save yet.');
  private readonly ofFrames = [
    button('Pictures as PNG', {}, () => this.png()), button('Pictures as SVG', {}, () => this.svg()), this.film,
    button('Rows as CSV', {}, () => this.csv()),
  ];
  private running: AbortController | null = null; // a film

  constructor(private readonly app: App) {
    this.menu.append(this.nothing, ...this.ofFrames, button('Print…', {}, () => (this.show(false), print())));
    this.film.after(this.progress);
    app.store.subscribe(() => this.menu.hidden || this.look());
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
    if (isOpen) this.look();
  }

  /** Without frames there is nothing to save. */
  private look(): void {
    const { firstFrame, endFrame } = this.app.store, isEmpty = firstFrame === endFrame;
    this.nothing.hidden = !isEmpty;
    for (const one of this.ofFrames) one.disabled = isEmpty;
  }

  private png(): void {
    pixels(this.app)?.toBlob((blob) => blob && this.give(blob, 'png'));
    this.show(false);
  }

  private svg(): void {
    const { app } = this, { head } = app.store, end = new Date(app.shown().endMs);
    const text = vector(app, `Active ${head!.kind} over time, and where the time of each goes, until ${end.toISOString()}. Made by camp ${head!.version}.`);
    if (text) this.give(new Blob([text], { type: 'image/svg+xml' }), 'svg');
    this.show(false);
  }

  private async makeFilm(): Promise<void> {
    this.running = new AbortController();
    this.progress.hidden = false;
    setText(this.film, 'Cancel the film');
    try {
      const made = await film(this.app, this.running.signal, (share) => {
        this.progress.value = share;
        setText(this.open, `Film ${Math.floor(100 * share)} % ▾`);
      });
      if (made) this.give(made, 'film.png');
      else this.app.say('The film is cancelled.');
    } catch (error) {
      this.app.say(`The film failed: ${error instanceof Error ? error.message : String(error)}.`);
    } finally {
      this.running = null;
      this.progress.hidden = true;
      setText(this.film, FILM);
      setText(this.open, SAVE);
    }
  }

  private cancel(): void {
    this.running?.abort();
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
