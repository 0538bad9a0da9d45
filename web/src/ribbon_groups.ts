// Active time by group over time, such as by application, and of the rows that the user chose, in bins of frames.
//
// Each of the first groups has a slot in the bins, and the others share one. When one of the others has become one of the
// largest, all kept frames are read again, with slots for the groups that were largest until then.
import { Bins } from './bins';
import { activeOf, groupColour } from './classes';
import { ActiveSum, type Layer } from './ribbon_bins';
import type { Reader } from './series';
import { isDark } from './theme';
import type { App, Entity, Frame, GroupBy, Store } from './types';
import { keyOf, titleOf } from './ui';

const SLOTS = 64, OTHERS = SLOTS;
const LAYERS = 6; // colours
const GROUPS_MAXIMUM = 4096; // that are remembered until the frames are read again

/** One value of a grouping. */
export interface Only {
  by: GroupBy;
  key: string;
}

interface Group {
  key: string;
  slot: number;
  members: Set<number>; // entities, for the title
  time: number; // active, in ms
}

/** The entity as it was in a frame. */
function entityAt(entity: Entity, frame: number): Entity {
  return (frame < (entity.past?.at(-1)?.end ?? 0) && entity.past!.find(({ end }) => frame < end)?.entity) || entity;
}

export const isOnly = (entity: Entity, only: readonly Only[]): boolean => only.every(({ by, key }) => keyOf(entity, by) === key);

/** Names a value: "tpcb", "(none)", "user 1000". */
export const nameOfOnly = ({ store }: App, { by, key }: Only): string => {
  const members = store.entities.filter((entity) => keyOf(entity, by) === key);
  return titleOf(store, by, key, members.map(({ n }) => n));
};

export class GroupBins extends Bins<ActiveSum> implements Reader {
  layers: Layer[] = [];
  private readonly classes: Layer[];
  private groups = new Map<string, Group>();
  private limit = GROUPS_MAXIMUM;
  private known: (Entity | undefined)[] = []; // [entities] as they were in the last frame
  private of: (Group | null)[] = []; // [entities] their groups; null: not chosen
  private shown: Group[] = []; // the largest groups, in the order of their layers
  private isSettled = false; // all frames were read, so that layers keep their places

  constructor(private readonly app: App, classes: Layer[], readonly by: GroupBy, private readonly only: readonly Only[]) {
    super();
    this.classes = by === 'none' ? classes : [];
    this.again();
  }

  protected override empty(): ActiveSum {
    return new ActiveSum(this.classes.length || SLOTS + 1);
  }

  /** Reads all kept frames again. */
  private again(): void {
    const largest = [...this.groups.values()].sort((a, b) => b.time - a.time).slice(0, SLOTS);
    this.groups = new Map(largest.map(({ key }, slot) => [key, { key, slot, members: new Set(), time: 0 }]));
    this.known = [];
    this.shown = [];
    this.layers = this.classes;
    this.isSettled = false;
    this.restart(this.app.store);
  }

  protected override dropped(bins: ActiveSum[]): void {
    for (const group of this.groups.values())
      if (group.slot < OTHERS) for (const { times } of bins) group.time -= times[group.slot]!;
  }

  begin({ firstFrame }: Store): void {
    this.forget(firstFrame);
  }

  private groupOf(n: number, frame: number): Group | null {
    const entity = entityAt(this.app.store.entities[n]!, frame);
    if (this.known[n] === entity) return this.of[n]!;
    this.known[n] = entity;
    return (this.of[n] = isOnly(entity, this.only) ? this.found(entity) : null);
  }

  private found(entity: Entity): Group {
    const key = this.by === 'none' ? '' : keyOf(entity, this.by);
    let group = this.groups.get(key);
    if (!group) this.groups.set(key, (group = { key, slot: Math.min(this.groups.size, OTHERS), members: new Set(), time: 0 }));
    if (group.members.size < LAYERS) group.members.add(entity.n);
    return group;
  }

  read(frame: Frame): void {
    const { lengthMs, count, elapsed, unaccounted } = frame, active = activeOf(frame, this.app.store.head!);
    this.put(frame, (sum) => {
      sum.lengthMs += lengthMs;
      for (let row = 0; row < count; row++) {
        const group = this.groupOf(frame.entity[row]!, frame.index), own = elapsed[row]! * lengthMs;
        if (!group) continue;
        sum.elapsedMs += own;
        sum.missingMs += Math.max(0, unaccounted[row]!) * own;
        const time = active.sums[row]! * lengthMs;
        if (this.by === 'none') active.times.forEach((times, i) => (sum.times[i]! += times[row]! * lengthMs));
        else sum.times[group.slot]! += time;
        group.time += time;
      }
    });
  }

  /** Finds the layers: the largest groups from below, and all others. A group that stays one of the largest keeps its
   * place and its colour. Returns true if all frames must be read again. */
  arrange(): boolean {
    const isComplete = this.next >= this.app.store.endFrame;
    if (this.by === 'none') return false;
    const groups = [...this.groups.values()].filter(({ time }) => time > 1e-6).sort((a, b) => b.time - a.time);
    const largest = groups.slice(0, LAYERS);
    if (isComplete && (this.groups.size > this.limit || largest.some(({ slot }) => slot === OTHERS))) {
      this.limit = Math.max(GROUPS_MAXIMUM, 2 * groups.length);
      this.again();
      return true;
    }
    const free = this.isSettled ? largest.filter((group) => !this.shown.includes(group)) : largest;
    const places = this.isSettled ? this.shown.map((group) => (largest.includes(group) ? group : free.shift()!)) : [];
    this.shown = [...places, ...free].filter(Boolean);
    this.isSettled = isComplete;
    const { store } = this.app, slots = new Set(this.shown.map(({ slot }) => slot)), others = groups.length - this.shown.length;
    this.layers = this.shown.map<Layer>(({ key, slot, members }, i) => ({
      title: titleOf(store, this.by, key, members), key, slots: [slot], colour: () => groupColour(store.head!, i),
    }));
    if (others > 0)
      this.layers.push({
        title: others === 1 ? '1 other' : `${others} others`, colour: () => store.head!.colours.others[isDark() ? 1 : 0]!,
        slots: Array.from({ length: SLOTS + 1 }, (_, slot) => slot).filter((slot) => !slots.has(slot)),
      });
    return false;
  }
}
