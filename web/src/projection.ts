// What the stage needs of a picture: the triangle (barry3.ts) and the tetrahedron (barry4.ts) differ
// in geometry, background, and in what a drag and the keys do. Everything else is in stage.ts.
import type { App, Axis, Frame } from './types';
import type { Places } from './axes';
import type { Crowd } from './crowds';
import type { Depth, Scatter, Spot } from './scatter';
import type { VertexNames } from './vertex_names';

/** What a projection may use of the stage. */
export interface Host {
  readonly app: App;
  readonly scatter: Scatter;
  readonly names: VertexNames;
  axes: Axis[];
  point(spot: Spot | null): void; // as if the pointer were there
  redraw(): void;
  restart(): void; // also draws the background again
  brush(line: Spot[] | null): void; // the lasso so far
  finish(line: Spot[]): void; // brushes the dots within
}

export interface Projection {
  readonly name: 'barry3' | 'barry4';
  readonly label: string; // for screen readers
  readonly drags: string; // what a drag does: the name of a button
  readonly depths: Depth[];
  readonly depthOf: Uint8Array | null; // [count]
  readonly tools: HTMLElement[]; // its own buttons
  /** Draws the background, after a new size, theme or axes. */
  drawBackground(): void;
  /** Places the rows that are not hidden; returns the number of rows outside of the visible part. */
  put(frame: Frame, places: Places, isHidden: (row: number) => boolean): number;
  /** Returns the crowds among the placed rows. */
  crowds(frame: Frame): Crowd[];
  /** Returns the spot of proportions; null if it is not visible. */
  spotOf(proportions: readonly number[]): Spot | null;
  sides(): [Spot, Spot][]; // lines that labels of crowds avoid
  drawBelow(context: CanvasRenderingContext2D): void; // below trails and labels
  drawAbove(context: CanvasRenderingContext2D): void;
  /** Draws the coordinates of proportions as arrows; returns false if it cannot. */
  drawArrows(context: CanvasRenderingContext2D, proportions: readonly number[]): boolean;
  values(): HTMLElement[] | null; // at the crosshair
  point(spot: Spot | null): void;
  /** Follows a drag; an empty line cancels it. */
  drag(line: Spot[]): void;
  dragged(line: Spot[]): void;
  /** Does the wheel zoom here? Otherwise the page scrolls. */
  zooms(factor: number): boolean;
  zoom(factor: number, spot: Spot): void;
  key(event: KeyboardEvent): boolean;
  escape(): boolean;
}
