// The page: creates its parts, and draws them after changes.
import './style.css';
import './views2.css';
import './layout.css';
import type { App, Frame, UiState, View, ViewFactory } from './types';
import { addressOf } from './address';
import { createBarymap } from './barymap';
import { createCompare } from './compare';
import { Controls } from './controls';
import { Player } from './player';
import { createRibbon } from './ribbon';
import { Shell } from './shell';
import { createLines } from './lines';
import { createMultiples } from './multiples';
import { createRanking } from './ranking';
import { load } from './source';
import { createStack } from './stack';
import { createStage } from './stage';
import { FrameStore } from './store';
import { Summary } from './summary_view';
import { createTable } from './table';
import { Tabs } from './tabs';
import { onThemeChange } from './theme';
import { refreshTooltip } from './tooltip';
import { PageUi } from './ui';
import { createWhy } from './why';

// In the order of the page. Each view's number is its key.
const factories: ViewFactory[] = [
  createStage,
  createRanking,
  createBarymap,
];

/** Below them, one of these at a time. */
const tabbed: [title: string, factory: ViewFactory][] = [
  ['Table', createTable],
  ['Small multiples', createMultiples],
  ['Comparison', createCompare],
  ['Stacked chart', createStack],
  ['Lines', createLines],
  ['Why', createWhy],
];

/** Selections that are not in the address. */
const PASSING: ReadonlySet<string> = new Set(['current', 'hover', 'playing', 'following', 'speed', 'brush']);

const PICTURE_MS = 12; // of drawing, while new frames are followed
const PLAYER = 40; // pixels at the bottom, at least, that the player covers

class Page {
  private readonly store = new FrameStore();
  private readonly shell = new Shell();
  private readonly ui = new PageUi(this.store, (change) => this.changed(change));
  private readonly app: App = {
    store: this.store, ui: this.ui, shown: () => this.shown(), say: (text) => this.shell.say(text), redraw: (view) => this.redraw(view),
  };
  private readonly player = new Player(this.app);
  private readonly controls = new Controls(this.app);
  private readonly tabs = new Tabs();
  private readonly views: View[] = [];
  private isAsked = false; // the next animation frame is requested
  private isStale = true; // the picture is out of date
  private isChosen = false; // because the user chose something
  private readonly stale = new Set<View>(); // views to draw, if not all
  private readonly inSight = new Set<Element>();
  private readonly sight = new IntersectionObserver((changes) => this.seen(changes), { rootMargin: `0px 0px -${PLAYER}px` });

  start(): void {
    const summary = new Summary(this.app), ribbon = createRibbon(this.app, this.player.corner);
    this.shell.build(this.controls.element, this.player.element, summary.element, ribbon.element);
    for (const view of [summary, ribbon]) this.add(view);
    for (const factory of factories) this.place(factory(this.app), null);
    for (const [title, factory] of tabbed) {
      const view = factory(this.app);
      this.tabs.add(view.element, title);
      this.place(view, this.tabs);
    }
    addressOf(this.app).keep('tab', { get: () => this.tabs.changed, set: (id) => this.tabs.open(id) });
    this.tabs.onOpened = () => addressOf(this.app).changed();
    this.shell.listen(this.app, this.player, this.controls, summary);
    this.store.subscribe(() => this.arrived());
    onThemeChange(() => this.ask());
    addEventListener('beforeprint', () => this.drawAtOnce());
    void load(this.store, (status) => this.shell.tell(status, this.store.head !== null));
  }

  private add(view: View): void {
    this.views.push(view);
    this.sight.observe(view.element);
  }

  private place(view: View, tabs: Tabs | null): void {
    this.add(view);
    this.shell.add(view, tabs);
  }

  private shown(): Frame {
    const { range, current } = this.ui.state;
    return range ? this.store.mean(...range) : this.store.frame(current);
  }

  private hasHead = false;

  private arrived(): void {
    const { head } = this.store;
    if (!head) return;
    if (!this.hasHead) {
      this.hasHead = true;
      this.ui.set({ axes3: head.axes3 ?? [], axes4: head.axes4 ?? [] });
      this.player.begin();
    }
    document.body.classList.toggle('without-frames', this.store.endFrame === this.store.firstFrame);
    this.player.arrived();
    addressOf(this.app).arrived();
    this.shell.show(this.store);
    this.ask();
  }

  private changed(change: Partial<UiState>): void {
    this.ask();
    if (Object.keys(change).some((key) => !PASSING.has(key))) addressOf(this.app).changed();
    this.isChosen ||= !('current' in change); // which a new frame changes
    if ('current' in change) this.player.announce();
    if ('pinned' in change) this.shell.showBelow(this.app);
  }

  /** Requests the next animation frame, so that nothing runs while nothing changes. */
  private ask(): void {
    this.isStale = true;
    this.wake();
  }

  private wake(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame((now) => this.turn(now));
  }

  private turn(now: number): void {
    this.isAsked = false;
    if (this.player.tick(now)) this.wake();
    if (!this.store.head) return;
    if (this.isStale) {
      this.isStale = false;
      this.player.draw();
      this.controls.draw();
      refreshTooltip();
      for (const view of this.views) this.stale.add(view);
    }
    this.drawStale();
  }

  /** New frames of a live source shall be visible soon, so that views which take too long are drawn in the next
   * animation frame. What the user chose is drawn at once. */
  private drawStale(): void {
    const end = this.ui.state.following && !this.isChosen ? performance.now() + PICTURE_MS : Infinity;
    for (const view of [...this.stale].filter((one) => this.isWanted(one))) {
      if (performance.now() > end) return this.wake();
      this.draw(view);
    }
    this.isChosen = false;
  }

  /** While frames play, invisible views wait until they are visible or the frames stop. A view in a
   * tab that is not open waits until it is opened. */
  private isWanted({ element }: View): boolean {
    if (this.tabs.hides(element)) return false;
    const { playing, following } = this.ui.state;
    return !(playing || following) || this.inSight.has(element) || element.hidden;
  }

  /** Browsers print without another animation frame. */
  private drawAtOnce(): void {
    for (const view of this.views) if (!this.tabs.hides(view.element)) this.draw(view);
  }

  private draw(view: View): void {
    this.stale.delete(view);
    view.draw();
  }

  private redraw(view: View): void {
    this.stale.add(view);
    this.wake();
  }

  private seen(changes: IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of changes)
      if (isIntersecting) this.inSight.add(target);
      else this.inSight.delete(target);
    if (this.stale.size > 0) this.wake();
  }
}

new Page().start();
