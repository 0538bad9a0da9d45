// The marks around a barymap's cells: dimming, names, groups, lines whose time does not add up, the
// axis of time, and the current frame, pointer and keyboard.
import { xOf, type Layout } from './barymap_image';
import type { Stretch } from './order';
import type { Series } from './series';
import { currentTheme } from './theme';
import { writeTicks } from './time';
import type { Ui } from './types';

const NAMED = 11; // lines of this height have their names beside them
const TEXT = 14; // height of a line of text

export interface Cell {
  line: number;
  frame: number;
}

/** The layout, in pixels of the page from the corner of the plot. */
export class Scene {
  constructor(
    readonly layout: Layout, readonly left: number, readonly rows: Uint32Array, readonly stretches: Stretch[],
    readonly cells: HTMLCanvasElement, readonly marks: Uint8Array,
  ) {}

  x(frame: number): number {
    return this.left + xOf(this.layout, frame) / this.layout.scale;
  }

  y(line: number): number {
    return (line * this.layout.lineHeight) / this.layout.scale;
  }

  get right(): number {
    return this.left + this.layout.width / this.layout.scale;
  }

  get bottom(): number {
    return this.y(this.layout.lines);
  }

  entitiesOf(line: number): Uint32Array {
    const { perLine } = this.layout;
    return this.rows.subarray(line * perLine, (line + 1) * perLine);
  }

  /** -1: none. */
  lineOf(n: number): number {
    const index = this.rows.indexOf(n);
    return index < 0 ? -1 : Math.floor(index / this.layout.perLine);
  }
}

/** Does each line have its name beside it? Low lines and lines in stretches have none. */
export function areNamed(layout: Layout, stretches: Stretch[]): boolean {
  return layout.lineHeight / layout.scale >= NAMED && stretches.length === 0;
}

export function drawMarks(context: CanvasRenderingContext2D, scene: Scene, ui: Ui, series: Series, cell: Cell | null): void {
  context.font = `11px ${currentTheme().font}`;
  context.textBaseline = 'middle';
  drawCurrent(context, scene, ui);
  dimLines(context, scene, ui);
  drawStretches(context, scene);
  drawNames(context, scene, ui);
  drawSums(context, scene);
  drawTimes(context, scene, series);
  drawCursors(context, scene, ui, series, cell);
}

function dimLines(context: CanvasRenderingContext2D, scene: Scene, ui: Ui): void {
  if (!ui.state.search && !ui.state.brush) return;
  context.globalAlpha = 0.8;
  context.fillStyle = currentTheme().paper;
  const { lines } = scene.layout;
  const isDim = (line: number) => scene.entitiesOf(line).every((n) => ui.isDimmed(n));
  for (let from = 0; from < lines; from++) {
    if (!isDim(from)) continue;
    let to = from + 1;
    while (to < lines && isDim(to)) to++;
    context.fillRect(scene.left, scene.y(from), scene.right - scene.left, scene.y(to) - scene.y(from));
    from = to;
  }
  context.globalAlpha = 1;
}

function drawStretches(context: CanvasRenderingContext2D, scene: Scene): void {
  const theme = currentTheme(), { perLine } = scene.layout;
  let free = 0;
  for (const { from, to, text } of scene.stretches) {
    const top = scene.y(from / perLine), bottom = scene.y(to / perLine);
    context.fillStyle = theme.paper;
    if (from > 0) context.fillRect(scene.left, Math.round(top) - 1, scene.right - scene.left, 2);
    const middle = Math.max((top + bottom) / 2, free + TEXT / 2);
    if (middle + TEXT / 2 > scene.bottom + 4) continue;
    context.fillStyle = theme.quiet;
    write(context, scene, text, middle);
    free = middle + TEXT / 2;
  }
}

