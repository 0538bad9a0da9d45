// Wall clock along a row of frames.

/** Steps of a time axis in ms, from a tenth of a second to a day. */
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800,
  21600, 43200, 86400].map((seconds) => seconds * 1000);

const DAY_MS = 86400_000;

/** "14:03:20", with tenths of seconds if the step is shorter than one. */
export function clock(ms: number, step = 1000): string {
  const date = new Date(ms);
  const two = (n: number) => String(n).padStart(2, '0');
  const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (step >= 60_000) return minutes;
  const seconds = `${minutes}:${two(date.getSeconds())}`;
  return step >= 1000 ? seconds : `${seconds}.${Math.floor(date.getMilliseconds() / 100)}`;
}

/** "2026-03-14 14:03:20" */
function dateAndClock(ms: number): string {
  const date = new Date(ms);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(ms)}`;
}

export interface Tick {
  at: number; // frame f is from f to f + 1: the time is at its place within
  text: string;
}

/** At most `count` round times of frames [from, to). Frames that go back in time have no tick. */
export function ticksOf(from: number, to: number, endMs: (frame: number) => number, count: number): Tick[] {
  const first = endMs(from), last = endMs(to - 1);
  const step = STEPS.find((one) => (last - first) / one <= count) ?? roundDays((last - first) / count);
  const offset = new Date(first).getTimezoneOffset() * 60_000; // midnight is here, not in Greenwich
  let start = first - (to - from > 1 ? endMs(from + 1) - first : 1000); // about: nothing says
  const slotOf = (ms: number) => Math.floor((ms - offset) / step);
  const ticks: Tick[] = [];
  let slot = slotOf(start - 1);
  for (let frame = from; frame < to; frame++) {
    const end = endMs(frame), now = slotOf(end);
    if (now > slot) {
      slot = now;
      const ms = slot * step + offset;
      const part = end > start ? Math.max(0, (ms - start) / (end - start)) : 0;
      ticks.push({ at: frame + part, text: step >= DAY_MS ? dateAndClock(ms).slice(5, 10) : clock(ms, step) });
    }
    start = end;
  }
  return ticks;
}

function roundDays(ms: number): number {
  return Math.ceil(ms / DAY_MS) * DAY_MS;
}
