// The names of the lines of the ranking. Where several lines have one name, their ids tell them apart.
import type { Group, RankedGroups, Sum } from './ranked_groups';
import type { Store } from './types';
import { numberOf } from './ui';

/** One line: a group, or all groups that are short-lived. */
export interface Line {
  key: string;
  groups: Group[];
  sum: Sum;
}

export const SHORT = '\0'; // the key of the line of short-lived groups; no name contains it

export class LineNames {
  private readonly repeated = new Set<string>(); // names of several processes, or of several single entities

  constructor(private readonly store: Store, private readonly ranked: RankedGroups, lines: readonly Line[]) {
    const seen = new Set<string>();
    if (ranked.by !== 'pid' && ranked.by !== 'none') return;
    for (const line of lines) {
      const title = this.title(line);
      if (seen.has(title)) this.repeated.add(title);
      seen.add(title);
    }
  }

  title({ key, groups }: Line): string {
    return key === SHORT ? 'short-lived' : this.ranked.title(groups[0]!);
  }

  /** The id of a process or of a single entity, if another line has the same name; '' otherwise. */
  id(line: Line): string {
    if (line.key === SHORT || !this.repeated.has(this.title(line))) return '';
    if (this.ranked.by === 'pid') return line.key;
    const [n] = line.groups[0]!.members, entity = this.store.entities[n!];
    return entity?.id ? numberOf(entity) : '';
  }

  /** Both. */
  of(line: Line): string {
    return `${this.title(line)} ${this.id(line)}`.trimEnd();
  }
}
