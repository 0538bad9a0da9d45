// The ribbon: active time by class over the whole time, at the top of the page. It is the one axis of
// time: a click shows a frame, a drag the mean of a range, a second range is compared with it.
import './ribbon.css';
import { button, element, setAttribute, setText } from './dom';
import { clock } from './format';
import { fit, onWidth, used } from './parts';
import { activeBins, type ActiveSum } from './ribbon_bins';
import { RibbonChoice } from './ribbon_choice';
import { RibbonLegend } from './ribbon_legend';
import { draw, hatching, HEIGHT, leftOf, partsOf, RIGHT, showsCpus, spanText, type Scale, type Scene, type Stack } from './ribbon_picture';
import { clearPeriods, moved, periodOf, setPeriod, type Period, type Which } from './ribbon_range';
import { pictured, type Drawing, type Pictured } from './save_picture';
import { seriesOf } from './series';
import { currentTheme, onThemeChange, pixelRatio } from './theme';
import { dateText, zoneText } from './time';
import type { App, View } from './types';

const STILL = 4; // pixels: less is a click
const GRIP = { mouse: 6, touch: 16 }; // pixels around the end of a window that hold it
const KEYS = 'Arrows move, Shift with arrows selects a range, Escape ends it.';

type Part = 'from' | 'to' | 'whole' | 'new';

/** What a pointer holds. */
interface Held {
  which: Which;
  part: Part;
  x: number; // where it was pressed
  frame: number;
  period: Period | null; // as it was then
  isDrag: boolean;
}

/** A window over the ribbon. */
class Pane {
  readonly label = element('span', { class: 'label' });
  readonly element: HTMLElement;

  constructor(which: Which, name: string, cleared: () => void) {
    const remove = button('×', { class: 'remove', 'aria-label': name }, cleared);
    this.element = element('div', { class: `pane ${which}`, hidden: '' },
      element('i', { class: 'grip' }), element('i', { class: 'grip' }), element('div', { class: 'tag' }, this.label, remove));
  }

  show(left: number, right: number, text: string, width: number): void {
    const { style } = this.element;
    this.element.hidden = false;
    style.left = `${left}px`;
    style.width = `${Math.max(2, right - left)}px`;
    setText(this.label, text);
    const tag = this.element.lastElementChild as HTMLElement;
    const half = tag.offsetWidth / 2, middle = (left + right) / 2;
    tag.style.left = `${Math.max(half, Math.min(width - half, middle)) - left}px`;
  }
}

class Ribbon implements View, Pictured {
  readonly element: HTMLElement;
  private readonly series;
  private readonly canvas = element('canvas', { 'aria-hidden': 'true' });
  private readonly track = element('div', {
    class: 'track', tabindex: '0', role: 'slider', 'aria-label': 'Time', 'aria-description': KEYS,
  }, this.canvas);
  private readonly now = element('div', { class: 'now' });
  private readonly cursor = element('div', { class: 'at', hidden: '' });
  private readonly panes;
  private readonly title = element('h2');
  private readonly choice;
  private readonly legend;
  private readonly about = element('p', { class: 'about' });
  private readonly plot: HTMLElement;
  private readonly width;
  private scale: Scale = 'absolute';
  private mode: Which = 'range';
  private readonly scaleButtons;
  private readonly modeButtons;
  private held: Held | null = null;
  private anchor = 0; // the frame at which a range of the keyboard starts
  private drawnAs = '';
  private drawnOf: Stack | null = null;
  readonly drawings: Drawing[] = [
    { on: this.track, record: (pen) => draw(pen.context, 1, this.scene(), (colour) => pen.hatch(colour)) },
  ];

