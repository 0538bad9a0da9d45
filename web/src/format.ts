// Numbers as text: shares in %, times of the day.

const ROUNDING = 1e-5; // of sums, in %

/** 0.1234 as "12.3 %". Never "0 %" or "100 %" unless exact. */
export function percent(share: number): string {
  const value = 100 * share;
  const size = Math.abs(value);
  if (size > ROUNDING && size < 0.005) return `${value < 0 ? '−' : ''}< 0.01 %`;
  if (size >= 99.995 && size < 100 - ROUNDING) return `${value < 0 ? '−' : ''}> 99.99 %`;
  const digits = size > 0 && (size < 1 || (size > 99 && size < 100)) ? 2 : 1;
  return `${value.toFixed(digits).replace(/\.0+$/, '')} %`.replace('-', '−');
}

/** Milliseconds in a suitable unit: "1.20 s", "340 ms", "12.0 µs". */
export function duration(ms: number): string {
  const units: [number, string][] = [[3600e3, 'h'], [60e3, 'min'], [1e3, 's'], [1, 'ms'], [1e-3, 'µs'], [1e-6, 'ns']];
  if (ms === 0) return '0 s';
  const size = Math.abs(ms);
  const [unit, name] = units.find(([least]) => size >= least) ?? [1e-6, 'ns'];
  return `${threeDigits(ms / unit)} ${name}`.replace('-', '−');
}

function threeDigits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** 12345 as "12,345". */
const whole = new Intl.NumberFormat('en-US');
export const count = (value: number): string => whole.format(value);

/** "23:14:37.250", local; shortened to what a step of so many ms needs: "23:14:37", "23:14". */
export function clock(ms: number, step = 1): string {
  const date = new Date(ms);
  if (!Number.isFinite(date.getTime())) return '?';
  const text = `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
  return text.slice(0, step >= 60_000 ? 5 : step >= 1000 ? 8 : step >= 100 ? 10 : 12);
}
