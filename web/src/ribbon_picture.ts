// Draws the ribbon: active time by class, stacked, the line of CPUs, and the axes.
import { MISSING } from './axes';
import { tile } from './chart';
import { clock } from './format';
import type { ActiveSum, Layer } from './ribbon_bins';
import { currentTheme } from './theme';
import { withDates, writeTicks, type Tick } from './time';

export const HEIGHT = 140, RIGHT = 10;

/** Where the axis of time starts, which the barymap has, too: its names of groups need space on wide pages. */
export const leftOf = (width: number): number => (width < 520 ? 46 : 112);

const TOP = 6, BOTTOM = 20; // for the axis of time

export type Scale = 'absolute' | 'share';

/** What the ribbon shows: ActiveBins or GroupBins. */
export interface Stack {
  readonly bins: ActiveSum[];
  readonly layers: Layer[]; // from below
  readonly size: number;
  readonly firstBin: number;
  readonly next: number;
}

export interface Scene {
  bins: Stack;
  scale: Scale;
  cpus: number; // 0: unknown
  width: number;
  span: { from: number; to: number };
  ticks: Tick[];
}

/** The parts of a bin from below: its layers, then its unaccounted time if that is more than
 * MISSING of all; in entities, or as shares. */
export function partsOf(bin: ActiveSum, layers: Layer[], scale: Scale): number[] {
  const missing = bin.missingMs > MISSING * bin.elapsedMs ? bin.missingMs : 0;
  const parts = [...layers.map(({ slots }) => slots.reduce((sum, slot) => sum + bin.times[slot]!, 0)), missing];
  const whole = scale === 'share' ? parts.reduce((sum, part) => sum + part, 0) : bin.lengthMs;
  return parts.map((part) => (whole > 0 ? part / whole : 0));
}

/** The line of CPUs is left out where it would be much higher than all else, as in camp report. */
export const showsCpus = (cpus: number, most: number): boolean => cpus > 0 && cpus <= 4 * Math.max(most, 0.5);

/** Round numbers for an axis from 0 to at least `most`: two or three steps. */
export function roundScale(most: number): { top: number; step: number } {
  const power = 10 ** Math.floor(Math.log10(most / 2));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => most / one <= 3) ?? 10 * power;
  return { top: Math.ceil(most / step - 1e-9) * step, step };
}

/** Draws at so many pixels of the picture per pixel of the page. `hatch` returns the style of unaccounted time. */
export function draw(context: CanvasRenderingContext2D, ratio: number, scene: Scene, hatch: (colour: string) => string | CanvasPattern): void {
  const theme = currentTheme();
  const { bins, scale, cpus, width, span } = scene, LEFT = leftOf(width);
  const stacks = bins.bins.map((bin) => partsOf(bin, bins.layers, scale));
  const most = stacks.reduce((top, parts) => Math.max(top, parts.reduce((sum, part) => sum + part, 0)), 0);
  const hasCpus = scale === 'absolute' && showsCpus(cpus, most);
  const { top, step } = scale === 'share' ? { top: 1, step: 0.5 } : roundScale(Math.max(most, hasCpus ? cpus * 1.1 : 0, 0.1));
  const plotWidth = Math.max(1, width - LEFT - RIGHT), bottom = HEIGHT - BOTTOM;
  const x = (frame: number) => LEFT + ((frame - span.from) / (span.to - span.from)) * plotWidth;
  const y = (value: number) => bottom - (value / top) * (bottom - TOP);
  const pixel = (at: number) => Math.round(at * ratio) / ratio;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, HEIGHT);
  context.font = `11px ${theme.font}`;
  const grid = () => {
    for (let value = 0; value <= top * 1.0001; value += step) {
      context.fillStyle = theme.grid;
      context.fillRect(LEFT, pixel(y(value)), plotWidth, 1 / ratio);
      context.fillStyle = theme.quiet;
      context.textAlign = 'right';
      context.textBaseline = 'middle';
      const text = scale === 'share' ? `${Math.round(100 * value)} %` : String(Number(value.toPrecision(3)));
      context.fillText(text, LEFT - 6, Math.max(TOP, y(value)));
    }
  };
  grid();
  const edges = [...stacks.map((_, i) => (bins.firstBin + i) * bins.size), Math.min(bins.next, (bins.firstBin + stacks.length) * bins.size)]
    .map((frame) => pixel(Math.min(LEFT + plotWidth, Math.max(LEFT, x(frame)))));
  // From the top of the stack to its bottom: each area reaches down to 0, so that there are no seams.
  for (let part = bins.layers.length; part >= 0; part--) {
    if (!stacks.some((parts) => parts[part]! > 0)) continue;
    context.beginPath();
    context.moveTo(edges[0]!, bottom);
    stacks.forEach((parts, i) => {
      let height = 0;
      for (let below = 0; below <= part; below++) height += parts[below]!;
      context.lineTo(edges[i]!, y(height));
      context.lineTo(edges[i + 1]!, y(height));
    });
    context.lineTo(edges.at(-1)!, bottom);
    const layer = bins.layers[part];
    context.fillStyle = layer ? layer.colour() : hatch(theme.missing);
    context.fill();
  }
  if (hasCpus) drawCpus(context, cpus, y(cpus), width);
  context.fillStyle = theme.quiet;
  context.textBaseline = 'middle';
  writeTicks(context, withDates(scene.ticks).map(({ at, text }) => ({ x: x(at), text })), bottom + 12, width);
}

function drawCpus(context: CanvasRenderingContext2D, cpus: number, y: number, width: number): void {
  const theme = currentTheme(), text = cpus === 1 ? '1 CPU' : `${cpus} CPUs`, left = leftOf(width);
  context.save();
  context.strokeStyle = theme.ink;
  context.beginPath();
  context.moveTo(left, y);
  context.lineTo(width - RIGHT, y);
  context.setLineDash([5, 4]);
  context.stroke();
  context.setLineDash([4, 5]);
  context.lineDashOffset = -5;
  context.strokeStyle = theme.paper;
  context.stroke();
  context.font = `600 11px ${theme.font}`;
  const isBeside = left > 80; // otherwise there is no space beside the line
  context.textAlign = isBeside ? 'right' : 'left';
  context.textBaseline = isBeside ? 'middle' : 'bottom';
  const at = isBeside ? { x: left - 34, y } : { x: left + 5, y: y - 2 };
  context.lineWidth = 3;
  context.lineJoin = 'round';
  context.setLineDash([]);
  context.strokeStyle = theme.paper;
  context.strokeText(text, at.x, at.y);
  context.fillStyle = theme.ink;
  context.fillText(text, at.x, at.y);
  context.restore();
}

export function hatching(context: CanvasRenderingContext2D, colour: string, ratio: number): CanvasPattern {
  const pattern = context.createPattern(tile(colour, 1, Math.round(6 * ratio), ratio), 'repeat')!;
  pattern.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern;
}

/** The times of a window: "18:41:42 – 18:43:52", with fractions of short ones. */
export function spanText(fromMs: number, toMs: number): string {
  const step = toMs - fromMs >= 2000 ? 1000 : 1;
  return `${clock(fromMs, step)} – ${clock(toMs, step)}`;
}
