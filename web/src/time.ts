// The wall clock on an axis of frames.
import { clock } from './format';

/** Steps of a time axis in ms, from a tenth of a second to a day. */
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800,
  21600, 43200, 86400].map((seconds) => seconds * 1000);

const DAY_MS = 86400_000;

/** "03-14" */
function day(ms: number): string {
  const date = new Date(ms);
  return [date.getMonth() + 1, date.getDate()].map((n) => String(n).padStart(2, '0')).join('-');
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** "20 Nov", local. */
export function dateText(ms: number): string {
  const date = new Date(ms);
  return Number.isFinite(date.getTime()) ? `${date.getDate()} ${MONTHS[date.getMonth()]}` : '?';
}

/** The local zone at a time: "UTC+1", "UTC−3:30", "UTC". */
export function zoneText(ms: number): string {
  const minutes = -new Date(ms).getTimezoneOffset();
  if (!minutes) return 'UTC';
  const hours = Math.floor(Math.abs(minutes) / 60), rest = Math.abs(minutes) % 60;
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest ? `:${String(rest).padStart(2, '0')}` : ''}`;
}

/** The ticks with the date at the first one and where a day starts, if they are of several days. */
export function withDates(ticks: Tick[]): Tick[] {
  const dates = ticks.map(({ ms }) => dateText(ms));
  if (dates[0] === dates.at(-1) || ticks.some(({ text }) => !text.includes(':'))) return ticks;
  return ticks.map((tick, i) => (dates[i] === dates[i - 1] ? tick : { ...tick, text: `${dates[i]} ${tick.text}` }));
}

/** How far behind: "12 s behind", "2 min 5 s behind". */
export function behindText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 1) return ms > 0 ? `${Math.round(ms)} ms behind` : '';
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours > 0) return `${hours} h ${minutes} min behind`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s behind` : `${seconds} s behind`;
}

export interface Tick {
  at: number; // in frames: 2.25 is a quarter of frame 2 after its start
  text: string;
  ms: number; // its wall clock
}

/** The interval of a frame: wall clock in ms, and its length. */
export interface Times {
  endMs: number;
  lengthMs: number;
}

const ROUNDING = 1e-3; // ms

/** Returns about `count` round times of frames [from, to), each at its place within a frame. If
 * there are several in a gap between two frames, only the last has a tick, at the border of the
 * frames. Frames that go back in time have no ticks. */
export function ticksOf(from: number, to: number, timesOf: (frame: number) => Times, count: number): Tick[] {
  const { endMs, lengthMs } = timesOf(from), first = endMs - lengthMs, last = timesOf(to - 1).endMs;
  const step = STEPS.find((one) => (last - first) / one <= count) ?? roundDays((last - first) / count);
  const offset = new Date(first).getTimezoneOffset() * 60_000; // local midnight
  const slotOf = (ms: number) => Math.floor((ms - offset + ROUNDING) / step);
  const ticks: Tick[] = [];
  let slot = slotOf(first - 2 * ROUNDING);
  for (let frame = from; frame < to; frame++) {
    const times = timesOf(frame), begin = times.endMs - times.lengthMs, end = slotOf(times.endMs);
    for (slot = Math.max(slot, Math.min(end, slotOf(begin) - 1)); slot < end;) {
      const ms = ++slot * step + offset, within = Math.max(0, ms - begin) / times.lengthMs;
      ticks.push({ at: frame + Math.min(1, within || 0), text: step >= DAY_MS ? day(ms) : clock(ms, step), ms });
    }
  }
  return ticks;
}

/** Writes texts below an axis, centred on the ticks but within [0, width]; none covers another. */
export function writeTicks(context: CanvasRenderingContext2D, ticks: { x: number; text: string }[], y: number, width: number): void {
  context.textAlign = 'center';
  let free = -Infinity;
  for (const { x, text } of ticks) {
    const half = context.measureText(text).width / 2, middle = Math.max(half, Math.min(width - half, x));
    if (middle - half < free) continue;
    context.fillText(text, middle, y);
    free = middle + half + 6;
  }
}

function roundDays(ms: number): number {
  return Math.ceil(ms / DAY_MS) * DAY_MS;
}