  constructor(private readonly app: App, corner: HTMLElement) {
    this.series = seriesOf(app);
    this.choice = new RibbonChoice(app, this);
    this.legend = new RibbonLegend((key) => this.choice.add(key));
    this.panes = {
      range: new Pane('range', 'End the range', () => clearPeriods(app)),
      before: new Pane('before', 'End the comparison', () => clearPeriods(app, 'before')),
    };
    this.scaleButtons = this.pair('Scale', [['absolute', 'absolute'], ['share', 'share']], () => this.scale, (scale) => (this.scale = scale));
    this.modeButtons = this.pair('A drag selects', [['range', 'Range'], ['before', 'Compare']], () => this.mode, (mode) => (this.mode = mode));
    this.plot = element('div', { class: 'ribbon-plot' }, this.track, this.now, this.cursor,
      this.panes.before.element, this.panes.range.element, corner);
    this.element = element('section', { class: 'ribbon', id: 'ribbon', 'aria-label': 'Active time' },
      element('header', {}, this.title, this.choice.chips, this.legend.element, this.choice.select, this.scaleButtons.element, this.modeButtons.element, this.about), this.plot);
    pictured(app).push(this);
    this.series.watch(this, activeBins(app));
    this.listen();
    this.width = onWidth(this.plot, () => this.series.again());
    onThemeChange(() => this.series.again());
  }

  draw(): void {
    const { store } = this.app;
    if (!store.head || this.width() === 0) return;
    this.choice.begin();
    this.series.run();
    setText(this.title, `Active ${store.head.kind}`);
    this.choice.draw();
    this.scaleButtons.draw();
    this.modeButtons.draw();
    this.drawPicture();
    this.drawWindows();
    this.drawText();
  }

  /** Draws the canvas, if something on it has changed. */
  private drawPicture(): void {
    const { bins, scale, series } = this, { cpus } = this.app.store;
    const width = this.width(), { from, to } = series.span;
    const isEmpty = fit(this.canvas, width, HEIGHT, pixelRatio());
    const key = [width, from, to, bins.generation, bins.next, scale, cpus, currentTheme().paper].join();
    if (!isEmpty && key === this.drawnAs && bins === this.drawnOf) return;
    this.drawnAs = key;
    this.drawnOf = bins;
    const context = this.canvas.getContext('2d')!, ratio = pixelRatio();
    draw(context, ratio, this.scene(), (colour) => hatching(context, colour, ratio));
    this.legend.draw(bins);
    const isAbove = scale === 'absolute' && cpus > 0 && !showsCpus(cpus, this.legend.most);
    this.above = isAbove ? ` · ${cpus} CPUs, above the picture` : '';
  }
  private above = '';

  private get bins(): RibbonChoice['bins'] {
    return this.choice.bins;
  }

  private scene(): Scene {
    const { bins, scale, series } = this, { cpus } = this.app.store, width = this.width();
    return { bins, scale, cpus, width, span: series.span, ticks: series.ticks(Math.max(2, Math.floor(width / 110))) };
  }

  refresh(): void {
    this.drawWindows();
  }

  private drawWindows(): void {
    const { current, range } = this.app.ui.state, { series } = this;
    for (const which of ['range', 'before'] as const) {
      const period = periodOf(this.app, which), pane = this.panes[which];
      if (!period) {
        pane.element.hidden = true;
        continue;
      }
      const times = this.words(period);
      pane.show(this.x(period[0]), this.x(period[1]), which === 'range' ? `${times} · mean` : `compared with ${times}`, this.width());
    }
    this.now.hidden = range !== null;
    this.now.style.left = `${this.x(current) - 1}px`;
    this.now.style.width = `${Math.max(3, this.x(current + 1) - this.x(current) + 2)}px`;
    this.cursor.hidden = series.cursor === null;
    if (series.cursor !== null) this.cursor.style.left = `${this.x(series.cursor + 0.5)}px`;
  }

