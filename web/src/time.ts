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
  frame: number; // the first that ends at or after the time; a fraction of a frame is not said
  text: string;
}

/** At most `count` round times of frames [from, to). Frames that go back in time have no tick. */
export function ticksOf(from: number, to: number, endMs: (frame: number) => number, count: number): Tick[] {
  const first = endMs(from), last = endMs(to - 1);
  const step = STEPS.find((one) => (last - first) / one <= count) ?? roundDays((last - first) / count);
  const offset = new Date(first).getTimezoneOffset() * 60_000; // midnight is here, not in Greenwich
  const slotOf = (ms: number) => Math.floor((ms - offset) / step);
  const ticks: Tick[] = [];
  let slot = slotOf(first - 1);
  for (let frame = from; frame < to; frame++) {
    const now = slotOf(endMs(frame));
    if (now <= slot) continue;
    slot = now;
    const ms = slot * step + offset;
    ticks.push({ frame, text: step >= DAY_MS ? dateAndClock(ms).slice(5, 10) : clock(ms, step) });
  }
  return ticks;
}

function roundDays(ms: number): number {
  return Math.ceil(ms / DAY_MS) * DAY_MS;
}
