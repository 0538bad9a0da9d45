// Synthetic loads that look real, for screenshots and measurements of speed.
import { frame, entities, head, json, END } from './stream.mjs';

/** A random generator with the same numbers in each run. */
export function random(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let t = Math.imul(state ^ (state >>> 15), state | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

export const STATES = ['user', 'system', 'disk', 'lock', 'socket', 'timer', 'run_queue'];
export const AXES3 = [
    { name: 'CPU', states: [0, 1] }, { name: 'idle', states: [4, 5] }, { name: 'waiting', states: [2, 3, 6] },
];
export const AXES4 = [
    { name: 'CPU', states: [0, 1] }, { name: 'idle', states: [4, 5] }, { name: 'I/O', states: [2] }, { name: 'contention', states: [3, 6] },
];
const KINDS = [
    ['postgres', 0.34, [0.30, 0.06, 0.34, 0.06, 0.20, 0, 0.04]], ['nginx', 0.2, [0.10, 0.10, 0.01, 0, 0.76, 0, 0.03]],
    ['java', 0.2, [0.52, 0.05, 0.02, 0.20, 0.05, 0.05, 0.11]], ['backup', 0.06, [0.08, 0.20, 0.68, 0, 0.02, 0, 0.02]],
    ['cc1', 0.1, [0.78, 0.05, 0.02, 0, 0, 0, 0.15]], ['cron', 0.1, [0.003, 0.002, 0, 0, 0.01, 0.985, 0]],
];

export function made({ count = 400, frames = 60, seed = 7, unclean = 0.02, ...others } = {}) {
    const next = random(seed);
    const tasks = Array.from({ length: count }, () => {
        let left = next();
        return KINDS.find(([, share]) => (left -= share) < 0) ?? KINDS[5];
    });
    const phase = tasks.map(() => [next() * 6.28, 0.5 + next(), next()]);
    const row = (n, t) => {
        const [p, speed, own] = phase[n];
        const raw = tasks[n][2].map((share, s) => share * Math.exp(1.3 * Math.sin(t * 0.09 * speed + p + s * 1.7) + (own - 0.5)) + 0);
        const sum = raw.reduce((a, b) => a + b, 0);
        const kept = own < unclean ? 0.9 : own > 1 - unclean / 2 ? 1.04 : 1;
        return { n, shares: raw.map((share) => (share / sum) * kept) };
    };
    return Buffer.concat([
        head({ states: STATES, axes3: AXES3, axes4: AXES4, host: 'db1', source: 'threads', tier: 'bpf', frames, ...others }),
        entities(tasks.map(([name], n) => ({ name, pid: 1000 + Math.floor(n / 8) * 8, uid: n % 5 === 0 ? 0 : 1000 }))),
        ...Array.from({ length: frames }, (_, t) => frame(STATES.length, tasks.map((_, n) => row(n, t)), { index: t, key: t % 64 === 0 })),
        json(END, { reason: 'the recording has no more' }),
    ]);
}
