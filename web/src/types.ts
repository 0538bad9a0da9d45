// The types shared by the parts of the page. docs/stream.md has the format of the data.

import type { CauseWords } from './cause_block';

/** The first block of a stream. */
export interface Head {
  schema: string;
  version: string;
  title: string; // of the page; may be empty
  source: string;
  kind: string; // what the entities are, in the plural: "threads"
  tier: string;
  note: string;
  host: string;
  live: boolean;
  interval_ms: number;
  frames: number;
  states: State[];
  classes: StateClass[]; // in the order in which views show them
  from?: string; // a text for --from that opens the source again
  below?: string; // the command that shows an entity's members, without its name
  causes?: CauseWords; // the frames have causes of waits
  blockers?: boolean; // the frames have trees of blockers
  labels?: string[]; // names of labels: "user", "database"
  axes3: Axis[] | null;
  axes4: Axis[] | null;
  colours: { axes3: string[]; axes3_dark: string[]; axes4: string[]; axes4_dark: string[]; groups: string[]; groups_dark: string[]; others: string[] };
}

export interface State {
  name: string; // "run_queue_ns"
  title: string; // "run queue"
  help: string;
  provenance: string; // measured, sampled, scaled, derived
  class: string; // a name of Head.classes
}

/** What an entity does in a state. The colours are those on light and on dark paper. */
export interface StateClass {
  name: string; // "run_queue"; "" is the class of states whose meaning is unknown
  title: string; // "run queue"
  light: string;
  dark: string;
}

/** A vertex: the states added up there (indexes of Head.states). */
export interface Axis {
  name: string;
  states: number[];
}

export interface Entity {
  n: number; // its index in Store.entities
  id: number;
  pid: number;
  parent: number;
  uid: number;
  name: string;
  kernel: boolean;
  labels?: Record<string, string>; // those with a value
  /** The entity as it was before its labels changed, the oldest first: up to frame `end`, not included. */
  past?: { end: number; entity: Entity }[];
}

/** A whole frame, with the unchanged rows that the stream omitted. */
export interface Frame {
  index: number;
  endMs: number; // wall clock, since 1970
  lengthMs: number;
  unit: number; // a share of 1 is `share * unit`
  unseen: number;
  lost: number;
  partial: number;
  full: number; // CPUs that were busy at least 95 % of the interval
  firstFull: number; // the number of the first of them; -1: it changed within a mean
  count: number;
  entity: Uint32Array; // [count] numbers of entities
  elapsed: Float32Array; // [count] in intervals
  unaccounted: Float32Array; // [count] shares of the entity's time
  flags: Uint16Array; // [count] 1 new, 2 ended
  shares: (Uint16Array | null)[]; // [states] of [count], in units; null: 0 everywhere
  rowOf: Int32Array; // [entities]: the row of an entity; -1: absent (may be shorter)
  missing?: Float32Array; // [count] of a mean: the share of time in no state. `unaccounted` is the larger of this and `over`
  over?: Float32Array; // [count] of a mean: the share accounted twice
  parked?: Float32Array; // [count] of a mean: the share of the entity's time that it waited while it was parked
}

/** All kept frames. Frame numbers continue when old frames are dropped (live). */
export interface Store {
  head: Head | null;
  entities: Entity[];
  entitiesVersion: number; // increases when entities are new or have changed
  firstFrame: number; // the oldest that is kept
  endFrame: number; // one after the newest
  ended: string | null; // the reason if the stream has ended
  open: number | null; // the frame at which a report opens, once it has been read
  notes: string[];
  cpus: number; // the number of CPUs that the entities share; 0: unknown
  hasOthers: boolean; // they are shared with others, so the entities do not say how busy they are
  newestEndMs: number; // the end of the newest frame
  silentSince: number | null; // live: when the server, which does not answer now, was last heard
  frame(index: number): Frame; // decoded on request; the last few are cached
  mean(from: number, to: number): Frame; // of the frames [from, to); the last two are cached
  causes(index: number): ArrayBuffer | null; // of waits, as received (cause_block.ts)
  lengthMs(index: number): number; // of a frame
  /** Called for new frames, entities or a new head. */
  subscribe(listener: () => void): void;
}

/** Shares of one entity in one frame, by some axes; with leftOut and unaccounted, the sum is 1. */
export interface Weights {
  shares: number[]; // [axes]
  leftOut: number; // in states of no axis
  unaccounted: number; // below 0: accounted twice
}

export type GroupBy = 'none' | 'name' | 'pid' | 'uid' | `label:${string}`;

/** The user's selections, which every view shows and can change by set(). */
export interface UiState {
  axes3: Axis[];
  axes4: Axis[];
  current: number; // the frame that is shown
  range: [from: number, to: number] | null; // the frames whose mean is shown instead
  playing: boolean;
  following: boolean; // live: follows the newest frame
  speed: number; // frames a second = speed * 1000 / interval_ms
  pinned: ReadonlySet<number>;
  hover: number | null;
  search: RegExp | null; // of names and labels: others are dimmed
  brush: ReadonlySet<number> | null; // selected in any view: others are dimmed
  groupBy: GroupBy;
  compare: { before: [number, number]; after: [number, number] } | null; // frames [from, to)
}

export interface Ui {
  readonly state: Readonly<UiState>;
  set(change: Partial<UiState>): void; // views are drawn in the next animation frame
  /** Runs with other selections, without telling any view: for a picture of another time. They must
   * not change what is dimmed. */
  during(change: Partial<UiState>, run: () => void): void;
  isDimmed(n: number): boolean; // by search and brush
  /** The entities that the search finds, the same set while they change; null: no search. */
  matching(): ReadonlySet<number> | null;
  /** Group of an entity: its index among the largest groups (0 to 11), -1: none or smaller ones.
   *  Colour = groupColour(), marker = g < 6 ? disc : square. */
  groupOf(n: number): number;
  groups(): { name: string; count: number }[];
  groupings(): GroupBy[]; // available for this source
  label(n: number): string; // "postgres 4711"
}

export interface App {
  store: Store;
  ui: Ui;
  /** Returns what the views show: the mean of the selected range, or the current frame. */
  shown(): Frame;
  /** Announces something once to screen readers (aria-live). */
  say: (text: string) => void;
  /** Draws one view in the next animation frame, as only this view has changed. */
  redraw(view: View): void;
}

/** A part of the page. */
export interface View {
  element: HTMLElement;
  /** Draws app.shown(); called only after changes. */
  draw(): void;
  /** Leaves a part of the view, like a list within a list; returns false if there is nothing to leave. */
  back?(): boolean;
}

export type ViewFactory = (app: App) => View;
