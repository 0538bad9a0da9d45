// Gestures on a stage, by mouse, pen or finger: hover, press, drag, zoom.
import type { Spot } from './scatter';

export interface Heard {
  move(spot: Spot): void;
  leave(): void;
  press(spot: Spot): void;
  drag(line: Spot[], brushes: boolean): void; // the line so far
  dragged(line: Spot[], brushes: boolean): void; // at its end
  brushes(): boolean; // a drag brushes, even without Shift
  /** Below 1: nearer. `isAsked`: the user holds Ctrl, or pinches a touchpad. Returns false to let the
   * page scroll. */
  zoom(factor: number, spot: Spot, isAsked: boolean): boolean;
  doubled(spot: Spot): void;
}

const STILL = 5; // pixels: less is no drag
const DOUBLE_MS = 350;

export class Gestures {
  private line: Spot[] = [];
  private isDragging = false;
  private brushes = false;
  private pressedAt = -Infinity;

  constructor(private readonly stage: HTMLElement, private readonly heard: Heard) {
    stage.addEventListener('pointerdown', (event) => this.down(event));
    stage.addEventListener('pointermove', (event) => this.move(event));
    stage.addEventListener('pointerup', (event) => this.up(event));
    stage.addEventListener('pointercancel', () => this.cancel());
    // A finger that is lifted leaves, too, but what it pointed at stays until the next touch elsewhere.
    stage.addEventListener('pointerleave', (event) => event.pointerType !== 'touch' && this.line.length === 0 && heard.leave());
    // First of all listeners: another view may show what it points at.
    document.addEventListener('pointerdown', (event) => {
      if (event.pointerType === 'touch' && !stage.contains(event.target as Node)) heard.leave();
    }, { capture: true });
    stage.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
  }

  private spot(event: MouseEvent): Spot {
    const { left, top } = this.stage.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0 || !event.isPrimary) return;
    this.stage.setPointerCapture(event.pointerId);
    this.line = [this.spot(event)];
    this.isDragging = false;
    this.brushes = event.shiftKey || this.heard.brushes();
  }

  private move(event: PointerEvent): void {
    if (!event.isPrimary) return;
    const spot = this.spot(event);
    if (this.line.length === 0) return this.heard.move(spot);
    this.line.push(spot);
    const first = this.line[0]!;
    if (Math.hypot(spot.x - first.x, spot.y - first.y) > STILL) this.isDragging = true;
    if (this.isDragging) this.heard.drag(this.line, this.brushes);
  }

  private up(event: PointerEvent): void {
    if (this.line.length === 0 || !event.isPrimary) return;
    const line = this.line;
    this.line = [];
    if (this.isDragging) return this.heard.dragged(line, this.brushes);
    const isSecond = event.timeStamp - this.pressedAt < DOUBLE_MS;
    this.pressedAt = isSecond ? -Infinity : event.timeStamp;
    if (event.pointerType !== 'mouse') this.heard.move(line[0]!);
    if (isSecond) this.heard.doubled(line[0]!);
    else this.heard.press(line[0]!);
  }

  private cancel(): void {
    this.line = [];
    this.heard.drag([], false);
    this.heard.leave();
  }

  private wheel(event: WheelEvent): void {
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const factor = Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY * lines * 0.0015)));
    if (this.heard.zoom(factor, this.spot(event), event.ctrlKey)) event.preventDefault();
  }
}
