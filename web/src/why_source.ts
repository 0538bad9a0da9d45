// Asks the server for the causes of a group's waits, once an interval, as long as the view is open.
import { token } from './source';
import { readAnswer, type WhyAnswer, type WhyGroup, type Why } from './why_data';

const RETRY_MS = 2000; // after a lost connection
const SOON_MS = 250; // until the first interval has been measured
const LATE_MS = 80; // after the end of an interval, until the server has its causes
const KEPT = 300; // intervals

/** Intervals of one group, the oldest first. */
interface Kept {
  key: string;
  why: Why;
}

export class WhySource {
  groups: WhyGroup[] = [];
  /** Why there is nothing to show; '': there is, or will be soon. */
  fault = '';
  isMeasured = false; // an interval has arrived
  private kept: Kept[] = [];
  private timer = 0;
  private isAsking = false;
  private isOver = false; // no question will be answered any more

  /** `subject` returns the number of the group to ask for, or null for all threads. `isOpen` says whether to ask. */
  constructor(private readonly subject: () => number | null, private readonly isOpen: () => boolean, private readonly arrived: () => void) {}

  /** Asks soon, unless that is arranged already. `now`: for another group, which need not wait. */
  ask(now = false): void {
    if (now) {
      clearTimeout(this.timer);
      this.timer = 0;
    }
    if (!this.timer && !this.isAsking && !this.isOver) void this.turn();
  }

  /** The intervals of a group that were read while the view was open. */
  of(group: number | null): Why[] {
    return this.kept.filter(({ key }) => key === String(group)).map(({ why }) => why);
  }

  private async turn(): Promise<void> {
    this.timer = 0;
    if (!this.isOpen()) return;
    this.isAsking = true;
    const group = this.subject();
    const wait = await this.once(group);
    this.isAsking = false;
    if (wait !== null) this.timer = window.setTimeout(() => void this.turn(), group === this.subject() ? wait : 0);
    this.arrived();
  }

  /** Returns how long to wait before the next question; null: none will be answered. */
  private async once(group: number | null): Promise<number | null> {
    try {
      const response = await fetch(group === null ? 'why' : `why/${group}`, { headers: { Authorization: `Bearer ${token() ?? ''}` }, cache: 'no-store' });
      if (response.status === 404 && group !== null) {
        this.fault = 'This group has ended.';
        return RETRY_MS;
      }
      const answer = response.ok ? readAnswer(await response.json()) : null;
      if (!answer) return this.end(`The server answered with status ${response.status}.`);
      return answer.error ? this.end(`The causes cannot be read any more: ${answer.error}`) : this.take(group, answer);
    } catch {
      this.fault = 'The server does not answer.';
      return RETRY_MS;
    }
  }

  private end(fault: string): null {
    this.fault = fault;
    this.isOver = true;
    return null;
  }

  private take(group: number | null, { groups, intervalMs, why }: WhyAnswer): number {
    this.fault = '';
    if (!why) return Math.min(intervalMs, SOON_MS);
    this.groups = groups;
    this.isMeasured = true;
    const key = String(group);
    if (!this.kept.some((one) => one.key === key && one.why.time === why.time)) this.kept.push({ key, why });
    if (this.kept.length > KEPT) this.kept.shift();
    // The server measures an interval after the other; its clock is that of this computer, or nearly.
    const next = why.endMs + intervalMs + LATE_MS - Date.now();
    return Math.min(intervalMs, Math.max(intervalMs / 4, Number.isFinite(next) ? next : intervalMs));
  }
}
