// Time: the current frame, the odometer, play, step, speed, and following a live source.
import type { App, Frame, Head } from './types';
import { button, element, setText } from './dom';
import { clock, count, duration } from './format';
import { sumsOf, sumsText } from './sums';
import { behindText } from './time';

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300];
const PLEASANT = 8; // frames a second, by default
const READABLE_MS = 200; // sums that change more often are unreadable

export class Player {
  readonly element: HTMLElement;
  private readonly play = button('', { class: 'play', 'aria-label': 'Play' }, () => this.toggle());
  private readonly odometer = element('span', { class: 'odometer' });
  private readonly speed = element('select', { 'aria-label': 'Speed' });
  private readonly live = button('Live', { class: 'live', 'aria-label': 'Follow the newest frame' }, () => this.follow());
  private readonly behind = element('span');
  /** Whether the page follows a live source, and how far what it shows is behind. */
  readonly corner = element('div', { class: 'corner', hidden: '' }, this.behind, this.live);
  private readonly sums = element('p', { class: 'sums', id: 'sums' });
  private due = 0; // the elapsed part of the next frame's time
  private lastMs = 0;
  private summedMs = 0; // when the sums were last written
  private isHeld = false; // paused while following: continuing means following again

  constructor(private readonly app: App) {
    for (const speed of SPEEDS) this.speed.append(element('option', { value: String(speed) }, `${speed}×`));
    this.speed.addEventListener('change', () => app.ui.set({ speed: Number(this.speed.value) }));
    this.element = element('footer', { class: 'player' }, element('div', { class: 'controls' },
      button('', { class: 'step back', 'aria-label': 'One frame back' }, () => this.step(-1)), this.play,
      button('', { class: 'step on', 'aria-label': 'One frame on' }, () => this.step(1)),
      this.odometer, this.sums, this.speed));
  }

  /** Chooses a speed that is pleasant to watch, whatever the interval. */
  begin(): void {
    const { store, ui } = this.app;
    const wanted = (PLEASANT * store.head!.interval_ms) / 1000;
    const isLive = store.head!.live;
    const nearest = SPEEDS.reduce((a, b) => (Math.abs(Math.log(b / wanted)) < Math.abs(Math.log(a / wanted)) ? b : a));
    ui.set({ following: isLive, speed: isLive ? 1 : nearest });
    this.corner.hidden = !isLive;
  }

  /** Shows the newest frame when following, and leaves a frame that was dropped. */
  arrived(): void {
    const { store, ui } = this.app;
    const { following, current } = ui.state;
    const newest = Math.max(store.endFrame - 1, store.firstFrame);
    const next = following ? newest : Math.min(Math.max(current, store.firstFrame), newest);
    ui.set({ current: next });
    this.open();
  }

  private hasOpened = false;

  /** Shows the most unusual frame of a report, once it has been read, unless another was chosen. */
  private open(): void {
    const { store, ui } = this.app;
    if (store.open === null || this.hasOpened) return;
    this.hasOpened = true;
    if (!ui.state.playing && !ui.state.range && ui.state.current === store.firstFrame) this.show(store.open);
  }

  show(index: number): void {
    const { store } = this.app;
    const last = Math.max(store.endFrame - 1, store.firstFrame);
    const current = Math.min(Math.max(Math.round(index), store.firstFrame), last);
    this.isHeld = false;
    this.app.ui.set({ current, following: false, playing: false, range: null });
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
    const isFollowing = ui.state.following && this.isLive;
    if (this.isHeld && this.isLive && !ui.state.playing && !isFollowing) return this.follow();
    const playing = !ui.state.playing && !isFollowing;
    const isAtEnd = ui.state.current >= store.endFrame - 1;
    this.isHeld = isFollowing;
    this.due = 0;
    this.lastMs = performance.now();
    ui.set({
      playing, following: false,
      ...(playing && isAtEnd && !this.isLive ? { current: store.firstFrame } : {}),
    });
  }

  /** Do new frames come? */
  private get isLive(): boolean {
    const { head, ended, silentSince } = this.app.store;
    return head?.live === true && ended === null && silentSince === null;
  }

  follow(): void {
    const following = !this.app.ui.state.following;
    this.isHeld = false;
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
    const isOver = current === last && !this.isLive;
    ui.set({ current, playing: !isOver });
    return !isOver;
  }

  draw(): void {
    const { store, ui } = this.app;
    const { current, playing, following, speed } = ui.state;
    const isMoving = playing || (following && this.isLive);
    this.element.classList.toggle('moving', isMoving);
    this.play.setAttribute('aria-label', isMoving ? 'Pause' : 'Play');
    this.play.classList.toggle('pause', isMoving);
    this.live.setAttribute('aria-pressed', String(following));
    this.live.hidden = store.head?.live === true && !this.isLive;
    this.speed.value = String(speed);
    this.drawBehind();
    if (store.endFrame === store.firstFrame || !store.head) return;
    const frame = this.app.shown(), { range } = ui.state;
    const shown = range ? `${count(range[0] + 1)}–${count(range[1])}` : count(current + 1);
    setText(this.odometer, `${shown} / ${count(Math.max(store.endFrame, store.head.frames))}  ${clock(frame.endMs)}  ${duration(frame.lengthMs)}`);
    if (!playing || performance.now() - this.summedMs > READABLE_MS) this.sumUp(frame, store.head);
  }

  /** Writes how old the shown time is, and since when nothing came. */
  private drawBehind(): void {
    const { store, ui } = this.app;
    if (!store.head?.live) return;
    const { following, range, current } = ui.state;
    const at = range ? range[1] - 1 : current;
    if (store.silentSince !== null) setText(this.behind, `not live: no answer since ${clock(store.silentSince, 1000)}`);
    else if (store.ended !== null) setText(this.behind, 'not live: the source has ended');
    else setText(this.behind, following || store.endFrame === store.firstFrame ? '' : behindText(store.newestEndMs - store.frame(at).endMs));
    this.behind.hidden = this.behind.textContent === '';
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
