// What the ribbon is by: class, name, a label; and the values whose rows it shows. Each value of these is a button that
// ends the choice.
import { addressOf } from './address';
import { button, element } from './dom';
import { offerGroupings } from './parts';
import { activeBins, type ActiveBins } from './ribbon_bins';
import { GroupBins, isOnly, nameOfOnly, type Only } from './ribbon_groups';
import { seriesOf } from './series';
import { isLike } from './shape';
import type { App, GroupBy, View } from './types';

export class RibbonChoice {
  bins: ActiveBins | GroupBins;
  readonly select = element('select', { 'aria-label': 'Ribbon by', id: 'ribbon-by' });
  readonly chips = element('div', { class: 'pair', role: 'group', 'aria-label': 'Only these in the ribbon', hidden: '' });
  private readonly classBins;
  private by: GroupBy = 'none'; // by class
  private only: readonly Only[] = [];
  private brushed: ReadonlySet<number> | null = null; // the entities of `only`
  private brushedVersion = -1; // Store.entitiesVersion of `brushed`

  /** `view` is drawn after a change. */
  constructor(private readonly app: App, private readonly view: View) {
    this.bins = this.classBins = activeBins(app);
    this.select.addEventListener('change', () => {
      this.show(this.select.value as GroupBy, this.only);
      app.say(`The ribbon ${this.select.selectedOptions[0]!.text}.`);
    });
    const address = addressOf(app);
    address.keep('ribbon', { get: () => (this.by === 'none' ? '' : this.by), set: (text) => this.show(text as GroupBy, this.only) });
    address.keep('only', { get: () => (this.only.length > 0 ? JSON.stringify(this.only.map(({ by, key }) => [by, key])) : ''), set: (text) => this.restore(text) });
  }

  /** Prepares the bins for reading. */
  begin(): void {
    this.classBins.begin(this.app.store);
    if (this.bins !== this.classBins) this.bins.begin(this.app.store);
  }

  /** Called after reading. */
  draw(): void {
    const { ui, store } = this.app, { bins } = this;
    if (bins instanceof GroupBins && bins.arrange()) seriesOf(this.app).again();
    offerGroupings(this.select, this.app, 'by class', 'by ');
    this.select.value = this.by;
    // Entities that have started meanwhile are chosen, too, unless another view has chosen others.
    if (this.brushed && ui.state.brush === this.brushed && this.brushedVersion !== store.entitiesVersion) this.brush();
  }

  private show(by: GroupBy, only: readonly Only[]): void {
    const { app, view } = this, series = seriesOf(app), offered = app.ui.groupings();
    if (!offered.includes(by)) return;
    this.classBins.begin(app.store); // which finds the classes
    this.by = by;
    this.only = only.filter((one) => one.by !== 'none' && offered.includes(one.by));
    if (this.bins !== this.classBins) series.unwatch(this.bins);
    this.bins = this.classBins;
    if (by !== 'none' || this.only.length > 0)
      series.watch(view, (this.bins = new GroupBins(app, this.classBins.layers, by, this.only)));
    this.chips.hidden = this.only.length === 0;
    this.chips.replaceChildren(...this.only.map((one) => {
      const name = nameOfOnly(app, one);
      return button(`${name} ×`, { class: 'small', 'aria-pressed': 'true', 'aria-label': `No longer only ${name}` }, () => this.remove(one));
    }));
    addressOf(app).changed();
    app.redraw(view);
  }

  /** Shows the rows of one group of the ribbon only, by class. */
  add(key: string): void {
    const one = { by: this.by, key };
    this.show('none', [...this.only.filter(({ by }) => by !== one.by), one]);
    this.brush();
    this.app.say(`Only ${nameOfOnly(this.app, one)}, by class.`);
    (this.chips.lastElementChild as HTMLElement).focus();
  }

  private remove(one: Only): void {
    this.show(this.by === 'none' ? one.by : this.by, this.only.filter((other) => other !== one));
    this.brush();
    this.app.say(`No longer only ${nameOfOnly(this.app, one)}.`);
    this.select.focus();
  }

  /** Chooses the entities in all views, or ends that if no other view has chosen others. */
  private brush(): void {
    const { ui, store } = this.app, hasOnly = this.only.length > 0;
    if (!hasOnly && ui.state.brush !== this.brushed) return;
    this.brushed = hasOnly ? new Set(store.entities.filter((entity) => isOnly(entity, this.only)).map(({ n }) => n)) : null;
    this.brushedVersion = store.entitiesVersion;
    ui.set({ brush: this.brushed });
  }

  private restore(text: string): void {
    let only: unknown;
    try {
      only = JSON.parse(text);
    } catch {
      return; // the address was changed by hand
    }
    if (!isLike(only, [['']])) return;
    this.show(this.by, (only as [GroupBy, string][]).filter(({ length }) => length === 2).map(([by, key]) => ({ by, key })));
    this.brush();
  }
}
