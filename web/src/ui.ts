// The user's selections, and the dimmed entities and groups that result from them.
import type { Entity, GroupBy, Store, Ui, UiState } from './types';

/** The prefix of a grouping by a label. */
export const LABEL = 'label:';
const GROUPS_MAXIMUM = 12; // 6 colours, each with two markers

const NONE: UiState = {
  axes3: [], axes4: [], current: 0, playing: false, following: false, speed: 1,
  pinned: new Set(), hover: null, search: null, brush: null, groupBy: 'none',
  compare: null, range: null,
};

interface Grouping {
  by: GroupBy;
  version: number; // Store.entitiesVersion when it was computed
  of: Int8Array;
  groups: { name: string; count: number }[];
}

export class PageUi implements Ui {
  private chosen: UiState = { ...NONE };
  private dims: Uint8Array | null = null;
  private dimsVersion = -1; // Store.entitiesVersion when they were computed
  private grouping: Grouping | null = null;
  private found: { search: RegExp; version: number; entities: Set<number> } | null = null;

  constructor(private readonly store: Store, private readonly changed: (change: Partial<UiState>) => void) {}

  get state(): Readonly<UiState> {
    return this.chosen;
  }

  set(change: Partial<UiState>): void {
    const keys = Object.keys(change) as (keyof UiState)[];
    if (keys.every((key) => Object.is(this.chosen[key], change[key]))) return;
    change = { ...change, ...this.rangeAfter(change) };
    this.chosen = { ...this.chosen, ...change };
    if ('search' in change || 'brush' in change) this.dims = null;
    this.changed(change);
  }

  /** Another frame, playing and following end the mean of a range, and a comparison with it. */
  private rangeAfter(change: Partial<UiState>): Partial<UiState> {
    const { range, compare, current } = this.chosen;
    const moves = (change.current ?? current) !== current || change.playing || change.following;
    if (!range || 'range' in change || !moves) return {};
    return compare?.after === range ? { range: null, compare: null } : { range: null };
  }

  during(change: Partial<UiState>, run: () => void): void {
    const { chosen } = this;
    this.chosen = { ...chosen, ...change };
    try {
      run();
    } finally {
      this.chosen = chosen;
    }
  }

  isDimmed(n: number): boolean {
    const { search, brush } = this.chosen;
    if (!search && !brush) return false;
    if (!this.dims || this.dimsVersion !== this.store.entitiesVersion) this.dims = this.makeDims();
    return this.dims[n] === 1;
  }

  private makeDims(): Uint8Array {
    const { brush } = this.chosen, found = this.matching();
    const dims = new Uint8Array(this.store.entities.length);
    this.dimsVersion = this.store.entitiesVersion;
    for (const { n } of this.store.entities) dims[n] = (found && !found.has(n)) || (brush && !brush.has(n)) ? 1 : 0;
    return dims;
  }

  matching(): ReadonlySet<number> | null {
    const { search } = this.chosen, { entities, entitiesVersion } = this.store;
    if (!search) return null;
    if (this.found?.search !== search) this.found = { search, version: -1, entities: new Set() };
    if (this.found.version === entitiesVersion) return this.found.entities;
    this.found.version = entitiesVersion;
    for (const { n, name, labels = {} } of entities)
      if ([name, ...Object.values(labels)].some((text) => search.test(text))) this.found.entities.add(n);
      else this.found.entities.delete(n);
    return this.found.entities;
  }

  groupOf(n: number): number {
    return this.grouped().of[n] ?? -1;
  }

  /** Attributes that no entity has are not offered: rows of a table and CPUs have no process and no
   * user. A session's user is not that of its process. */
  groupings(): GroupBy[] {
    const { entities, head } = this.store;
    const labels = head?.labels ?? [];
    const hasPids = entities.some(({ pid }) => pid > 0);
    const hasUsers = (hasPids || entities.some(({ uid }) => uid > 0)) && !labels.includes('user');
    return ['none', 'name', ...(hasPids ? ['pid' as const] : []), ...(hasUsers ? ['uid' as const] : []),
      ...labels.map((name) => `label:${name}` as const)];
  }

