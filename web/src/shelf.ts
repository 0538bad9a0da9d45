// The shelf below the stage: one small dot for each row that is idle or parked, so that these rows
// do not lie in a heap at one corner of the picture.
import type { App, Frame } from './types';
import { button, element, setText } from './dom';
import { count } from './format';
import { fit, onWidth } from './parts';
import type { Drawing } from './save_picture';
import type { SvgPen } from './save_svg';
import { currentTheme, onThemeChange, pixelRatio } from './theme';
import { hideTooltip, placeTooltip } from './tooltip';
import { SHOWN, type Weight } from './weight';

const HEIGHT = 20; // pixels
const STEPS = [7, 5, 4, 3]; // pixels between dots; the first at which all have space
const NAMES_MAXIMUM = 3;

type Look = 'plain' | 'dimmed' | 'hovered' | 'pinned';

export class Shelf implements Drawing {
  readonly element: HTMLElement;
  isOpen = false; // the idle rows are in the picture
  private readonly text = element('span', {});
  private readonly canvas = element('canvas', { 'aria-hidden': 'true' });
  readonly on = element('div', { class: 'shelf-strip' }, this.canvas);
  private readonly toggle = button('show', { class: 'small', 'aria-pressed': 'false' }, () => this.open(!this.isOpen));
  private rows: number[] = [];
  private frame: Frame | null = null;
  private step = STEPS[0]!;
  private columns = 1;
  private slots = 0;
  private looks: Look[] = []; // [slots] as painted
  private paintedAs = '';
  private readonly width;

  constructor(private readonly app: App, private readonly changed: () => void) {
    this.element = element('div', { class: 'shelf' }, this.text, this.on, this.toggle);
    this.on.addEventListener('pointermove', (event) => this.point(event));
    this.on.addEventListener('pointerdown', (event) => this.point(event));
    this.on.addEventListener('pointerleave', (event) => event.pointerType !== 'touch' && this.leave());
    this.width = onWidth(this.on, () => this.paint());
    onThemeChange(() => this.paint());
  }

  draw(frame: Frame, { rest, idle, parked }: Weight): void {
    this.element.classList.toggle('empty', idle + parked === 0);
    setText(this.text, [idle > 0 || parked === 0 ? `${count(idle)} idle` : '', parked > 0 ? `${count(parked)} parked` : ''].filter(Boolean).join(' · '));
    this.frame = frame;
    this.rows = [];
    for (let row = 0; row < frame.count; row++) if (rest[row] !== SHOWN) this.rows.push(row);
    this.paint();
  }

  private open(isOpen: boolean): void {
    this.isOpen = isOpen;
    setText(this.toggle, isOpen ? 'hide' : 'show');
    this.toggle.setAttribute('aria-pressed', String(isOpen));
    this.app.say(isOpen ? 'The idle ones are in the picture.' : 'The idle ones are on the shelf.');
    this.changed();
  }

  /** Paints the dots that changed. If there are more rows than slots, a dot stands for several. */
  private paint(): void {
    const width = this.width(), ratio = pixelRatio();
    const room = (step: number) => Math.floor(width / step) * Math.floor(HEIGHT / step);
    this.step = STEPS.find((step) => room(step) >= this.rows.length) ?? STEPS.at(-1)!;
    this.columns = Math.max(1, Math.floor(width / this.step));
    this.slots = Math.min(this.rows.length, room(this.step));
    const context = this.canvas.getContext('2d')!, key = [width, ratio, this.step, currentTheme().paper].join();
    const isEmpty = fit(this.canvas, width, HEIGHT, ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (isEmpty || key !== this.paintedAs) {
      context.clearRect(0, 0, width, HEIGHT);
      this.looks = [];
    }
    this.paintedAs = key;
    this.looks = this.drawDots(context, this.looks);
  }

  record(pen: SvgPen): void {
    this.drawDots(pen.context, []);
  }

  /** Draws the dots that look different from before, and returns the looks of all. */
  private drawDots(context: CanvasRenderingContext2D, before: Look[]): Look[] {
    const theme = currentTheme(), { step, columns } = this, looks = this.looksNow();
    const styles: Record<Look, [colour: string, alpha: number]> = {
      plain: [theme.dim, 0.75], dimmed: [theme.dim, 0.3], hovered: [theme.ink, 1], pinned: [theme.pin, 1],
    };
    for (let slot = 0; slot < Math.max(looks.length, before.length); slot++) {
      const look = looks[slot], x = slot % columns * step, y = Math.floor(slot / columns) * step;
      if (look === before[slot]) continue;
      if (before[slot]) context.clearRect(x, y, step, step);
      if (!look) continue;
      [context.fillStyle, context.globalAlpha] = styles[look];
      context.beginPath();
      context.arc(x + step / 2, y + step / 2, step * 0.32, 0, 2 * Math.PI);
      context.fill();
    }
    context.globalAlpha = 1;
    return looks;
  }

  private looksNow(): Look[] {
    const { hover, pinned, search, brush } = this.app.ui.state;
    const isPlain = hover === null && pinned.size === 0 && !search && !brush;
    return Array.from({ length: this.slots }, (_, slot) => {
      const own = isPlain ? [] : this.entitiesAt(slot);
      return isPlain ? 'plain' : own.some((n) => pinned.has(n)) ? 'pinned' : hover !== null && own.includes(hover) ? 'hovered'
        : own.every((n) => this.app.ui.isDimmed(n)) ? 'dimmed' : 'plain';
    });
  }

  private entitiesAt(slot: number): number[] {
    const from = Math.floor((slot * this.rows.length) / this.slots), to = Math.floor(((slot + 1) * this.rows.length) / this.slots);
    return this.rows.slice(from, Math.max(from + 1, to)).map((row) => this.frame!.entity[row]!);
  }

  private point(event: PointerEvent): void {
    const { left, top } = this.on.getBoundingClientRect();
    const spot = { x: event.clientX - left, y: event.clientY - top };
    const slot = Math.floor(spot.y / this.step) * this.columns + Math.floor(spot.x / this.step);
    if (spot.x >= this.columns * this.step || slot < 0 || slot >= this.slots) return this.leave();
    const own = this.entitiesAt(slot), more = own.length - NAMES_MAXIMUM;
    const names = own.slice(0, NAMES_MAXIMUM).map((n) => this.app.ui.label(n)).join(', ');
    placeTooltip(this.on, spot, [element('strong', {}, names + (more > 0 ? ` and ${count(more)} more` : ''))]);
    this.app.ui.set({ hover: own[0]! });
  }

  private leave(): void {
    hideTooltip();
    this.app.ui.set({ hover: null });
  }
}
