// A drawing context that writes SVG elements instead of pixels, for the functions that draw on the
// page's canvases. It has the members of CanvasRenderingContext2D that these functions use, and no
// others. Elements are made as a tree and then serialized, so that foreign names are always escaped.
import type { Ring, Shape, Sink } from './dots';

const SPACE = 'http://www.w3.org/2000/svg';
const MIDDLE = 0.35, BELOW = 0.2; // from a text's middle or lower edge to its baseline, of the font's size
const HATCH = 6; // pixels from one stroke to the next

type Used = 'fillStyle' | 'strokeStyle' | 'lineWidth' | 'lineCap' | 'lineJoin' | 'lineDashOffset' | 'globalAlpha' | 'font'
  | 'textAlign' | 'textBaseline' | 'save' | 'restore' | 'setTransform' | 'clearRect' | 'fillRect' | 'strokeRect' | 'beginPath'
  | 'moveTo' | 'lineTo' | 'closePath' | 'arc' | 'fill' | 'stroke' | 'setLineDash' | 'fillText' | 'strokeText' | 'measureText';

/** A text as XML can hold it: without control characters and halves of characters. */
export const forXml = (text: string): string =>
  text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd');

const round = (value: number): string => String(Math.round(value * 100) / 100);

type Attributes = Record<string, string | number>;

function svg(name: string, attributes: Attributes, text?: string): SVGElement {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, typeof value === 'number' ? round(value) : forXml(value));
  if (text !== undefined) made.textContent = forXml(text);
  return made;
}

/** What save() keeps. */
const STYLE = ['fillStyle', 'strokeStyle', 'lineWidth', 'lineCap', 'lineJoin', 'lineDashOffset', 'globalAlpha', 'font', 'textAlign', 'textBaseline'] as const;

export class SvgPen implements Pick<CanvasRenderingContext2D, Used> {
  fillStyle = '#000000';
  strokeStyle = '#000000';
  lineWidth = 1;
  lineCap: CanvasLineCap = 'butt';
  lineJoin: CanvasLineJoin = 'miter';
  lineDashOffset = 0;
  globalAlpha = 1;
  font = '10px sans-serif';
  textAlign: CanvasTextAlign = 'left';
  textBaseline: CanvasTextBaseline = 'alphabetic';
  private dash: number[] = [];
  private readonly kept: object[] = [];
  private readonly root: SVGElement;
  private group: SVGElement;
  private path = '';
  private circle: Attributes | null = null; // the path, if it is nothing but a circle
  private halo: { text: string; x: number; y: number; attributes: Attributes } | null = null;
  private readonly hatches = new Map<string, string>();
  private readonly ruler = document.createElement('canvas').getContext('2d')!;

  constructor(width: number, height: number, paper: string, title: string, description: string) {
    this.root = this.group = svg('svg', { viewBox: `0 0 ${round(width)} ${round(height)}`, width, height, role: 'img' });
    this.root.append(svg('title', {}, title), svg('desc', {}, description), svg('rect', { width: '100%', height: '100%', fill: paper }));
  }

  /** For functions that take the context of a canvas, and use no more of it than this class has. */
  get context(): CanvasRenderingContext2D {
    return this as unknown as CanvasRenderingContext2D;
  }

