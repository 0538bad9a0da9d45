// Where the bars of the tree of causes and the frames of the flame graph are.
import type { WhyRow, WhyStack } from './why_data';

/** A bar of a row, in percent of the width. */
export interface Span {
  from: number;
  width: number;
}

const SMALL = 0.1; // percent
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

const FEW = 3; // states that are not worth a line that hides them

/** Puts the states that are idle behind the others, so that what waited for something comes first, and the small states
 * behind all. Within these, the longest stays first. */
export function idleLast(rows: readonly WhyRow[], isIdle: (state: string) => boolean): WhyRow[] {
  const states: WhyRow[][] = [];
  for (const row of rows)
    if (row.level === 'state' || states.length === 0) states.push([row]);
    else states.at(-1)!.push(row);
  const rank = ([first]: WhyRow[]) => (first!.percent < SMALL ? 2 : isIdle(first!.state) ? 1 : 0);
  return states.sort((a, b) => rank(a) - rank(b)).flat();
}

/** Returns the index of the first row of the small states at the end, which may be folded into one line; -1: there are
 * too few. */
export function firstSmall(rows: readonly WhyRow[]): number {
  const states = rows.flatMap((row, at) => (row.level === 'state' ? [{ at, isSmall: row.percent < SMALL }] : []));
  const last = states.findLastIndex(({ isSmall }) => !isSmall);
  return states.length - 1 - last >= FEW && last >= 0 ? states[last + 1]!.at : -1;
}

/** A frame of the flame graph with all sleeps below it. The root is all of them; its children are the states. */
export interface FlameNode {
  kind: 'all' | 'state' | 'frame' | 'unknown'; // unknown: "no stack"
  name: string;
  state: string;
  ms: number;
  sleeps: number;
  parent: FlameNode | null;
  children: FlameNode[]; // the longest first
  index: Map<string, FlameNode>;
}

const nodeOf = (kind: FlameNode['kind'], name: string, state: string, parent: FlameNode | null): FlameNode =>
  ({ kind, name, state, ms: 0, sleeps: 0, parent, children: [], index: new Map() });

/** What tells a node from others with the same parent. */
export const keyOf = ({ kind, name }: Pick<FlameNode, 'kind' | 'name'>): string => `${kind} ${name}`;

function childOf(node: FlameNode, kind: FlameNode['kind'], name: string, state: string): FlameNode {
  const key = keyOf({ kind, name });
  let child = node.index.get(key);
  if (!child) {
    child = nodeOf(kind, name, state, node);
    node.index.set(key, child);
    node.children.push(child);
  }
  return child;
}

const add = (node: FlameNode, { ms, sleeps }: WhyStack): void => {
  node.ms += ms;
  node.sleeps += sleeps;
};

export function flameOf(stacks: readonly WhyStack[]): FlameNode {
  const root = nodeOf('all', 'all sleeps', '', null), all = [root];
  for (const stack of stacks) {
    const { state, frames, isKnown } = stack;
    let node = childOf(root, 'state', state, state);
    const path = [root, node];
    frames.forEach((frame, i) => path.push((node = childOf(node, isKnown || i < frames.length - 1 ? 'frame' : 'unknown', frame, state))));
    for (const one of path) add(one, stack);
    all.push(...path);
  }
  for (const node of new Set(all)) node.children.sort((a, b) => b.ms - a.ms || (a.name < b.name ? -1 : 1));
  return root;
}

/** A frame that is drawn. */
export interface FlameBox extends Span {
  node: FlameNode;
  depth: number;
}

/** Lays out what is below `top`, which has the whole width, with its callers above it. Frames narrower than `least`
 * percent, and those after the first `most`, are left out with what is below them; their number is `hidden`. */
export function layFlame(top: FlameNode, least: number, most: number): { boxes: FlameBox[]; hidden: number } {
  const callers: FlameNode[] = [];
  for (let node = top.parent; node; node = node.parent) callers.unshift(node);
  const boxes: FlameBox[] = callers.map((node, depth) => ({ node, depth, from: 0, width: 100 }));
  const open: FlameBox[] = [{ node: top, depth: callers.length, from: 0, width: 100 }];
  let hidden = 0;
  for (let box = open.pop(); box; box = open.pop()) {
    boxes.push(box);
    let from = box.from;
    const below: FlameBox[] = [];
    for (const node of box.node.children) {
      const width = top.ms > 0 ? (100 * node.ms) / top.ms : 0;
      if (width < least || boxes.length + open.length + below.length >= most) hidden++;
      else below.push({ node, depth: box.depth + 1, from, width });
      from += width;
    }
    open.push(...below.reverse());
  }
  return { boxes, hidden };
}
