// Adds up the causes of the shown frames, or their trees of blockers, in turns, so that the page stays responsive with long ranges.
import { BlockerSum } from './blocker_sum';
import { DAMAGED, readCauses } from './cause_block';
import { CauseSum } from './cause_sum';
import type { Store } from './types';

const TURN_MS = 25;

export class CauseRange {
  sum: CauseSum | BlockerSum | null = null;
  without = 0; // frames that have no causes
  fault = ''; // of the last frame whose causes cannot be read
  private from = 0;
  private to = 0;
  private next = 0;

  constructor(private readonly store: Store) {}

  /** Frames that were read, of all. */
  get progress(): [done: number, all: number] {
    return [this.next - this.from, this.to - this.from];
  }

  get isDone(): boolean {
    return this.sum !== null && this.next >= this.to;
  }

  /** Goes on with the sum of the frames [from, to). A group of the key `subject` has a number of its own in it. Call it
   * again, after a picture, until it returns true. */
  read(from: number, to: number, subject: string): boolean {
    const { head } = this.store;
    if (!head?.causes && !head?.blockers) return true;
    if (!this.sum || from !== this.from || to !== this.to || (this.sum.isFull && this.sum.subject !== subject)) {
      [this.from, this.next, this.to] = [from, from, to];
      this.sum = head.causes ? new CauseSum(head.causes, subject) : new BlockerSum();
      this.without = 0;
      this.fault = '';
    }
    for (const end = performance.now() + TURN_MS; this.next < this.to && performance.now() < end; this.next++) this.add(this.sum, this.next);
    return this.isDone;
  }

  private add(sum: CauseSum | BlockerSum, index: number): void {
    const payload = this.store.causes(index), lengthMs = this.store.lengthMs(index);
    if (sum instanceof BlockerSum) {
      if (payload && sum.read(payload, lengthMs)) return;
      this.without++;
      if (payload) this.fault = DAMAGED;
      return;
    }
    const causes = payload && readCauses(payload, sum.words);
    if (causes && !causes.error) sum.add(causes, lengthMs);
    if (!causes || causes.rows.length === 0) this.without++;
    if (causes?.error) this.fault = causes.error;
  }
}
