// The tooltip of the hovered entity, in one frame.
import type { App, Axis, Frame } from './types';
import { LEFT_OUT, MISSING, restOf, weigh } from './axes';
import { element } from './dom';
import { duration, percent } from './format';
import type { Spot } from './scatter';
import { titlesOf } from './sums';

const box = element('div', { class: 'tooltip', hidden: '', role: 'tooltip' });
document.body.append(box);

type Shown = [app: App, stage: HTMLElement, spot: Spot | null, n: number | null, axes: Axis[]];
let shown: Shown | null = null;

/** Updates to the current frame, even if the pointer does not move. */
export function refreshTooltip(): void {
  if (shown) showTooltip(...shown);
}

/** Shows the tooltip beside a spot of a stage; hides it without a spot or an entity. */
export function showTooltip(...asked: Shown): void {
  const [app, stage, spot, n, axes] = asked;
  shown = spot && n !== null ? asked : null;
  const frame = app.shown();
  const row = n === null ? -1 : frame.rowOf[n] ?? -1;
  if (!spot || n === null || row < 0) box.hidden = true;
  else place(stage, spot, content(app, frame, row, n, axes));
}

/** Shows a tooltip that is not about an entity. */
export function placeTooltip(stage: HTMLElement, spot: Spot, content: Node[]): void {
  shown = null;
  place(stage, spot, content);
}

export function hideTooltip(): void {
  shown = null;
  box.hidden = true;
}

function place(stage: HTMLElement, spot: Spot, content: Node[]): void {
  box.hidden = false;
  box.replaceChildren(...content);
  const { left, top } = stage.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = box;
  const x = left + spot.x, y = top + spot.y;
  box.style.left = `${Math.max(4, x + 18 + offsetWidth > innerWidth ? x - 18 - offsetWidth : x + 18)}px`;
  box.style.top = `${Math.max(4, Math.min(innerHeight - offsetHeight - 4, y + 14))}px`;
}

function content(app: App, frame: Frame, row: number, n: number, axes: Axis[]): Node[] {
  const entity = app.store.entities[n]!;
  const elapsed = frame.elapsed[row]! * frame.lengthMs;
  const { shares, leftOut, unaccounted } = weigh(frame, row, axes);
  const table = element('table');
  const line = (name: string, share: number, kind = '') => table.append(element('tr', kind ? { class: kind } : {},
    element('th', {}, name), element('td', {}, percent(share)), element('td', {}, duration(share * elapsed))));
  axes.forEach((axis, i) => line(axis.name, shares[i]!));
  if (leftOut > 0)
    line(`left out: ${titlesOf(app.store.head!, restOf(axes, frame.shares.length))}`, leftOut, leftOut > LEFT_OUT ? 'left-out' : 'quiet');
  if (unaccounted > 0) line('unaccounted', unaccounted, unaccounted > MISSING ? 'missing' : 'quiet');
  if (unaccounted < 0) line('accounted twice', -unaccounted, 'over');
  const ids = [entity.pid ? `pid ${entity.pid}` : '', entity.id && entity.id !== entity.pid ? `id ${entity.id}` : '',
    entity.pid || entity.uid ? `uid ${entity.uid}` : '', entity.kernel ? 'kernel' : ''].filter(Boolean).join(' · ');
  const labels = Object.entries(entity.labels ?? {}).map(([name, value]) => `${name} ${value}`).join(' · ');
  return [element('strong', {}, entity.name || `#${n}`), element('p', {}, [ids, duration(elapsed)].filter(Boolean).join(' · ')),
    ...(labels ? [element('p', {}, labels)] : []), table,
    ...(app.store.head!.below ? [element('p', {}, 'click: how to see its groups')] : [])];
}
