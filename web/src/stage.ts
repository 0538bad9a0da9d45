// The stage: each entity is a dot in a triangle or in a tetrahedron. The area of a dot is its active
// time, its colour the class with most of it. Listening, labels and marks are here, for both pictures;
// their geometry is in barry3.ts and barry4.ts.
import './stage.css';
import type { App, Axis, Frame, View, ViewFactory } from './types';
import { brush, pin } from './actions';
import { addressOf } from './address';
import { placeAll, type Places } from './axes';
import { Barry3 } from './barry3';
import { Barry4 } from './barry4';
import { CrowdPanel, crowdInWords } from './crowd_panel';
import { vertexColours } from './classes';
import type { Crowd } from './crowds';
import { button, element, setText } from './dom';
import { count } from './format';
import { Gestures } from './gestures';
import { drawLabels, drawTrails, isOn, type Label, type Placed } from './marks';
import { choice } from './parts';
import { Paths } from './paths';
import type { Host, Projection } from './projection';
import { pictured, type Drawing, type Pictured } from './save_picture';
import { Scatter, type Spot } from './scatter';
import { Shelf } from './shelf';
import { StageSums } from './stage_sums';
import { leftOutText } from './sums';
import { currentTheme } from './theme';
import { placeTooltip, showTooltip } from './tooltip';
import { VertexNames } from './vertex_names';
import { SHOWN, weighRows, type Area, type Weight } from './weight';

/** "threads" as "thread", "processes" as "process". */
function singular(kind: string): string {
  return kind.replace(/ies$/, 'y').replace(/sses$/, 'ss').replace(/([^s])s$/, '$1');
}

export class Stage implements View, Host, Pictured {
  readonly element: HTMLElement;
  readonly scatter: Scatter;
  readonly names: VertexNames;
  axes: Axis[] = [];
  private readonly title = element('h2');
  private readonly readout = element('p', { class: 'readout' });
  private readonly outside = element('span', { class: 'outside' });
  private readonly leftOut = element('p', { class: 'warn left-out', hidden: '' });
  private readonly switches = [this.switchTo('▲ 3', 0), this.switchTo('◆ 4', 1)];
  private readonly switcher = element('span', { class: 'switch', role: 'group', 'aria-label': 'Triangle or tetrahedron' }, ...this.switches);
  private readonly drags = button('Zoom', { class: 'small', 'aria-pressed': 'true' }, () => this.use(false));
  private readonly selects = button('Select', { class: 'small', 'aria-pressed': 'false' }, () => this.use(true));
  private readonly own = element('span', { class: 'own-tools' });
  private readonly shelf: Shelf;
  private readonly sums: StageSums;
  private readonly panel: CrowdPanel;
  private readonly paths: Paths;
  private readonly projections: Projection[];
  private chosen = 0; // the picture that the user wants: index of `projections`
  private projection!: Projection;
  private isSelecting = false; // what a drag does without Shift
  private area: Area = 'active';
  private isStale = true; // of the background
  private places: Places | null = null;
  private weight: Weight | null = null;
  private weighed: unknown[] = [];
  private crowds: Crowd[] = [];
  private placed: Placed[] = []; // labels of crowds, as drawn
  private crowd: Crowd | null = null; // under the pointer
  private lasso: Spot[] = [];
  readonly drawings: Drawing[];

  constructor(readonly app: App) {
    this.scatter = new Scatter(app, () => this.restart());
    this.names = new VertexNames(app, this.scatter.element);
    this.shelf = new Shelf(app, () => app.redraw(this));
    this.sums = new StageSums(app, () => app.redraw(this));
    this.paths = new Paths(app);
    this.panel = new CrowdPanel(app, () => this.scatter.element.focus({ preventScroll: true }));
    const area = choice<Area>('area', [['active', 'active time'], ['equal', 'equal']], (value) => {
      this.area = value;
      app.redraw(this);
    });
    this.element = element('section', { class: 'panel', id: 'stage' },
      element('header', {}, this.title, this.switcher,
        element('span', { class: 'switch', role: 'group', 'aria-label': 'A drag on the picture' }, this.selects, this.drags), area),
      element('div', { class: 'stage-line' }, this.readout, this.outside, this.leftOut),
      element('div', { class: 'stage-frame' }, this.scatter.element, this.sums.element, this.own, this.panel.element),
      this.shelf.element);
    this.projections = [new Barry3(this), new Barry4(this)];
    this.setProjection(this.projections[0]!);
    this.drawings = [
      { on: this.scatter.element, record: (pen) => {
        this.scatter.record(pen);
        if (this.places) pen.within('marks', 0, 0, () => this.drawText(pen.context));
      } },
      this.shelf,
    ];
    pictured(app).push(this);
    addressOf(app).keep('stage', {
      get: () => (this.chosen === 1 ? 'tetrahedron' : ''),
      set: (text) => text === 'tetrahedron' && this.choose(1),
    });
    this.listen();
  }

  refresh(): void {
    this.draw();
  }

  private switchTo(label: string, index: number): HTMLButtonElement {
    return button(label, { class: 'small', 'aria-pressed': String(index === 0), title: 'Key b' }, () => this.choose(index));
  }

