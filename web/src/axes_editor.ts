// The states of each vertex, as editable text: CPU=user+system; WAIT=disk; …
import type { App, Axis } from './types';
import { AxesError, formatAxes, parseAxes, restOf } from './axes';
import { vertexColours } from './classes';
import { readable } from './colour';
import { button, element, setText } from './dom';

type Which = 'axes3' | 'axes4';

class Field {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly fault: HTMLElement;
  private readonly chips = element('p', { class: 'chips' });
  private shown: Axis[] | null = null;

  constructor(private readonly app: App, private readonly which: Which, private readonly count: number) {
    const id = `edit-${which}`;
    this.input = element('input', {
      id, type: 'text', spellcheck: 'false', autocomplete: 'off', 'aria-describedby': `${id}-fault`,
    });
    this.fault = element('p', { id: `${id}-fault`, class: 'fault', role: 'alert' });
    this.input.addEventListener('input', () => this.read());
    this.element = element('div', { class: 'field' }, element('label', { for: id }, `Barry${count}`), this.input,
      button('Usual', { class: 'small', 'aria-label': `Usual axes of Barry${count}` }, () => this.usual()),
      this.fault, this.chips);
  }

  private read(): void {
    try {
      this.set(parseAxes(this.input.value, this.app.store.head?.states ?? [], this.count));
      setText(this.fault, '');
      this.input.removeAttribute('aria-invalid');
    } catch (error) {
      if (!(error instanceof AxesError)) throw error;
      setText(this.fault, `${error.message[0]!.toUpperCase()}${error.message.slice(1)}.`);
      this.input.setAttribute('aria-invalid', 'true');
    }
  }

  private set(axes: Axis[]): void {
    this.shown = axes;
    this.app.ui.set({ [this.which]: axes });
  }

  private usual(): void {
    const axes = this.app.store.head?.[this.which];
    this.shown = null;
    setText(this.fault, '');
    this.input.removeAttribute('aria-invalid');
    if (axes) this.app.ui.set({ [this.which]: [...axes] });
  }

  draw(): void {
    const { head } = this.app.store;
    const axes = this.app.ui.state[this.which];
    this.element.hidden = (head?.states.length ?? 0) < this.count;
    if (!head || axes.length === 0 || (axes === this.shown && this.chips.childNodes.length > 0)) return;
    if (axes !== this.shown) this.input.value = formatAxes(axes, head.states);
    this.shown = axes;
  }

  /** Draws a chip for each vertex, in its colour, and one for the states at no vertex. */
  drawChips(): void {
    const { head } = this.app.store;
    if (!head) return;
    const title = (state: number) => head.states[state]?.title ?? '?';
    const axes = this.app.ui.state[this.which];
    const rest = restOf(axes, head.states.length);
    this.chips.replaceChildren(...axes.map(({ name, states }, i) => {
      const chip = element('span', { class: 'chip' }, element('b', {}, name), ` ${states.map(title).join(', ')}`);
      chip.style.setProperty('--chip', readable(vertexColours(head, this.which === 'axes4' ? 4 : 3)[i] ?? '#888888'));
      return chip;
    }), ...(rest.length ? [element('span', { class: 'chip out' }, element('b', {}, 'left out'), ` ${rest.map(title).join(', ')}`)] : []));
  }
}

export class AxesEditor {
  readonly element: HTMLElement;
  private readonly fields: Field[];
  private drawn: unknown[] = [];

  constructor(private readonly app: App) {
    this.fields = [new Field(app, 'axes3', 3), new Field(app, 'axes4', 4)];
    this.element = element('section', { class: 'axes-editor', id: 'axes-editor', hidden: '', 'aria-label': 'Axes' },
      ...this.fields.map((field) => field.element));
  }

  toggle(): boolean {
    this.element.hidden = !this.element.hidden;
    if (!this.element.hidden) this.element.querySelector('input')?.focus();
    return !this.element.hidden;
  }

  draw(): void {
    const { axes3, axes4 } = this.app.ui.state;
    const now = [axes3, axes4, this.app.store.head];
    if (now.every((value, i) => value === this.drawn[i])) return;
    this.drawn = now;
    for (const field of this.fields) {
      field.draw();
      field.drawChips();
    }
  }
}
