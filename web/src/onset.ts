// Since when something has lasted: the beginning of the stretch of time to which a frame belongs.

const LEAST = 0.25; // mean number of entities: less is not worth a time
const LASTS = 3; // bins: shorter stretches are not reported
const BEFORE = 10; // bins before it, of which the mean is taken

/** Returns the index at which the level of values[at] began; null if it is short, small, or has always been there.
 * It goes on while the values are at least half the level; before it, they were at most a quarter. One value that is
 * different from both its neighbours changes nothing. */
export function onsetOf(values: ArrayLike<number>, at: number): number | null {
  const calm = (i: number) => medianOf(values[Math.max(0, i - 1)]!, values[i]!, values[Math.min(values.length - 1, i + 1)]!);
  const level = calm(at);
  if (!(level >= LEAST)) return null;
  let begin = at, end = at + 1;
  while (begin > 0 && calm(begin - 1) >= level / 2) begin--;
  while (begin < at && values[begin]! < level / 2) begin++; // a gap is no beginning
  while (end < values.length && end - begin < LASTS && calm(end) >= level / 2) end++;
  const earlier = Math.min(BEFORE, begin);
  if (end - begin < LASTS || earlier < LASTS) return null;
  let sum = 0;
  for (let i = begin - earlier; i < begin; i++) sum += values[i]!;
  return sum / earlier <= level / 4 ? begin : null;
}

const medianOf = (a: number, b: number, c: number): number => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