  private choose(index: number): void {
    this.chosen = index;
    addressOf(this.app).changed();
    this.panel.close();
    this.restart();
    this.app.say(this.projection.name === 'barry3' ? 'Triangle.' : 'Tetrahedron.');
  }

  private use(isSelecting: boolean): void {
    this.isSelecting = isSelecting;
    this.selects.setAttribute('aria-pressed', String(isSelecting));
    this.drags.setAttribute('aria-pressed', String(!isSelecting));
    this.element.classList.toggle('selecting', isSelecting);
  }

  private setProjection(projection: Projection): void {
    if (projection === this.projection) return;
    this.projection = projection;
    this.isStale = true;
    this.element.className = `panel ${projection.name}${this.isSelecting ? ' selecting' : ''}`;
    this.own.replaceChildren(...projection.tools);
    setText(this.drags, projection.drags);
  }

  /** The axes of each picture; without axes, a source cannot have that picture. */
  private axesOf(index: number): Axis[] {
    const { axes3, axes4 } = this.app.ui.state;
    return index === 0 ? axes3 : axes4;
  }

  draw(): void {
    const isThere = [this.axesOf(0).length === 3, this.axesOf(1).length === 4];
    this.element.hidden = !isThere[0] && !isThere[1];
    if (this.element.hidden) return;
    const index = isThere[this.chosen] ? this.chosen : 1 - this.chosen;
    this.switcher.hidden = !isThere[0] || !isThere[1];
    this.switches.forEach((one, i) => one.setAttribute('aria-pressed', String(i === index)));
    const { kind } = this.app.store.head!;
    setText(this.title, `Where does each ${singular(kind)}’s time go?`);
    this.setProjection(this.projections[index]!);
    this.scatter.element.setAttribute('aria-label', `${kind}: ${this.projection.label}`);
    if (this.scatter.width === 0) return;
    this.drawFrame(this.app.shown(), this.axesOf(index));
  }

  private drawFrame(frame: Frame, axes: Axis[]): void {
    const { scatter, projection, app } = this;
    if (axes !== this.axes || this.isStale) {
      this.axes = axes;
      this.isStale = false;
      projection.drawBackground();
    }
    if (this.places?.frame !== frame || this.places.axes !== axes) this.places = placeAll(frame, axes, this.places);
    const weight = this.weigh(frame);
    const { pinned } = app.ui.state;
    scatter.begin(weight, this.places.leftOut);
    const outside = projection.put(frame, this.places, (row) =>
      weight.rest[row] !== SHOWN && !this.shelf.isOpen && !pinned.has(frame.entity[row]!));
    this.crowds = projection.crowds(frame);
    scatter.paint(projection.depths, projection.depthOf);
    this.drawText();
    this.shelf.draw(frame, weight);
    this.sums.draw(this.places, weight, this.colours());
    setText(this.outside, outside > 0 ? `${count(outside)} outside of this part` : '');
    setText(this.leftOut, leftOutText(frame, axes));
    this.leftOut.title = this.leftOut.textContent ?? '';
    this.leftOut.hidden = this.leftOut.textContent === '';
  }

  private colours(): readonly string[] {
    return vertexColours(this.app.store.head!, this.axes.length);
  }

  private weigh(frame: Frame): Weight {
    const { search, brush: brushed } = this.app.ui.state;
    const key = [frame, this.area, this.scatter.width < 420, search, brushed, this.app.store.entitiesVersion];
    if (!this.weight || key.some((value, i) => value !== this.weighed[i]))
      this.weight = weighRows(this.app, frame, this.area, this.scatter.width < 420 ? 0.8 : 1);
    this.weighed = key;
    return this.weight;
  }

  redraw(): void {
    this.app.redraw(this);
  }

  restart(): void {
    this.isStale = true;
    if (this.app.store.head) this.draw();
  }

  private drawText(context = this.scatter.beginText()): void {
    const { scatter, app, projection } = this;
    const { pinned, hover } = app.ui.state;
    projection.drawBelow(context);
    this.paths.draw(context, this.places!, this.weight!, scatter, (proportions) => projection.spotOf(proportions));
    drawTrails(context, app, [...pinned], this.axes, (proportions) => projection.spotOf(proportions));
    this.drawArrows(context);
    const chosen = new Set(hover === null ? pinned : [hover, ...pinned]);
    const labels = (entities: Iterable<number>): Label[] => [...entities].flatMap((n) => {
      const spot = scatter.spotOf(n);
      return spot ? [{ x: spot.x, y: spot.y, text: app.ui.label(n), away: spot.radius + 5 }] : [];
    });
    this.placed = [];
    const named = labels(chosen), largest = labels(this.weight!.largest.filter((n) => !chosen.has(n)));
    drawLabels(context, named, 'ink', scatter.width, [], this.placed);
    drawLabels(context, this.crowds, 'quiet', scatter.width, projection.sides(), this.placed);
    drawLabels(context, largest, 'ink', scatter.width, projection.sides(), this.placed);
    projection.drawAbove(context);
    this.drawReadout();
    if (this.lasso.length > 1) this.drawLasso(context);
  }

