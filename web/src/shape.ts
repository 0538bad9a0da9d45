// Does a value from JSON have the form that docs/stream.md describes? Views rely on it.

/** An example of the form has values of the right types. An array has one example for all its
 * elements. A key that ends in "?" may be absent. */
export function isLike(value: unknown, example: unknown): boolean {
  if (Array.isArray(example)) return Array.isArray(value) && value.every((one) => isLike(one, example[0]));
  if (typeof example !== 'object' || example === null) return typeof value === typeof example;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(example).every(([name, of]) => {
    const key = name.replace('?', ''), member = (value as Record<string, unknown>)[key];
    return (key !== name && member === undefined) || isLike(member, of);
  });
}

const AXES = [{ name: '', states: [0] }];
const HEAD = {
  'title?': '', source: '', kind: '', tier: '', note: '', host: '', live: false, interval_ms: 0, frames: 0,
  states: [{ name: '', title: '', help: '', provenance: '', class: '' }],
  classes: [{ name: '', title: '', light: '', dark: '' }],
  'from?': '', 'below?': '', 'causes?': { states: [''], kinds: [''] }, 'blockers?': false, 'labels?': [''],
  colours: { axes3: [''], axes3_dark: [''], axes4: [''], axes4_dark: [''], groups: [''], groups_dark: [''], others: [''] },
};

export function isHead(value: { axes3?: unknown; axes4?: unknown }): boolean {
  return isLike(value, HEAD) && [value.axes3, value.axes4].every((axes) => axes === null || isLike(axes, AXES));
}

export function isEntity(value: unknown): boolean {
  return isLike(value, { n: 0, id: 0, 'pid?': 0, 'parent?': 0, 'uid?': 0, name: '', 'kernel?': false, 'labels?': {} }) &&
    isLike(Object.values((value as { labels?: object }).labels ?? {}), ['']);
}