  groups(): { name: string; count: number }[] {
    return this.grouped().groups;
  }

  label(n: number): string {
    const entity = this.store.entities[n];
    if (!entity) return `#${n}`;
    const name = nameOf(entity), isNumbered = entity.pid > 0 || this.repeated().has(name);
    return entity.id && isNumbered ? `${name} ${numberOf(entity)}` : name;
  }

  private readonly repeats = { version: -1, names: new Set<string>() };

  /** The names that several entities have. */
  private repeated(): ReadonlySet<string> {
    const { entities, entitiesVersion } = this.store, { repeats } = this;
    if (repeats.version === entitiesVersion) return repeats.names;
    const seen = new Set<string>();
    repeats.version = entitiesVersion;
    repeats.names.clear();
    for (const name of entities.map(nameOf)) (seen.has(name) ? repeats.names : seen).add(name);
    return repeats.names;
  }

  private grouped(): Grouping {
    const { groupBy } = this.chosen;
    if (this.grouping?.by !== groupBy || this.grouping.version !== this.store.entitiesVersion)
      this.grouping = group(this.store, groupBy);
    return this.grouping;
  }
}

/** The name of an entity: sessions have that of their application. src/ledger/summary.c has the same. */
export const nameOf = ({ name, labels }: Entity): string => labels?.application || name;

/** The id of an entity, of a session of several servers with its server. */
export const numberOf = ({ id, labels }: Entity): string => `${id}${labels?.server ? ` of ${labels.server}` : ''}`;

/** A name without its final number, "web" for web1 and web2, as in camp report. */
export function kind(name: string): string {
  return name.replace(/[0-9:/_#. -]+$/, '') || name;
}

/** Returns what the entities of one group have in common; of no grouping, what one entity has. */
export function keyOf(entity: Entity, by: GroupBy): string {
  if (by === 'none') return `${entity.n} ${entity.id}`;
  if (by === 'name') return kind(entity.name);
  return by === 'pid' || by === 'uid' ? String(entity[by]) : entity.labels?.[by.slice(LABEL.length)] ?? '';
}

/** Groups entities, and sorts the groups by size, the largest first, and then by name. */
function group(store: Store, by: GroupBy): Grouping {
  const { entities } = store;
  const of = new Int8Array(entities.length).fill(-1);
  if (by === 'none') return { by, version: store.entitiesVersion, of, groups: [] };
  const members = new Map<string, number[]>();
  for (const entity of entities) {
    const key = keyOf(entity, by);
    const list = members.get(key);
    if (list) list.push(entity.n);
    else members.set(key, [entity.n]);
  }
  const largest = [...members].sort(([a, of_a], [b, of_b]) => of_b.length - of_a.length || (a < b ? -1 : 1))
    .slice(0, GROUPS_MAXIMUM);
  largest.forEach(([, list], g) => list.forEach((n) => (of[n] = g)));
  const groups = largest.map(([key, list]) => ({ name: title(store, by, key), count: list.length }));
  return { by, version: store.entitiesVersion, of, groups };
}

/** A process has the name of its first thread. */
function title(store: Store, by: GroupBy, key: string): string {
  if (by === 'name') return key || 'without a name';
  if (by.startsWith(LABEL)) return key || '(none)';
  if (by === 'uid') return `user ${key}`;
  const first = store.entities.find(({ id, pid }) => String(pid) === key && id === pid) ??
    store.entities.find(({ pid }) => String(pid) === key);
  return `${first?.name ?? ''} ${key}`.trim();
}

/** Names a group in short, as in a list: a process by its first thread, a user by a number. */
export function titleOf({ entities }: Store, by: GroupBy, key: string, members: Iterable<number>): string {
  if (by === 'name') return key || 'without a name';
  if (by.startsWith(LABEL)) return key || '(none)';
  if (by === 'uid') return `user ${key}`;
  let first: Entity | undefined;
  for (const n of members) {
    const entity = entities[n]!;
    if (by === 'none' || entity.id === entity.pid) return nameOf(entity) || `#${n}`;
    first ??= entity;
  }
  return first?.name || `process ${key}`;
}