  private drawText(): void {
    const { firstFrame, endFrame } = this.app.store, { current, range } = this.app.ui.state, { series } = this;
    const shownMs = series.endMs(range ? range[1] - 1 : current);
    const bin = series.cursor === null || series.cursor >= endFrame ? null : this.bins.sumAt(series.cursor);
    setText(this.about, bin ? `${clock(series.endMs(series.cursor!))} · ${this.inWords(bin)}`
      : `idle is left out${this.above} · ${dateText(shownMs)}, ${zoneText(shownMs)}`);
    const shown = this.bins.sumAt(current);
    const words = range ? `range ${this.words(range)}, mean` : `${clock(shownMs)}${shown ? `: ${this.inWords(shown)}` : ''}`;
    const values = { 'aria-valuemin': firstFrame, 'aria-valuemax': Math.max(endFrame - 1, firstFrame), 'aria-valuenow': current, 'aria-valuetext': words };
    for (const [name, value] of Object.entries(values)) setAttribute(this.track, name, value);
  }

  private words([from, to]: Period): string {
    return spanText(this.series.beginMs(from), this.series.endMs(to - 1));
  }

  private inWords(bin: ActiveSum): string {
    const { layers } = this.bins;
    const parts = partsOf(bin, layers, 'absolute').map((part, i) => [layers[i]?.title ?? 'unaccounted', part] as const)
      .filter(([, part]) => part >= 0.005);
    return parts.map(([title, part]) => `${title} ${part.toFixed(part < 0.95 ? 2 : 1)}`).join(', ') || 'all idle';
  }

  /** A pair of buttons, one of them pressed. */
  private pair<T extends string>(name: string, options: [T, string][], now: () => T, chosen: (value: T) => void) {
    const buttons = options.map(([value, text]) => button(text, { class: 'small' }, () => {
      chosen(value);
      this.series.again();
    }));
    const draw = () => buttons.forEach((one, i) => one.setAttribute('aria-pressed', String(options[i]![0] === now())));
    draw();
    return { element: element('div', { class: 'pair', role: 'group', 'aria-label': name }, ...buttons), draw };
  }

  private x(frame: number): number {
    const { from, to } = this.series.span, left = leftOf(this.width()), width = this.width() - left - RIGHT;
    return left + Math.min(1, Math.max(0, (frame - from) / (to - from))) * width;
  }

  private frameAt(x: number): number {
    const left = leftOf(this.width());
    const { from, to } = this.series.span, { firstFrame, endFrame } = this.app.store;
    const frame = Math.floor(from + ((x - left) * (to - from)) / (this.width() - left - RIGHT));
    return Math.min(Math.max(endFrame - 1, firstFrame), Math.max(firstFrame, frame));
  }

