// The legend of the ribbon: its layers that have time. Groups have their average, and a press shows only that group.
import { button, element, setAttribute, setText } from './dom';
import type { Layer } from './ribbon_bins';
import { partsOf, type Stack } from './ribbon_picture';

export class RibbonLegend {
  readonly element = element('div', { class: 'classes' });
  most = 0; // the most entities that were active at one time
  private kinds = '';

  /** `chosen` is called with the key of a group. */
  constructor(private readonly chosen: (key: string) => void) {}

  draw({ bins, layers }: Stack): void {
    const sums = [...layers, null].map(() => 0), all: (Layer | null)[] = [...layers, null]; // null: time in no state
    let lengthMs = 0;
    this.most = 0;
    for (const bin of bins) {
      let whole = 0;
      partsOf(bin, layers, 'absolute').forEach((part, i) => {
        sums[i]! += part * bin.lengthMs;
        whole += part;
      });
      this.most = Math.max(this.most, whole);
      lengthMs += bin.lengthMs;
    }
    const there = all.map((layer, i) => ({ layer, mean: sums[i]! / lengthMs })).filter(({ mean }) => mean > 0);
    const hasMeans = layers.some(({ key }) => key !== undefined);
    this.hold(there.map(({ layer }) => layer), hasMeans);
    there.forEach(({ layer, mean }, i) => {
      const key = this.element.children[i] as HTMLElement, [swatch, title, number] = [...key.children] as HTMLElement[];
      if (layer) swatch!.style.background = layer.colour();
      setText(title!, layer?.title ?? 'unaccounted');
      if (number) setText(number, mean.toFixed(2));
      if (layer?.key === undefined) return;
      key.dataset.key = layer.key;
      setAttribute(key, 'title', `Show only ${layer.title}`);
    });
  }

  /** Makes elements of these kinds. They stay while the kinds do, so that the keyboard stays in them. */
  private hold(layers: (Layer | null)[], hasMeans: boolean): void {
    const kinds = [hasMeans, ...layers.map((layer) => (layer === null ? 'missing' : layer.key === undefined))].join();
    if (kinds === this.kinds) return;
    this.kinds = kinds;
    this.element.replaceChildren(...layers.map((layer) => {
      const parts = [element('i', { class: layer ? 'swatch' : 'swatch missing' }), element('span'), ...(hasMeans ? [element('small')] : [])];
      if (layer?.key === undefined) return element('span', { class: 'key' }, ...parts);
      const made = button('', { class: 'key' }, () => this.chosen(made.dataset.key!));
      made.append(...parts);
      return made;
    }));
  }
}
