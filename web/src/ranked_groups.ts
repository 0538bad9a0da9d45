// The groups of the ranking, their active time in a frame, and its history in bins of frames.
//
// Groups change while a live source runs: processes start and end. An entity is assigned again only
// if the store has described it again, and a group without members is forgotten.
import { activeClasses, activeOf } from './classes';
import { onsetOf } from './onset';
import { SMALL } from './ranking_parts';
import type { Reader } from './series';
import type { Entity, Frame, GroupBy, Head, Store } from './types';
import { keyOf, titleOf } from './ui';

const BINS_MAXIMUM = 128;
const FORGET_EVERY = 64; // frames
const NEW = 1, ENDED = 2; // flags of a frame's row

export interface Group {
  key: string;
  members: Set<number>; // entities
  frames: number; // the number of frames read that have a member
  lastFrame: number; // the last of them
  isWithin: boolean; // a member started and ended within the last of them
  times: Float64Array; // [classes without idle] active time in the last of them, in intervals
}

/** What a group did in one frame, or in the mean of several. Times are in intervals. */
export interface Sum {
  group: Group;
  present: number; // members in the frame
  parked: number; // members that were in a lock all the time, which is not active time
  active: number;
  times: Float64Array; // [classes without idle] active time
  elapsed: number;
}

/** What a group did before. */
export interface Before {
  active: number; // in intervals
  kind: number; // the class with most of it; -1: none
}

/** Active time of some frames. */
interface Bin {
  lengthMs: number;
  times: Map<Group, number>; // in ms
  kinds: Map<Group, number>; // the class with most of it in the last frame, unless that is small
}

export class RankedGroups implements Reader {
  next: number;
  private size = 1; // frames a bin
  private firstBin: number;
  private bins: Bin[] = [];
  private readonly groups = new Map<string, Group>();
  private readonly of: (Group | undefined)[] = [];
  private readonly known: Entity[] = [];
  private version = -1; // Store.entitiesVersion of `of`

  constructor(private readonly store: Store, readonly by: GroupBy) {
    this.next = this.firstBin = store.firstFrame;
  }

  groupOf(n: number): Group | undefined {
    this.update();
    return this.of[n];
  }

  find(key: string): Group | undefined {
    this.update();
    return this.groups.get(key);
  }

  title(group: Group): string {
    return titleOf(this.store, this.by, group.key, group.members);
  }

  private update(): void {
    if (this.version === this.store.entitiesVersion) return;
    this.version = this.store.entitiesVersion;
    for (const entity of this.store.entities) {
      if (this.known[entity.n] === entity) continue;
      this.known[entity.n] = entity;
      this.move(entity.n, keyOf(entity, this.by));
    }
  }

  private move(n: number, key: string): void {
    const before = this.of[n];
    if (before?.key === key) return;
    before?.members.delete(n);
    if (before?.members.size === 0) this.groups.delete(before.key);
    let group = this.groups.get(key);
    if (!group) this.groups.set(key, (group = this.made(key)));
    group.members.add(n);
    this.of[n] = group;
  }

  private made(key: string): Group {
    const times = new Float64Array(activeClasses(this.store.head!).length);
    return { key, members: new Set(), frames: 0, lastFrame: -1, isWithin: false, times };
  }

  /** Adds up the rows of a frame by group; `chosen`: only these entities. */
  sums(frame: Frame, head: Head, chosen: ReadonlySet<number> | null): Map<Group, Sum> {
    this.update();
    const active = activeOf(frame, head), sums = new Map<Group, Sum>();
    for (let row = 0; row < frame.count; row++) {
      const n = frame.entity[row]!, group = this.of[n];
      if (!group || (chosen && !chosen.has(n))) continue;
      let sum = sums.get(group);
      if (!sum) {
        sum = { group, present: 0, parked: 0, active: 0, times: new Float64Array(active.classes.length), elapsed: 0 };
        sums.set(group, sum);
      }
      sum.present++;
      sum.parked += active.parked[row]!;
      sum.active += active.sums[row]!;
      sum.elapsed += frame.elapsed[row]!;
      if (active.sums[row]! > 0) for (let i = 0; i < sum.times.length; i++) sum.times[i]! += active.times[i]![row]!;
    }
    return sums;
  }

  read(frame: Frame): void {
    this.update();
    this.forget();
    let at = Math.floor(frame.index / this.size) - this.firstBin;
    if (at > this.bins.length) {
      // The ranking was hidden for so long that its next frame was dropped.
      this.bins = [];
      this.firstBin += at;
      at = 0;
    }
    if (at === this.bins.length) this.bins.push({ lengthMs: 0, times: new Map(), kinds: new Map() });
    this.add(this.bins[at]!, frame);
    if (this.size > 1 && (frame.index + 1) % Math.min(this.size, FORGET_EVERY) === 0) this.forgetShort(this.bins[at]!, frame.index);
    if (this.bins.length > BINS_MAXIMUM) this.merge(frame.index);
  }