/** Draws the names of all lines if there is space, otherwise of pinned and hovered ones. */
function drawNames(context: CanvasRenderingContext2D, scene: Scene, ui: Ui): void {
  const theme = currentTheme(), { pinned, hover } = ui.state;
  const named = new Map<number, number>();
  if (areNamed(scene.layout, scene.stretches)) scene.rows.forEach((n, line) => named.set(line, n));
  for (const n of hover === null ? pinned : [...pinned, hover]) {
    const line = scene.lineOf(n);
    if (line >= 0) named.set(line, n);
  }
  for (const [line, n] of named) {
    const middle = (scene.y(line) + scene.y(line + 1)) / 2;
    const isPinned = pinned.has(n), isChosen = isPinned || n === hover;
    const text = ui.label(n), width = Math.min(context.measureText(text).width, scene.left - 12);
    if (isChosen) {
      context.fillStyle = theme.paper;
      context.fillRect(scene.left - 12 - width, middle - TEXT / 2, width + 11, TEXT);
    }
    context.fillStyle = isPinned ? theme.pin : isChosen ? theme.ink : theme.quiet;
    if (isChosen) triangle(context, scene.left, middle);
    write(context, scene, text, middle);
  }
}

/** Writes a text left of the cells, if there is space. */
function write(context: CanvasRenderingContext2D, scene: Scene, text: string, middle: number): void {
  context.textAlign = 'right';
  if (scene.left > 60) context.fillText(text, scene.left - 10, middle, scene.left - 12);
}

function triangle(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.beginPath();
  context.moveTo(x - 1, y);
  context.lineTo(x - 7, y - 4);
  context.lineTo(x - 7, y + 4);
  context.fill();
}

/** Marks lines with time that is missing or accounted twice, right of the cells. */
function drawSums(context: CanvasRenderingContext2D, scene: Scene): void {
  const theme = currentTheme();
  scene.marks.forEach((mark, line) => {
    if (mark === 0) return;
    context.fillStyle = mark & 2 ? theme.over : theme.missing;
    context.fillRect(scene.right + 2, scene.y(line), 3, Math.max(1, scene.y(line + 1) - scene.y(line)));
  });
}

function drawTimes(context: CanvasRenderingContext2D, scene: Scene, series: Series): void {
  const theme = currentTheme();
  const ticks = series.ticks(Math.max(2, Math.floor((scene.right - scene.left) / 90)))
    .map(({ at, text }) => ({ x: Math.round(scene.x(at)), text }));
  context.fillStyle = theme.grid;
  for (const { x } of ticks) context.fillRect(x, scene.bottom, 1, 4);
  context.fillStyle = theme.quiet;
  writeTicks(context, ticks, scene.bottom + 11, scene.right + 8);
}

/** Highlights the column of the current frame. */
function drawCurrent(context: CanvasRenderingContext2D, scene: Scene, ui: Ui): void {
  const theme = currentTheme(), { current } = ui.state, { cells, layout, left, bottom } = scene;
  const from = scene.x(current), to = Math.max(from + 2, scene.x(current + 1));
  context.fillStyle = theme.paper;
  context.fillRect(from - 2, 0, to - from + 4, bottom);
  context.drawImage(cells, (from - left) * layout.scale, 0, (to - from) * layout.scale, cells.height, from, 0, to - from, bottom);
  context.fillStyle = theme.ink;
  context.fillRect(from - 1, 0, 1, bottom + 4);
  context.fillRect(to, 0, 1, bottom + 4);
}

function drawCursors(context: CanvasRenderingContext2D, scene: Scene, ui: Ui, series: Series, cell: Cell | null): void {
  const line = ui.state.hover === null ? -1 : scene.lineOf(ui.state.hover);
  context.fillStyle = context.strokeStyle = currentTheme().ink;
  context.globalAlpha = 0.5;
  if (line >= 0)
    context.strokeRect(scene.left - 0.5, scene.y(line) - 0.5, scene.right - scene.left + 1, scene.y(line + 1) - scene.y(line) + 1);
  if (series.cursor !== null)
    context.fillRect((scene.x(series.cursor) + scene.x(series.cursor + 1)) / 2, 0, 1, scene.bottom);
  context.globalAlpha = 1;
  if (!cell) return;
  context.lineWidth = 2;
  context.strokeRect(scene.x(cell.frame) - 1, scene.y(cell.line) - 1,
    Math.max(3, scene.x(cell.frame + 1) - scene.x(cell.frame)) + 2, Math.max(3, scene.y(cell.line + 1) - scene.y(cell.line)) + 2);
  context.lineWidth = 1;
}
