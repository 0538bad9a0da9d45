// Marks above the dots: labels, and the trails of pinned entities.
import type { App, Axis } from './types';
import { weigh } from './axes';
import { percent } from './format';
import type { Spot } from './scatter';
import { currentTheme } from './theme';

const TRAIL = 24; // frames

export interface Label extends Spot {
  text: string;
  away?: number; // pixels between its spot and the text
}

const widths = new Map<string, number>();

/** Widths are cached: measuring a text takes longer than drawing it. */
function widthOf(context: CanvasRenderingContext2D, text: string): number {
  const key = context.font + text;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > 5000) widths.clear();
    widths.set(key, (width = context.measureText(text).width));
  }
  return width;
}

/** The name of a corner: of a part of the triangle, with the share that this corner has. */
export const cornerName = (name: string, share: number): string => (share > 1 - 1e-9 ? name : `${name} ${percent(share)}`);

/** Draws a text at a spot, on a rectangle of paper. */
export function tag(context: CanvasRenderingContext2D, text: string, { x, y }: Spot, colour: string): void {
  const theme = currentTheme();
  context.font = `600 11px ${theme.font}`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  const half = widthOf(context, text) / 2 + 3;
  context.fillStyle = theme.paper;
  context.globalAlpha = 0.85;
  context.fillRect(x - half, y - 8, 2 * half, 16);
  context.globalAlpha = 1;
  context.fillStyle = colour;
  context.fillText(text, x, y);
}

/** Shortens a text to fit. */
export function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let length = text.length;
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > room) length--;
  return `${text.slice(0, length)}…`;
}

type Line = readonly [Spot, Spot];

const STEPS_ASIDE = [0, -15, 15, -28, 28]; // pixels above or below its spot
const HALF = 8; // of a label's height, which must be free

/** Does a line cross the space of a text that starts at a spot? */
function crosses([a, b]: Line, { x, y }: Spot, width: number): boolean {
  if (Math.max(a.x, b.x) < x || Math.min(a.x, b.x) > x + width || Math.max(a.y, b.y) < y - HALF || Math.min(a.y, b.y) > y + HALF)
    return false;
  const sides = [x, x + width].flatMap((cx) => [y - HALF, y + HALF].map((cy) => (b.x - a.x) * (cy - a.y) > (b.y - a.y) * (cx - a.x)));
  return sides.includes(true) && sides.includes(false);
}

/** Returns where a label starts: right of its spot, or as near to that as possible without crossing
 * a line. */
function besides({ x, y, away = 9 }: Label, room: number, width: number, lines: Line[]): Spot {
  const places = STEPS_ASIDE.flatMap((dy) => [x + away, x - away - room].map((left) => ({ x: left, y: y + dy })))
    .filter(({ x: left }) => left >= 0 && left + room + 4 <= width);
  return places.find((place) => !lines.some((line) => crosses(line, place, room))) ?? places[0] ?? { x: x + away, y };
}

/** Where a label is drawn: its left end, and the middle of its height. */
export interface Placed extends Spot {
  label: Label;
  width: number;
}

export const isOn = ({ x, y, width }: Placed, spot: Spot): boolean =>
  spot.x >= x - 3 && spot.x <= x + width + 3 && Math.abs(spot.y - y) <= HALF + 2;

/** Draws labels beside their spots, without crossing lines. An outline in the colour of the paper
 * keeps dots from hiding them; no label covers another, nor those in `taken`, to which it adds. */
export function drawLabels(context: CanvasRenderingContext2D, labels: Label[], ink: 'ink' | 'quiet', width: number, lines: Line[] = [], taken: Placed[] = []): void {
  const theme = currentTheme();
  context.font = `${ink === 'ink' ? 600 : 500} 12px ${theme.font}`;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  for (const label of labels) {
    const { text } = label;
    const room = widthOf(context, text);
    const { x: left, y } = besides(label, room, width, lines);
    if (taken.some((other) => Math.abs(other.y - y) < 15 && left < other.x + other.width && other.x < left + room)) continue;
    taken.push({ x: left, y, width: room, label });
    context.lineWidth = 3.5;
    context.lineJoin = 'round';
    context.strokeStyle = theme.paper;
    context.strokeText(text, left, y);
    context.fillStyle = theme[ink];
    context.fillText(text, left, y);
  }
}

/** Draws the positions of entities in the previous frames, fading. `project` returns the spot of
 * proportions; null: hidden. */
export function drawTrails(
  context: CanvasRenderingContext2D, app: App, entities: number[], axes: Axis[],
  project: (proportions: number[]) => Spot | null,
): void {
  if (entities.length === 0) return;
  const { store, ui: { state: { current } } } = app;
  const first = Math.max(store.firstFrame, current - TRAIL);
  context.strokeStyle = currentTheme().pin;
  context.lineWidth = 1.75;
  context.lineCap = 'round';
  for (const n of entities) {
    let before: Spot | null = null;
    for (let index = first; index <= current; index++) {
      const proportions = trailOf(app, n, axes, index);
      const spot = proportions && project(proportions);
      if (spot && before) {
        context.globalAlpha = 0.12 + 0.68 * ((index - first) / (current - first));
        context.beginPath();
        context.moveTo(before.x, before.y);
        context.lineTo(spot.x, spot.y);
        context.stroke();
      }
      before = spot;
    }
  }
  context.globalAlpha = 1;
}

const knownOf = new WeakMap<Axis[], Map<string, number[] | null>>();
const KNOWN_MAXIMUM = 20000;

/** Returns the proportions of an entity in a frame; null if it is absent or has no position. */
function trailOf(app: App, n: number, axes: Axis[], index: number): number[] | null {
  let known = knownOf.get(axes);
  if (!known || known.size > KNOWN_MAXIMUM) knownOf.set(axes, (known = new Map<string, number[] | null>()));
  const key = `${n} ${index}`;
  let found = known.get(key);
  if (found === undefined) {
    const frame = app.store.frame(index);
    const row = frame.rowOf[n] ?? -1;
    const shares = row < 0 ? [] : weigh(frame, row, axes).shares;
    const sum = shares.reduce((a, b) => a + b, 0);
    known.set(key, (found = sum > 0 ? shares.map((share) => share / sum) : null));
  }
  return found;
}
