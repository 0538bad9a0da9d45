// Gestures on a stage, by mouse, pen or finger: hover, press, drag, zoom.
import type { Spot } from './scatter';

export interface Heard {
  move(spot: Spot): void;
  leave(): void;
  press(spot: Spot): void;
  drag(line: Spot[], brushes: boolean): void; // the line so far
  dragged(line: Spot[], brushes: boolean): void; // at its end
  zoom?(factor: number, spot: Spot): void; // below 1: nearer
  doubled?(spot: Spot): void;
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
    stage.addEventListener('pointerleave', () => this.line.length === 0 && heard.leave());
    if (heard.zoom)
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
    this.brushes = event.shiftKey;
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
    if (isSecond && this.heard.doubled) this.heard.doubled(line[0]!);
    else this.heard.press(line[0]!);
  }

  private cancel(): void {
    this.line = [];
    this.heard.drag([], false);
    this.heard.leave();
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    this.heard.zoom!(Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY * lines * 0.0015))), this.spot(event));
  }
}
