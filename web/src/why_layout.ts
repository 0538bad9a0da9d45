// Where the bars of the tree of causes are.
import type { WhyRow } from './why_data';

/** A bar of a row, in percent of the width. */
export interface Span {
  from: number;
  width: number;
}

const DEPTH = { state: 0, cause: 1, who: 2 } as const;

/** Returns the bar of each row. The bars of states are side by side, and those of the parts of a row side by side below
 * its bar. What adds up in the numbers ends at the same place; what does not is cut off at the end of the whole. */
export function barsOf(rows: readonly WhyRow[]): Span[] {
  const next = [0, 0, 0], end = [100, 100, 100]; // of each level
  return rows.map(({ level, percent }) => {
    const depth = DEPTH[level], from = Math.min(next[depth]!, end[depth]!), width = Math.min(percent, end[depth]! - from);
    next[depth] = from + width;
    for (let below = depth + 1; below < 3; below++) {
      next[below] = from;
      end[below] = from + width;
    }
    return { from, width };
  });
}

const SMALL = 0.1; // percent
const FEW = 3; // states that are not worth a line that hides them

/** Returns the index of the first row of the small states at the end, which may be folded into one line; -1: there are
 * too few. */
export function firstSmall(rows: readonly WhyRow[]): number {
  const states = rows.flatMap((row, at) => (row.level === 'state' ? [{ at, isSmall: row.percent < SMALL }] : []));
  const last = states.findLastIndex(({ isSmall }) => !isSmall);
  return states.length - 1 - last >= FEW && last >= 0 ? states[last + 1]!.at : -1;
}
