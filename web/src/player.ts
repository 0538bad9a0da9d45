// Time: the current frame, the odometer, play, step, scrub, speed, and following a live source.
import type { App, Frame, Head } from './types';
import { button, element, setText } from './dom';
import { clock, count, duration } from './format';
import { sumsOf, sumsText } from './sums';

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300];
const PLEASANT = 8; // frames a second, by default
const READABLE_MS = 200; // sums that change more often are unreadable

export class Player {
  readonly element: HTMLElement;
  private readonly play = button('', { class: 'play', 'aria-label': 'Play' }, () => this.toggle());
  private readonly scrub = element('input', { type: 'range', min: '0', max: '0', step: '1', 'aria-label': 'Frame' });
  private readonly odometer = element('span', { class: 'odometer' });
  private readonly speed = element('select', { 'aria-label': 'Speed' });
  private readonly live = button('Live', { class: 'live', 'aria-label': 'Follow the newest frame' }, () => this.follow());
  private readonly sums = element('p', { class: 'sums', id: 'sums' });
  private due = 0; // the elapsed part of the next frame's time
  private lastMs = 0;
  private summedMs = 0; // when the sums were last written

  constructor(private readonly app: App) {
    for (const speed of SPEEDS) this.speed.append(element('option', { value: String(speed) }, `${speed}×`));
    this.speed.addEventListener('change', () => app.ui.set({ speed: Number(this.speed.value) }));
    this.scrub.addEventListener('input', () => this.show(Number(this.scrub.value)));
    this.element = element('footer', { class: 'player' }, this.sums, element('div', { class: 'controls' },
      button('', { class: 'step back', 'aria-label': 'One frame back' }, () => this.step(-1)), this.play,
      button('', { class: 'step on', 'aria-label': 'One frame on' }, () => this.step(1)),
      this.scrub, this.odometer, this.speed, this.live));
  }

  /** Chooses a speed that is pleasant to watch, whatever the interval. */
  begin(): void {
    const { store, ui } = this.app;
    const wanted = (PLEASANT * store.head!.interval_ms) / 1000;
    const isLive = store.head!.live;
    const nearest = SPEEDS.reduce((a, b) => (Math.abs(Math.log(b / wanted)) < Math.abs(Math.log(a / wanted)) ? b : a));
    ui.set({ following: isLive, speed: isLive ? 1 : nearest });
    this.live.hidden = !isLive;
  }

  /** Shows the newest frame when following, and leaves a frame that was dropped. */
  arrived(): void {
    const { store, ui } = this.app;
    const { following, current } = ui.state;
    const newest = Math.max(store.endFrame - 1, store.firstFrame);
    const next = following ? newest : Math.min(Math.max(current, store.firstFrame), newest);
    ui.set({ current: next });
  }

  show(index: number): void {
    const { store } = this.app;
    const last = Math.max(store.endFrame - 1, store.firstFrame);
    const current = Math.min(Math.max(Math.round(index), store.firstFrame), last);
    this.app.ui.set({ current, following: false, playing: false });
  }

  step(by: number): void {
    this.show(this.app.ui.state.current + by);
  }

  home(): void {
    this.show(this.app.store.firstFrame);
  }

  end(): void {
    this.show(this.app.store.endFrame - 1);
  }

  toggle(): void {
    const { store, ui } = this.app;
    const playing = !ui.state.playing && !ui.state.following;
    const isAtEnd = ui.state.current >= store.endFrame - 1;
    this.due = 0;
    this.lastMs = performance.now();
    ui.set({
      playing, following: false,
      ...(playing && isAtEnd && !store.head?.live ? { current: store.firstFrame } : {}),
    });
  }

  follow(): void {
    const following = !this.app.ui.state.following;
    this.app.ui.set({ following, playing: false });
    if (following) this.arrived();
  }

  /** Called in an animation frame; returns true if the next one is needed, too. */
  tick(nowMs: number): boolean {
    const passed = Math.min(nowMs - this.lastMs, 250);
    this.lastMs = nowMs;
    const { store, ui } = this.app;
    if (!ui.state.playing || !store.head) return false;
    this.due += (passed * ui.state.speed) / store.head.interval_ms;
    const steps = Math.floor(this.due);
    this.due -= steps;
    const last = store.endFrame - 1;
    const current = Math.min(ui.state.current + steps, last);
    const isOver = current === last && !(store.head.live && store.ended === null);
    ui.set({ current, playing: !isOver });
    return !isOver;
  }

  draw(): void {
    const { store, ui } = this.app;
    const { current, playing, following, speed } = ui.state;
    const isMoving = playing || following;
    this.element.classList.toggle('moving', isMoving);
    this.play.setAttribute('aria-label', isMoving ? 'Pause' : 'Play');
    this.play.classList.toggle('pause', isMoving);
    this.live.setAttribute('aria-pressed', String(following));
    this.live.disabled = store.ended !== null;
    this.speed.value = String(speed);
    this.scrub.min = String(store.firstFrame);
    this.scrub.max = String(Math.max(store.endFrame - 1, store.firstFrame));
    this.scrub.value = String(current);
    if (store.endFrame === store.firstFrame || !store.head) return;
    const frame = store.frame(current);
    setText(this.odometer, `${count(current + 1)} / ${count(Math.max(store.endFrame, store.head.frames))}  ${clock(frame.endMs)}  ${duration(frame.lengthMs)}`);
    this.scrub.setAttribute('aria-valuetext', `frame ${current + 1}, ${clock(frame.endMs)}`);
    if (!playing || performance.now() - this.summedMs > READABLE_MS) this.sumUp(frame, store.head);
  }

  private sumUp(frame: Frame, head: Head): void {
    this.summedMs = performance.now();
    setText(this.sums, sumsText(sumsOf(frame, head)));
  }

  /** Announces the frame to screen readers when the picture stops. */
  announce(): void {
    const { store, ui } = this.app;
    if (ui.state.playing || ui.state.following || store.endFrame === store.firstFrame) return;
    const frame = store.frame(ui.state.current);
    this.app.say(`Frame ${ui.state.current + 1} of ${store.endFrame}, ${clock(frame.endMs)}, ${frame.count} entities.`);
  }
}
