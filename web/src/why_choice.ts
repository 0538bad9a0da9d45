// Which group of the ledger of causes the choices in other views mean: its groups are names of processes.
import type { App } from './types';
import { plain, type WhyGroup } from './why_data';

const KERNEL = 'kernel threads';

/** Returns the name of the one group of some entities: that of their process; null: they are of several, or of none. */
export function groupNameOfAll({ store }: App, entities: Iterable<number>): string | null {
  const kind = store.head?.kind, some = [...entities].map((n) => store.entities[n]).filter((entity) => entity !== undefined);
  if (kind !== 'threads' && kind !== 'processes') return null;
  const pids = new Set(some.map(({ pid }) => pid)); // a process has the name of its first thread
  const first = new Map(store.entities.filter(({ id, pid }) => id === pid && pids.has(pid)).map(({ pid, name }) => [pid, name] as const));
  const names = new Set(some.map(({ kernel, pid, name }) => (kernel ? KERNEL : plain(first.get(pid) ?? name))));
  return names.size === 1 ? [...names][0]! : null;
}

export const groupNamed = (groups: readonly WhyGroup[], name: string): WhyGroup | undefined => groups.find((group) => group.name === name);

/** Names of processes by the alphabet, then the groups of many processes. */
export function sortedGroups(groups: readonly WhyGroup[]): WhyGroup[] {
  const isMany = ({ kind }: WhyGroup) => Number(kind !== 'name' && kind !== 'process');
  return [...groups].sort((a, b) => isMany(a) - isMany(b) || (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
}
