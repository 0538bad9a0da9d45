// The names of vertices on a picture. A tooltip on a name lists the states of the vertex; a key
// shows these tooltips one after the other.
import type { App, Axis } from './types';
import { element } from './dom';
import { hideTooltip, placeTooltip } from './tooltip';
import type { Spot } from './scatter';

interface Name extends Spot { // its middle
  half: number; // of its width
  axis: Axis;
}

const HALF = 10; // of a name's height

export class VertexNames {
  readonly at: Name[] = []; // [axes] as drawn
  private shown = -1;

  constructor(private readonly app: App, private readonly stage: HTMLElement) {
    stage.addEventListener('blur', () => this.leave());
  }

  /** Shows the states of the vertex whose name is at a spot; returns false if there is none. */
  point(spot: Spot): boolean {
    const found = this.at.find(({ x, y, half }) => Math.abs(spot.x - x) <= half && Math.abs(spot.y - y) <= HALF);
    if (found) this.show(found);
    return found !== undefined;
  }

  next(): void {
    this.shown = (this.shown + 1) % this.at.length;
    const name = this.at[this.shown]!;
    this.show(name);
    this.app.say(`${name.axis.name}: ${this.statesOf(name.axis).map(({ title }) => title).join(', ') || 'no state'}.`);
  }

  leave(): void {
    if (this.shown < 0) return;
    this.shown = -1;
    hideTooltip();
  }

  private statesOf({ states }: Axis) {
    return states.map((state) => this.app.store.head!.states[state]!);
  }

  private show({ x, y, axis }: Name): void {
    const states = this.statesOf(axis).map(({ title, provenance }) =>
      element('tr', {}, element('th', {}, title), element('td', {}, provenance)));
    placeTooltip(this.stage, { x, y }, [element('strong', {}, axis.name),
      states.length > 0 ? element('table', {}, ...states) : element('p', {}, 'no state')]);
  }
}