  /** Draws the coordinates of the hovered entity, or of the one pinned last. */
  private drawArrows(context: CanvasRenderingContext2D): void {
    const { hover, pinned } = this.app.ui.state;
    const n = hover ?? [...pinned].pop();
    if (n === undefined || !this.scatter.spotOf(n)) return;
    const { frame, proportions } = this.places!, row = frame.rowOf[n]!;
    this.projection.drawArrows(context, proportions.map((own) => own[row]!));
  }

  private drawReadout(): void {
    const values = this.projection.values();
    if (values) this.readout.replaceChildren(...values);
    else setText(this.readout, `${count(this.places!.frame.count)} ${this.app.store.head!.kind}`);
  }

  private drawLasso(context: CanvasRenderingContext2D): void {
    const theme = currentTheme();
    context.beginPath();
    for (const { x, y } of this.lasso) context.lineTo(x, y);
    context.closePath();
    context.strokeStyle = context.fillStyle = theme.pin;
    context.lineWidth = 1.25;
    context.globalAlpha = 0.1;
    context.fill();
    context.globalAlpha = 1;
    context.stroke();
  }

  private listen(): void {
    new Gestures(this.scatter.element, {
      move: (spot) => this.point(spot),
      leave: () => this.point(null),
      press: (spot) => this.press(spot),
      brushes: () => this.isSelecting,
      drag: (line, brushes) => {
        if (brushes) this.brush(line);
        else this.projection.drag(line);
      },
      dragged: (line, brushes) => {
        if (brushes) this.finish(line);
        else this.projection.dragged(line);
      },
      zoom: (factor, spot, isAsked) => {
        const zooms = this.projection.name === 'barry3' && (isAsked || this.projection.zooms(factor));
        if (zooms) this.projection.zoom(factor, spot);
        return zooms;
      },
      doubled: (spot) => {
        if (this.projection.name === 'barry3') {
          if (!this.crowd) pin(this.app, this.scatter.nearest(spot)); // undoes the first press
          this.panel.close();
          this.projection.zoom(0.5, spot);
        } else this.press(spot);
      },
    });
    this.scatter.element.addEventListener('keydown', (event) => {
      if (!this.key(event)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    this.scatter.element.addEventListener('blur', () => this.point(null));
  }

  brush(line: Spot[] | null): void {
    this.lasso = line ?? [];
    this.redraw();
  }

  finish(line: Spot[]): void {
    this.lasso = [];
    brush(this.app, this.scatter.within(line));
    this.redraw();
  }

  private press(spot: Spot): void {
    this.crowd = this.crowdAt(spot);
    this.panel.close();
    if (this.crowd) this.openCrowd(this.crowd, spot);
    else pin(this.app, this.scatter.nearest(spot));
  }

  private openCrowd(crowd: Crowd, spot: Spot): void {
    this.panel.open(spot, this.membersOf(crowd), this.scatter.width, this.scatter.height);
  }

  private membersOf(crowd: Crowd): number[] {
    return crowd.rows().map((row) => this.places!.frame.entity[row]!);
  }

  /** Returns the crowd whose number, or one of whose dots, is at a spot. */
  private crowdAt(spot: Spot): Crowd | null {
    const label = this.placed.find((one) => this.crowds.includes(one.label as Crowd) && isOn(one, spot));
    if (label) return label.label as Crowd;
    if (this.crowds.length === 0) return null;
    const row = this.scatter.nearestRow(spot);
    if (row < 0 || this.app.ui.state.pinned.has(this.places!.frame.entity[row]!)) return null;
    return this.crowds.find((crowd) => Math.hypot(crowd.x - spot.x, crowd.y - spot.y) < 40 && crowd.rows().includes(row)) ?? null;
  }

  point(spot: Spot | null): void {
    const { app, scatter } = this;
    if (!this.places) return;
    this.projection.point(spot);
    this.crowd = spot && this.crowdAt(spot);
    const hover = spot && !this.crowd ? scatter.nearest(spot) : null;
    if (spot && this.crowd)
      placeTooltip(scatter.element, spot, [element('strong', {}, crowdInWords(app, this.membersOf(this.crowd))), element('p', {}, 'click: its members')]);
    else if (hover !== null || !spot || !this.names.point(spot)) showTooltip(app, scatter.element, spot, hover, this.axes);
    if (hover === app.ui.state.hover) this.drawText();
    else app.ui.set({ hover });
  }

  private key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey || this.axes.length === 0) return false;
    if (event.key === 'v') {
      this.names.next();
      return true;
    }
    this.names.leave();
    if (event.key === 'b') {
      if (!this.switcher.hidden) this.choose(this.projection === this.projections[0] ? 1 : 0);
      return true;
    }
    if (event.key === 'Escape') return this.escape();
    if (this.projection.key(event)) return true;
    if (event.key !== 'Enter' || !this.crowd) return false;
    this.openCrowd(this.crowd, this.crowd);
    return true;
  }

  private escape(): boolean {
    if (!this.panel.isOpen) return this.projection.escape();
    this.panel.close();
    return true;
  }
}

export const createStage: ViewFactory = (app) => new Stage(app);
