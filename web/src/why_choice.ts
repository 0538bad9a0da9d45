// Which group of the ledger of causes the choices in other views mean: its groups are names of processes.
import { KERNEL, NAME, PROCESS } from './cause_block';
import { groupName, type SumGroup } from './cause_sum';
import type { App } from './types';
import { plain } from './why_data';

const KERNEL_NAME = groupName({ kind: KERNEL, pid: 0, name: '' });

/** Of a process, its pid; of several with one name, that name. */
export interface Wanted {
  name: string;
  pid: number; // 0: there are several
}

/** Returns what some entities have in common: a process or the name of processes; null: they are of several names. */
export function wantedOf({ store }: App, entities: Iterable<number>): Wanted | null {
  const kind = store.head?.kind, some = [...entities].map((n) => store.entities[n]).filter((entity) => entity !== undefined);
  if (kind !== 'threads' && kind !== 'processes') return null;
  const pids = new Set(some.map(({ pid }) => pid)); // a process has the name of its first thread
  const first = new Map(store.entities.filter(({ id, pid }) => id === pid && pids.has(pid)).map(({ pid, name }) => [pid, name] as const));
  const names = new Set(some.map(({ kernel, pid, name }) => (kernel ? KERNEL_NAME : plain(first.get(pid) ?? name))));
  return names.size === 1 ? { name: [...names][0]!, pid: pids.size === 1 ? [...pids][0]! : 0 } : null;
}

export const groupNamed = (groups: readonly SumGroup[], name: string): SumGroup | undefined => groups.find((group) => groupName(group) === name);

/** A process has a group of its own, or that of its name. */
export function groupWanted(groups: readonly SumGroup[], { name, pid }: Wanted): SumGroup | undefined {
  return (pid > 0 ? groups.find((group) => group.kind === PROCESS && group.pid === pid) : undefined) ?? groupNamed(groups, name);
}

/** Names of processes by the alphabet, then the groups of many processes. */
export function sortedGroups(groups: readonly SumGroup[]): SumGroup[] {
  const isMany = ({ kind }: SumGroup) => Number(kind < NAME);
  return [...groups].sort((a, b) => isMany(a) - isMany(b) || (groupName(a).toLowerCase() < groupName(b).toLowerCase() ? -1 : 1));
}