  private listen(): void {
    const at = (event: PointerEvent) => event.clientX - this.track.getBoundingClientRect().left;
    this.track.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || !event.isPrimary || this.app.store.endFrame === this.app.store.firstFrame) return;
      this.track.setPointerCapture(event.pointerId);
      this.held = this.hit(at(event), event);
    });
    this.track.addEventListener('pointermove', (event) => {
      if (!event.isPrimary) return;
      if (this.held) return this.drag(at(event));
      const { part } = this.hit(at(event), event);
      this.track.style.cursor = part === 'new' ? 'crosshair' : part === 'whole' ? 'grab' : 'ew-resize';
      this.series.setCursor(this.frameAt(at(event)));
    });
    this.track.addEventListener('pointerup', (event) => this.release(at(event)));
    this.track.addEventListener('pointercancel', () => (this.held = null));
    this.track.addEventListener('pointerleave', () => this.series.setCursor(null));
    this.track.addEventListener('keydown', (event) => this.key(event));
  }

  /** Returns what a pointer at x would hold: an end of a window, a window, or a new one. */
  private hit(x: number, { pointerType, shiftKey }: PointerEvent): Held {
    const grip = pointerType === 'touch' ? GRIP.touch : GRIP.mouse;
    const mode: Which = shiftKey ? 'before' : this.mode;
    const held = (which: Which, part: Part): Held =>
      ({ which, part, x, frame: this.frameAt(x), period: periodOf(this.app, which), isDrag: false });
    const order: Which[] = mode === 'range' ? ['range', 'before'] : ['before', 'range'];
    for (const which of order) {
      const period = periodOf(this.app, which);
      if (!period) continue;
      const [left, right] = [this.x(period[0]), this.x(period[1])];
      const isNarrow = right - left < 3 * grip;
      if (Math.abs(x - right) <= grip && (!isNarrow || x >= right)) return held(which, 'to');
      if (Math.abs(x - left) <= grip && (!isNarrow || x <= left)) return held(which, 'from');
    }
    const inside = order.find((which) => {
      const period = periodOf(this.app, which);
      return period && x > this.x(period[0]) && x < this.x(period[1]) && (which === mode || mode === 'range');
    });
    return inside ? held(inside, 'whole') : held(mode, 'new');
  }

  private drag(x: number): void {
    const { held } = this;
    if (!held || (!held.isDrag && Math.abs(x - held.x) < STILL)) return;
    held.isDrag = true;
    const frame = this.frameAt(x);
    if (held.part === 'new')
      return setPeriod(this.app, held.which, [Math.min(frame, held.frame), Math.max(frame, held.frame) + 1]);
    const { from, to } = this.series.span;
    const by = Math.round(((x - held.x) * (to - from)) / (this.width() - leftOf(this.width()) - RIGHT));
    setPeriod(this.app, held.which, moved(held.period!, held.part, by, this.app));
  }

  private release(x: number): void {
    const { held } = this;
    this.held = null;
    if (!held) return;
    if (held.isDrag) return this.announce(held.which);
    if (held.which === 'before' && held.part === 'new')
      return this.select('before', [held.frame, held.frame + 1]);
    this.series.scrub(this.frameAt(x));
    clearPeriods(this.app, 'range');
  }

  private select(which: Which, period: Period): void {
    setPeriod(this.app, which, period);
    this.announce(which);
  }

  private announce(which: Which): void {
    const period = periodOf(this.app, which);
    if (!period) return;
    const frames = period[1] - period[0] === 1 ? '1 frame' : `${period[1] - period[0]} frames`;
    this.app.say(`${which === 'range' ? 'Mean of' : 'Compared with'} ${this.words(period)}, ${frames}.`);
  }

  private key(event: KeyboardEvent): void {
    const { firstFrame, endFrame } = this.app.store, { current } = this.app.ui.state;
    if (event.altKey || event.ctrlKey || event.metaKey || endFrame === firstFrame) return;
    const page = Math.max(10, Math.round((endFrame - firstFrame) / 20));
    const steps: Record<string, number> = {
      ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -page, PageUp: page, Home: -Infinity, End: Infinity,
    };
    const step = steps[event.key];
    if (event.key === 'Escape') {
      if (clearPeriods(this.app, this.mode === 'before' && periodOf(this.app, 'before') ? 'before' : 'both')) used(event);
      return;
    }
    if (step === undefined) return;
    used(event);
    const period = periodOf(this.app, this.mode);
    if (event.shiftKey) return this.extend(step, period);
    if (period) return this.select(this.mode, moved(period, 'whole', step, this.app));
    this.series.scrub(current + step);
  }

  /** Moves the end of a range that is not its anchor; without a range, one starts at the current frame. */
  private extend(by: number, period: Period | null): void {
    const { firstFrame, endFrame } = this.app.store, { current } = this.app.ui.state;
    if (!period) this.anchor = current;
    else if (this.anchor !== period[0] && this.anchor !== period[1] - 1) this.anchor = period[0];
    const end = !period ? current : this.anchor === period[0] ? period[1] - 1 : period[0];
    const next = Math.min(endFrame - 1, Math.max(firstFrame, end + by));
    this.select(this.mode, [Math.min(this.anchor, next), Math.max(this.anchor, next) + 1]);
  }
}

/** `corner` is shown in the ribbon's lower right corner. */
export const createRibbon = (app: App, corner: HTMLElement): View => new Ribbon(app, corner);