  private add(bin: Bin, frame: Frame): void {
    const { sums, times } = activeOf(frame, this.store.head!);
    bin.lengthMs += frame.lengthMs;
    for (let row = 0; row < frame.count; row++) {
      const group = this.of[frame.entity[row]!], flags = frame.flags[row]!;
      if (!group) continue;
      if (group.lastFrame !== frame.index) {
        group.frames++;
        group.lastFrame = frame.index;
        group.isWithin = false;
        group.times.fill(0);
      }
      if ((flags & (NEW | ENDED)) === (NEW | ENDED)) group.isWithin = true;
      if (sums[row]! === 0) continue;
      bin.times.set(group, (bin.times.get(group) ?? 0) + sums[row]! * frame.lengthMs);
      const own = group.times;
      for (let i = 0; i < own.length; i++) own[i]! += times[i]![row]!;
      const kind = mostOf(own);
      if (own[kind]! >= SMALL && bin.kinds.get(group) !== kind) bin.kinds.set(group, kind);
    }
  }

  /** Was the group in one frame only? In the first and in the newest frame this is unknown, unless a
   * member started and ended within the frame. */
  isShortLived({ frames, lastFrame, isWithin }: Group): boolean {
    const { firstFrame, endFrame } = this.store;
    return frames === 1 && (isWithin || (lastFrame > firstFrame && lastFrame < endFrame - 1));
  }

  private forget(): void {
    const gone = Math.min(Math.floor(this.store.firstFrame / this.size) - this.firstBin, this.bins.length);
    if (gone <= 0) return;
    this.bins.splice(0, gone);
    this.firstBin += gone;
  }

  private merge(newest: number): void {
    const odd = this.firstBin % 2, merged: Bin[] = [];
    this.bins.forEach((bin, i) => {
      const at = (i + odd) >> 1, into = merged[at];
      if (!into) return void (merged[at] = bin);
      into.lengthMs += bin.lengthMs;
      for (const [group, time] of bin.times) into.times.set(group, (into.times.get(group) ?? 0) + time);
      for (const [group, kind] of bin.kinds) into.kinds.set(group, kind);
    });
    for (const bin of merged) this.forgetShort(bin, newest);
    this.bins = merged;
    this.firstBin = (this.firstBin - odd) / 2;
    this.size *= 2;
  }

  /** Drops ended and short-lived groups, which would fill the memory of a page that is open for days.
   * Whether a group of the newest frame that was read is short-lived is not known yet. */
  private forgetShort({ times, kinds }: Bin, newest: number): void {
    for (const group of times.keys()) {
      if (group.members.size > 0 && (group.lastFrame >= newest || !this.isShortLived(group))) continue;
      times.delete(group);
      kinds.delete(group);
    }
  }

  /** Returns the active time of groups in each bin, in intervals. */
  history(groups: readonly Group[]): number[] {
    return this.bins.map(({ lengthMs, times }) => groups.reduce((sum, group) => sum + (times.get(group) ?? 0), 0) / (lengthMs || 1));
  }

  /** Returns what was usual for a group before a frame, by the bins before its present level began or by all earlier
   * bins: the median active time, or the mean if it was seldom active, and the class of most bins. null: there are no
   * earlier bins. */
  before(group: Group, frame: number): Before | null {
    const at = Math.min(this.bins.length, Math.floor(frame / this.size) - this.firstBin);
    if (at <= 0) return null;
    const history = this.history([group]), end = onsetOf(history, Math.min(at, history.length - 1)) ?? at;
    const sorted = history.slice(0, end).sort((a, b) => a - b), middle = end >> 1;
    const median = end % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
    const kinds = group.times.map(() => 0);
    for (const bin of this.bins.slice(0, end)) {
      const kind = bin.kinds.get(group);
      if (kind !== undefined) kinds[kind]!++;
    }
    return { active: median > 0 ? median : sorted.reduce((sum, time) => sum + time, 0) / end, kind: mostOf(kinds) };
  }

  /** The frames [from, to) of the bins. */
  get span(): [from: number, to: number] {
    return [this.firstBin * this.size, Math.max(this.next, this.firstBin * this.size + 1)];
  }

  get lengthMs(): number {
    return this.bins.reduce((sum, bin) => sum + bin.lengthMs, 0);
  }
}

/** The index of the largest value above 0; -1: there is none. */
export function mostOf(values: ArrayLike<number>): number {
  let most = -1;
  for (let i = 0; i < values.length; i++) if (values[i]! > (most < 0 ? 0 : values[most]!)) most = i;
  return most;
}

/** What the rows of a source are added up by unless the user chooses: the processes of threads, the
 * applications of sessions; a host is a row of its own. */
export function defaultGrouping(head: Head, offered: GroupBy[]): GroupBy {
  const wanted: Record<string, GroupBy[]> = {
    threads: ['pid', 'name'], sessions: ['label:application', 'label:user', 'label:database', 'name'],
  };
  return (wanted[head.kind] ?? ['none']).find((by) => offered.includes(by)) ?? 'none';
}
