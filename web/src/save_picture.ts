// The ribbon and the stage below each other, as pixels or as a vector picture: their canvases, and the
// texts and windows that the page shows over and beside these.
import { element } from './dom';
import { fitted } from './marks';
import { SvgPen } from './save_svg';
import { currentTheme } from './theme';
import type { App } from './types';

/** A view that is saved as a picture. */
export interface Pictured {
  element: HTMLElement;
  /** Draws at once what depends on the shown frame. */
  refresh(): void;
  drawings: Drawing[];
}

/** A place with canvases, and a function that draws them again into a vector picture. */
export interface Drawing {
  on: HTMLElement;
  record(pen: SvgPen): void;
}

const picturedOf = new WeakMap<App, Pictured[]>();

/** Returns the views that are saved, in the order of the page. Views add themselves. */
export function pictured(app: App): Pictured[] {
  let views = picturedOf.get(app);
  if (!views) picturedOf.set(app, (views = []));
  return views;
}

const GAP = 12; // pixels between two views
/** Texts of controls, which do nothing in a picture. */
const CONTROLS = 'button, select, .choice, .crowd, .tip, [role=tooltip]';

interface Part {
  view: Pictured;
  x: number; // of its corner, in the picture
  y: number;
}

interface Layout {
  parts: Part[];
  width: number; // pixels of the page
  height: number;
}

export function layOut(app: App): Layout {
  const views = pictured(app).filter((view) => view.element.checkVisibility());
  const boxes = views.map((view) => view.element.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left)), right = Math.max(...boxes.map((box) => box.right));
  let y = GAP;
  const parts = views.map((view, i) => {
    const part = { view, x: GAP + (right - left - boxes[i]!.width) / 2, y }; // what is narrower is in the middle
    y += boxes[i]!.height + GAP;
    return part;
  });
  return { parts, width: views.length > 0 ? right - left + 2 * GAP : 0, height: y };
}

/** Draws the picture on a canvas, as large as fits it. */
export function paint(context: CanvasRenderingContext2D, { parts, width, height }: Layout): void {
  const { canvas } = context, scale = Math.min(canvas.width / width, canvas.height / height);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = currentTheme().paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (const { view, x, y } of parts) {
    context.setTransform(scale, 0, 0, scale, x * scale, y * scale);
    for (const { on } of view.drawings)
      for (const one of on.querySelectorAll('canvas')) {
        const box = within(view, one);
        if (box) context.drawImage(one, box.x, box.y, box.width, box.height);
      }
    drawOver(context, view);
  }
}

/** Returns a canvas with the picture; null if nothing is visible. */
export function pixels(app: App): HTMLCanvasElement | null {
  const layout = layOut(app), canvases = layout.parts.flatMap(({ view }) => [...view.element.querySelectorAll('canvas')]);
  if (layout.parts.length === 0) return null;
  const ratio = Math.max(1, ...canvases.filter((one) => one.clientWidth > 0).map((one) => one.width / one.clientWidth));
  const made = element('canvas');
  made.width = Math.round(layout.width * ratio);
  made.height = Math.round(layout.height * ratio);
  paint(made.getContext('2d')!, layout);
  return made;
}

/** Returns the text of an SVG file; null if nothing is visible. */
export function vector(app: App, description: string): string | null {
  const { parts, width, height } = layOut(app);
  if (parts.length === 0) return null;
  const pen = new SvgPen(width, height, currentTheme().paper, document.title, description);
  for (const { view, x, y } of parts)
    pen.within(view.element.id, x, y, () => {
      for (const drawing of view.drawings) {
        const box = within(view, drawing.on);
        if (box) pen.within('drawing', box.x, box.y, () => drawing.record(pen));
      }
      pen.within('texts', 0, 0, () => drawOver(pen.context, view));
    });
  return pen.toString();
}

/** Returns the box of an element from the corner of its view; null if it is not visible. */
function within(view: Pictured, one: Element): DOMRect | null {
  const box = one.getBoundingClientRect(), from = view.element.getBoundingClientRect();
  const isSeen = box.width > 0 && one.checkVisibility({ visibilityProperty: true });
  return isSeen ? new DOMRect(box.x - from.x, box.y - from.y, box.width, box.height) : null;
}

/** Draws what elements show, not canvases: colours of legends, windows of time, and texts. */
function drawOver(context: CanvasRenderingContext2D, view: Pictured): void {
  const theme = currentTheme();
  for (const swatch of view.element.querySelectorAll('.swatch')) {
    const box = within(view, swatch);
    if (!box) continue;
    context.fillStyle = swatch.matches('.missing') ? theme.missing : getComputedStyle(swatch).backgroundColor;
    context.fillRect(box.x, box.y, box.width, box.height);
  }
  context.lineWidth = 1;
  context.lineJoin = 'miter';
  context.strokeStyle = context.fillStyle = theme.ink;
  for (const pane of view.element.querySelectorAll('.now, .pane')) {
    const seen = within(view, pane);
    if (!seen) continue;
    // Its sides are in the middle of pixels, where they are sharp.
    const box = new DOMRect(Math.floor(seen.x) + 0.5, Math.floor(seen.y) + 0.5, Math.round(seen.width) - 1, Math.round(seen.height) - 1);
    context.globalAlpha = pane.matches('.pane.range') ? 0.09 : 0;
    if (context.globalAlpha > 0) context.fillRect(box.x, box.y, box.width, box.height);
    context.globalAlpha = 1;
    context.setLineDash(pane.matches('.before') ? [4, 3] : []);
    context.strokeRect(box.x, box.y, box.width, box.height);
  }
  context.setLineDash([]);
  drawTexts(context, view);
}

function drawTexts(context: CanvasRenderingContext2D, view: Pictured): void {
  const range = document.createRange(), walker = document.createTreeWalker(view.element, NodeFilter.SHOW_TEXT);
  const { paper } = currentTheme();
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.lineJoin = 'round';
  context.lineWidth = 3.5;
  context.strokeStyle = paper;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const owner = node.parentElement!, text = node.textContent!;
    if (!text.trim() || owner.closest(CONTROLS) || !within(view, owner)) continue;
    const { fontWeight, fontSize, fontFamily, color } = getComputedStyle(owner);
    context.font = `${fontWeight} ${fontSize} ${fontFamily}`;
    context.fillStyle = color;
    range.selectNodeContents(node);
    // A text of several lines is drawn word by word, as the browser does not tell where its lines end.
    const pieces = range.getClientRects().length > 1 ? [...text.matchAll(/\S+/g)].map(({ index, 0: word }) => [index, index + word.length] as const) : [[0, text.length] as const];
    const from = view.element.getBoundingClientRect(), edge = edgeOf(owner, view.element);
    for (const [begin, end] of pieces) {
      range.setStart(node, begin);
      range.setEnd(node, end);
      const box = range.getBoundingClientRect();
      if (box.left >= edge) continue;
      const piece = fitted(context, text.slice(begin, end).replace(/\s+/g, ' ').trim(), edge - box.left + 1);
      context.strokeText(piece, box.x - from.x, (box.top + box.bottom) / 2 - from.y);
      context.fillText(piece, box.x - from.x, (box.top + box.bottom) / 2 - from.y);
    }
  }
}

/** Returns where the ancestors of a text cut it off, at the right. */
function edgeOf(owner: Element, view: Element): number {
  let edge = Infinity;
  for (let at: Element | null = owner; at && at !== view; at = at.parentElement)
    if (getComputedStyle(at).overflowX !== 'visible') edge = Math.min(edge, at.getBoundingClientRect().right);
  return edge;
}