  toString(): string {
    return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(this.root)}\n`;
  }

  /** Puts what `draw` draws into a group, moved by (x, y). */
  within(name: string, x: number, y: number, draw: () => void): void {
    const { group } = this;
    group.append(this.group = svg('g', { class: name, ...(x || y ? { transform: `translate(${round(x)} ${round(y)})` } : {}) }));
    draw();
    this.group = group;
  }

  /** Returns a place for dots, whose coordinates are pixels of a picture: `ratio` of them for one of the page. */
  dots(ratio: number): Sink {
    return {
      begin: () => undefined,
      end: () => undefined,
      put: ({ shape, radius, colour, ring }, x, y) => this.group.append(dot(shape, radius / ratio, colour, { ...ring, inner: ring.inner / ratio }, x / ratio, y / ratio)),
    };
  }

  /** Returns a style of diagonal strokes for areas. */
  hatch(colour: string): string {
    let style = this.hatches.get(colour);
    if (!style) {
      const id = `hatch${this.hatches.size}`;
      this.hatches.set(colour, (style = `url(#${id})`));
      const pattern = svg('pattern', { id, width: HATCH, height: HATCH, patternUnits: 'userSpaceOnUse' });
      pattern.append(svg('path', { d: `M${-HATCH} ${HATCH}L${HATCH} ${-HATCH}M0 ${HATCH}L${HATCH} 0M0 ${2 * HATCH}L${2 * HATCH} 0`, stroke: colour, 'stroke-width': 1.25 }));
      this.root.insertBefore(pattern, this.root.children[2]!);
    }
    return style;
  }

  save(): void {
    this.kept.push(Object.fromEntries([...STYLE, 'dash' as const].map((name) => [name, this[name]])));
  }

  restore(): void {
    Object.assign(this, this.kept.pop());
  }

  setTransform(): void { /* the lengths of a vector picture are pixels of the page */ }

  clearRect(): void { /* it starts empty */ }

  setLineDash(dash: number[]): void {
    this.dash = dash;
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.add('rect', { x, y, width, height, ...this.filled() });
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.add('rect', { x, y, width, height, fill: 'none', ...this.stroked() });
  }

  beginPath(): void {
    this.path = '';
    this.circle = null;
  }

  moveTo(x: number, y: number): void {
    this.path += `M${round(x)} ${round(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `${this.path ? 'L' : 'M'}${round(x)} ${round(y)}`;
  }

  closePath(): void {
    this.path += 'Z';
  }

  /** Adds a whole circle: the page draws no other arcs on its canvases. */
  arc(x: number, y: number, radius: number): void {
    if (this.path === '') this.circle = { cx: x, cy: y, r: radius };
  }

  fill(): void {
    this.addPath(this.filled());
  }

  stroke(): void {
    this.addPath({ fill: 'none', ...this.stroked() });
  }

  /** A text's outline is kept for the text itself, so that each text is in the picture once. */
  strokeText(text: string, x: number, y: number): void {
    this.halo = { text, x, y, attributes: { ...this.stroked(), 'paint-order': 'stroke' } };
  }

  fillText(text: string, x: number, y: number): void {
    const [, weight = '400', size = '10', family = 'sans-serif'] = /^(?:(\w+) )?([\d.]+)px (.*)$/.exec(this.font) ?? [];
    const down = this.textBaseline === 'middle' ? MIDDLE : this.textBaseline === 'bottom' ? -BELOW : 0;
    const { halo } = this;
    this.halo = null;
    this.group.append(svg('text', {
      x, y: y + down * Number(size), 'font-family': family, 'font-size': size, 'font-weight': weight,
      'text-anchor': { center: 'middle', right: 'end', end: 'end', left: 'start', start: 'start' }[this.textAlign],
      ...this.filled(), ...(halo?.text === text && halo.x === x && halo.y === y ? halo.attributes : {}),
    }, text));
  }

  measureText(text: string): TextMetrics {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  private add(name: string, attributes: Attributes): void {
    this.group.append(svg(name, attributes));
  }

  private addPath(style: Attributes): void {
    if (this.circle) this.add('circle', { ...this.circle, ...style });
    else if (this.path) this.add('path', { d: this.path, ...style });
  }

  private filled(): Attributes {
    return { fill: this.fillStyle, ...(this.globalAlpha < 1 ? { 'fill-opacity': this.globalAlpha } : {}) };
  }

  private stroked(): Attributes {
    const { dash, lineDashOffset, lineCap, lineJoin, globalAlpha } = this;
    return {
      stroke: this.strokeStyle, 'stroke-width': this.lineWidth,
      ...(lineCap === 'butt' ? {} : { 'stroke-linecap': lineCap }),
      ...(lineJoin === 'miter' ? {} : { 'stroke-linejoin': lineJoin }),
      ...(globalAlpha < 1 ? { 'stroke-opacity': globalAlpha } : {}),
      ...(dash.length > 0 ? { 'stroke-dasharray': dash.join(' '), 'stroke-dashoffset': lineDashOffset } : {}),
    };
  }
}

/** An entity's disc, or a mark around it. */
function dot(shape: Shape, radius: number, colour: string, { inner, share }: Ring, x: number, y: number): SVGElement {
  if (shape === 'disc') return svg('circle', { class: 'dot', cx: x, cy: y, r: radius, fill: colour });
  if (shape === 'square') return svg('rect', { class: 'dot', x: x - 0.89 * radius, y: y - 0.89 * radius, width: 1.78 * radius, height: 1.78 * radius, fill: colour });
  const middle = (radius + inner) / 2, style = { fill: 'none', stroke: colour, 'stroke-width': radius - inner };
  if (share < 1) {
    const angle = 2 * Math.PI * share;
    const end = `${round(x + middle * Math.sin(angle))} ${round(y - middle * Math.cos(angle))}`;
    return svg('path', { class: 'arc', d: `M${round(x)} ${round(y - middle)}A${round(middle)} ${round(middle)} 0 ${share > 0.5 ? 1 : 0} 1 ${end}`, ...style });
  }
  const step = (Math.PI * middle) / 6; // the four arcs of a broken ring are two steps long, with gaps of one
  const broken: Attributes = shape === 'broken' ? { 'stroke-dasharray': `${round(2 * step)} ${round(step)}`, 'stroke-dashoffset': step } : {};
  return svg('circle', { class: shape, cx: x, cy: y, r: middle, ...style, ...broken });
}
