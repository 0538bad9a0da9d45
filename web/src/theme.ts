// The colours of the page, from style.css, for canvases.

export interface Theme {
  paper: string; // under the pictures
  ink: string;
  quiet: string; // secondary text
  grid: string;
  edge: string; // sides of triangles
  dot: string;
  dim: string;
  pin: string;
  missing: string; // the ring of unaccounted time
  over: string; // the ring of more than 100 %
  leftOut: string; // the broken ring of time at no vertex
  font: string;
}

let theme: Theme | null = null;

export function currentTheme(): Theme {
  if (theme) return theme;
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  theme = {
    paper: of('paper'), ink: of('ink'), quiet: of('quiet'), grid: of('grid'), edge: of('edge'),
    dot: of('dot'), dim: of('dim'), pin: of('pin'), missing: of('missing'), over: of('over'),
    leftOut: of('left-out'), font: of('font'),
  };
  return theme;
}

// A page is printed in light colours, also if the system prefers dark ones.
const PRINTING = 'printing'; // a class of the root in style sheets
addEventListener('beforeprint', () => document.documentElement.classList.add(PRINTING));
addEventListener('afterprint', () => document.documentElement.classList.remove(PRINTING));

const darkness = matchMedia('(prefers-color-scheme: dark)');

export const isDark = (): boolean => darkness.matches && !document.documentElement.classList.contains(PRINTING);

/** Calls the listener when the system switches between light and dark, and around printing. */
export function onThemeChange(listener: () => void): void {
  const changed = () => {
    theme = null;
    listener();
  };
  darkness.addEventListener('change', changed);
  addEventListener('beforeprint', changed);
  addEventListener('afterprint', changed);
}

export const prefersLessMotion = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** The pixels of a picture per pixel of the page; more than 2 would be slow, and not visible. */
export const pixelRatio = (): number => Math.min(Math.max(devicePixelRatio || 1, 1), 2);
