// Three entities, each in one of three states, for tests of broken data and of a server.
import { colour, spots, text } from './harness.mjs';
import { entities, frame, head } from './stream.mjs';

export const STATES = ['user', 'sleep', 'disk'];
export const NAMES = ['a', 'b', 'c'];
export const ROWS = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((shares, n) => ({ n, shares }));
export const begin = (others) => Buffer.concat([head({ states: STATES, idle: false, ...others }), entities(NAMES)]);
export const one = (index = 0) => frame(3, ROWS, { index });
/** A frame of so many seconds ago. */
export const frameAgo = (seconds) => frame(3, ROWS, { index: (Date.now() - 1.79e12) / 1000 - seconds });
export const status = (page) => text(page, '.status');

export const dotCount = async (page) => (await spots(page, '.barry3', await colour(page, 'dot'))).length;
