// The blockers in the shown frames of database sessions, as trees: the rules and the words are those of camp why
// (src/ledger/blockers, src/commands/why/why_blockers.c), and a test compares both.
import { checked, list, text, whole } from './cause_block';
import type { BlockerRow, Why } from './why_data';

const NS = 1e6; // a millisecond
const DEPTH = 1e5;

interface Session {
  name: string; // "31178 (migrate)"
  activity: string; // of one that blocks: "idle in transaction for 41 s"
  statement: string;
  server: string; // '': there is one
}

/** The sessions that waited for a session, of one root. */
interface Below {
  root: number;
  blocker: number;
  times: Map<number, number>; // ns of each
  isShown: boolean;
}

type Edge = [waiting: number, ns: number];

export class BlockerSum {
  readonly groups = [];
  readonly isFull = false;
  readonly subject = '';
  private ms = 0; // the length of all intervals
  private contention = 0; // ns
  private known = 0; // of it
  private readonly sessions = new Map<number, Session>(); // as they were last
  private readonly below = new Map<string, Below>();

  /** Adds the block of a frame (docs/stream.md). Returns whether it is as described. */
  read(payload: ArrayBuffer, lengthMs: number): boolean {
    const block = checked(payload, (value) => {
      const rows = (name: string) => list(value[name]).map((row) => list(row)), statements = list(value.statements).map(text);
      const sessions = rows('sessions').map(([id, name, activity, statement, hasRow, server = '']) =>
        ({ id: whole(id), name: text(name), activity: text(activity), statement: statements[whole(statement, statements.length - 1)]!, hasRow: whole(hasRow) > 0, server: text(server) }));
      let deepest = 0;
      const nodes = rows('nodes').map(([depth, session, ns]) => {
        const node = { depth: whole(depth, deepest), id: sessions[whole(session, sessions.length - 1)]!.id, ns: whole(ns) };
        deepest = Math.min(node.depth + 1, DEPTH);
        return node;
      });
      return { contention: whole(value.contention), sessions, nodes };
    });
    if (!block) return false;
    this.ms += lengthMs;
    this.contention += block.contention;
    for (const { id, hasRow, ...session } of block.sessions) {
      const before = this.sessions.get(id);
      if (!before || hasRow) this.sessions.set(id, { ...session, activity: session.activity || (before?.activity ?? '') });
    }
    const path: number[] = [];
    for (const { depth, id, ns } of block.nodes) {
      path[depth] = id;
      if (depth > 0 && ns > 0) this.add(path[0]!, path[depth - 1]!, id, ns);
    }
    return true;
  }

  private add(root: number, blocker: number, waiting: number, ns: number): void {
    const key = `${root} ${blocker}`, below = this.below.get(key) ?? { root, blocker, times: new Map<number, number>(), isShown: false };
    this.below.set(key, below);
    below.times.set(waiting, (below.times.get(waiting) ?? 0) + ns);
    this.known += ns;
  }

  /** The rows of a tree, the root first; those that waited longest for a session come first. */
  private treeOf(root: number, all: Below[]): BlockerRow[] {
    const rows: BlockerRow[] = [];
    const add = (id: number, depth: number, ns: number, isRepeated: boolean) => rows.push({ id, depth, ms: ns / NS, blockingMs: 0, waiting: 0, isRepeated, ...this.sessions.get(id)! });
    const edgesOf = (below: Below): Edge[] => {
      below.isShown = true;
      return [...below.times].sort((a, b) => b[1] - a[1] || a[0] - b[0]).reverse();
    };
    /** Adds what is below a session, which is entered once. */
    const descend = (from: Below | undefined, depth: number) => {
      const open = from ? [edgesOf(from)] : [];
      while (open.length > 0) {
        const edge = open.at(-1)!.pop();
        if (!edge) {
          open.pop();
          continue;
        }
        const next = this.below.get(`${root} ${edge[0]}`);
        add(edge[0], depth + open.length, edge[1], next?.isShown === true);
        if (next && !next.isShown) open.push(edgesOf(next));
      }
    };
    add(root, 0, 0, false);
    descend(this.below.get(`${root} ${root}`), 0);
    // The chain to these blockers was not in the same interval, or not its longest.
    for (const below of all.filter(({ isShown }) => !isShown)) {
      add(below.blocker, 1, 0, false);
      descend(below, 1);
    }
    const sums: number[] = []; // of the rows that were passed at each depth, with those below
    for (const row of [...rows].reverse()) {
      row.blockingMs = sums[row.depth + 1] ?? 0;
      sums[row.depth + 1] = 0;
      sums[row.depth] = (sums[row.depth] ?? 0) + row.blockingMs + row.ms;
    }
    rows[0]!.waiting = new Set(rows.map(({ id }) => id)).size - 1;
    return rows;
  }

  /** The tree with most time first. */
  private get trees(): BlockerRow[][] {
    const all = [...this.below.values()].sort((a, b) => a.root - b.root || a.blocker - b.blocker);
    const byRoot = new Map<number, Below[]>();
    for (const below of all) {
      below.isShown = false;
      const known = byRoot.get(below.root);
      if (known) known.push(below);
      else byRoot.set(below.root, [below]);
    }
    return [...byRoot].map(([root, some]) => this.treeOf(root, some)).sort((a, b) => b[0]!.blockingMs - a[0]!.blockingMs);
  }

  why(endMs: number): Why {
    const blockers = this.trees.flat(), seconds = (ns: number) => (ns / 1e9).toFixed(3), unknown = Math.max(this.contention - this.known, 0), percent = this.contention > 0 ? (100 * unknown) / this.contention : 0;
    return {
      time: '', endMs, seconds: this.ms / 1000, intervals: 1, subject: '', threads: 0, ms: 0, sentence: sentenceOf(blockers[0]), tree: [], calls: [], inflicted: [], chain: [],
      unseen: 0, unattributed: 0, others: 0, reduced: 0, stacks: [], blockers,
      note: percent >= 0.05 ? `Of ${seconds(this.contention)} s of contention ${seconds(unknown)} s (${percent.toFixed(1)} %) were for others than the longest blocker, or unknown: waits of which no sample found the blocker, and locks of the server itself.` : '',
    };
  }
}

function sentenceOf(root: BlockerRow | undefined): string {
  if (!root) return 'No session waited for a known session.';
  const { waiting, blockingMs, name, activity, statement, server } = root, waited = blockingMs / 1000;
  return `${waiting} session${waiting === 1 ? '' : 's'} waited ${waited.toFixed(waited < 9.995 ? 2 : 1)} s for ${name}${server && ` of ${server}`}${activity && `, ${activity}`}${statement && `: ${statement}`}`;
}
