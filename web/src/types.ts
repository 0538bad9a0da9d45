// What the parts of the page know of each other. docs/stream.md has the format of the data.

/** The first block of a stream. */
export interface Head {
  schema: string;
  version: string;
  title: string; // of the page; empty: nothing was said
  source: string;
  tier: string;
  note: string;
  host: string;
  live: boolean;
  interval_ms: number;
  frames: number;
  states: State[];
  below?: string; // the command that shows what an entity is made of, but for its name
  labels?: string[]; // names of what entities belong to: "user", "database"
  axes3: Axis[] | null;
  axes4: Axis[] | null;
  colours: { axes3: string[]; axes4: string[]; groups: string[] };
}

export interface State {
  name: string; // "run_queue_ns"
  title: string; // "run queue"
  help: string;
  provenance: string; // measured, sampled, scaled, derived
}

/** A vertex: which states are added up there (indexes of Head.states). */
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
  labels?: Record<string, string>; // those that have a value
}

/** One interval, whole: rows that the stream left out because nothing changed are in it. */
export interface Frame {
  index: number;
  endMs: number; // wall clock, since 1970
  lengthMs: number;
  unit: number; // a share of 1 is `share * unit`
  unseen: number;
  lost: number;
  partial: number;
  count: number;
  entity: Uint32Array; // [count] numbers of entities
  elapsed: Float32Array; // [count] in intervals
  unaccounted: Float32Array; // [count] shares of the entity's time
  flags: Uint16Array; // [count] 1 new, 2 ended
  shares: (Uint16Array | null)[]; // [states] of [count], in units; null: 0 everywhere
  rowOf: Int32Array; // [entities]: the row of an entity; -1: not there (may be shorter)
}

/** All frames that are kept. Frame numbers go on when old frames are dropped (live). */
export interface Store {
  head: Head | null;
  entities: Entity[];
  told: number; // grows when entities are new or have changed
  firstFrame: number; // the oldest that is kept
  endFrame: number; // one behind the newest
  ended: string | null; // why nothing more will come
  notes: string[];
  frame(index: number): Frame; // decoded when asked for; the last few are kept
  /** Called after frames, entities or the head came. */
  subscribe(listener: () => void): void;
}

/** Of one entity in one frame, by some axes: shares, left_out and unaccounted add up to 1. */
export interface Weights {
  shares: number[]; // [axes]
  leftOut: number; // in states that no axis has
  unaccounted: number; // below 0: accounted twice
}

export type GroupBy = 'none' | 'name' | 'pid' | 'uid' | `label:${string}`;

/** What the person has chosen. Every view draws from it, and changes it by set(). */
export interface UiState {
  axes3: Axis[];
  axes4: Axis[];
  current: number; // the frame that is shown
  playing: boolean;
  following: boolean; // live: the newest frame is shown
  speed: number; // frames a second = speed * 1000 / interval_ms
  pinned: ReadonlySet<number>;
  hover: number | null;
  search: RegExp | null; // of names and labels: others are dimmed
  brush: ReadonlySet<number> | null; // chosen in any view: others are dimmed
  groupBy: GroupBy;
  smallMultiples: boolean;
  compare: { before: [number, number]; after: [number, number] } | null; // frames [from, to)
}

export interface Ui {
  readonly state: Readonly<UiState>;
  set(change: Partial<UiState>): void; // views are drawn in the next animation frame
  isDimmed(n: number): boolean; // by search and brush
  /** Group of an entity: its index among the largest groups (0 to 11), -1: none or smaller ones.
   *  Colour = head.colours.groups[g % 6], marker = g < 6 ? disc : square. */
  groupOf(n: number): number;
  groups(): { name: string; count: number }[];
  groupings(): GroupBy[]; // that this source has
  label(n: number): string; // "postgres 4711"
}

export interface App {
  store: Store;
  ui: Ui;
  /** Says something once to a screen reader (aria-live). */
  say(text: string): void;
  /** Draws one view in the next animation frame: something has changed that is its own. */
  redraw(view: View): void;
}

/** A part of the page. */
export interface View {
  element: HTMLElement;
  /** Draws app.store.frame(app.ui.state.current); called only when something has changed. */
  draw(): void;
}

export type ViewFactory = (app: App) => View;
