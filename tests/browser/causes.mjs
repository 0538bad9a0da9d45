// Objects of the schema camp.why/1, as camp why --json prints them, and blocks of causes (docs/stream.md).
import { CAUSES, json } from './stream.mjs';

const row = (level, state, cause, who, percent, more = {}) =>
    ({ level, state, cause, who, pid: null, merged: null, percent, time_ns: Math.round(percent * 1e7), waits: null, p50_ns: null, p99_ns: null, longest_ns: null, longest_tid: null, ...more });
export const state = (name, percent, more) => row('state', name, null, null, percent, more);
export const cause = (of, name, percent) => row('cause', of, name, null, percent);
export const who = (of, name, by, percent, more) => row('who', of, name, by, percent, more);

const WAITS = { waits: 1234, p50_ns: 23000, p99_ns: 114085000, longest_ns: 1997847000, longest_tid: 7 };

export const TREE = [
    state('lock', 45.5, WAITS), cause('lock', 'group', 40.25), who('lock', 'group', 'journal', 30), who('lock', 'group', 'order', 10.25), cause('lock', 'not_ended', 5.25),
    state('run_queue', 24.5, WAITS), cause('run_queue', 'group', 20), who('run_queue', 'group', 'batch', 12), who('run_queue', 'group', null, 8, { merged: 5 }), cause('run_queue', 'unknown', 4.5),
    state('on_cpu', 20), state('throttled', 10), cause('throttled', 'quota', 10),
];

export const CHAIN = [
    { step: 1, who: 'order', state: 'lock', percent: 30, cause: 'group', by: 'journal', on_cpu_percent: 20 },
    { step: 2, who: 'journal', state: 'disk', percent: 80.06, cause: 'device', by: 'virtio1-req.0 (irq 36)', on_cpu_percent: 5 },
];

/** An interval that ended so many seconds after the first frame of tests/browser/stream.mjs. */
export const why = (more = {}, seconds = 0) => ({
    schema: 'camp.why/1', time: new Date(1.79e12 + 1000 * seconds).toISOString(), interval_s: 1, subject: 'order', pid: null, threads: 4, time_ns: 4e9,
    sentence: 'order was on a CPU 20.0 % of 1.00 s, ready 34.5 %: 12.0 % behind batch, 10.0 % its own quota; asleep 45.5 %, 88 % of it woken by journal.',
    chain_text: 'order waited 30.0 % in lock for journal, which waited 80.1 % in disk for virtio1-req.0 (irq 36).',
    tree: TREE, calls: [], inflicted: [{ who: 'batch', pid: null, wait_ns: 4e8 }, { who: 'journal', pid: null, wait_ns: 1e8 }], chain: CHAIN,
    losses: { unseen: 2, unattributed_percent: 4.5, others_percent: 0, reduced_percent: 0, groups: 9 }, ...more,
});

/** The words of causes in the head of a stream. */
export const WORDS = { states: ['user', 'run_queue', 'lock'], kinds: ['group', 'timer', 'device', 'unknown', 'not_ended', 'on_cpu'] };
const number = (words, name) => words.indexOf(name);

/** A block of causes. A group is [number, kind, pid, threads, name], a row [group, state, kind, who, ms]. */
export const causes = ({ groups = [], rows = [], devices = [], lengths = [], calls = [], unseen = 0 } = {}) => json(CAUSES, {
    unseen, devices, calls, groups: groups.map(([n, kind, pid, threads, name]) => [n, kind, pid, threads, 0, name]),
    rows: rows.map(([group, of, kind, who, ms]) => [group, number(WORDS.states, of), number(WORDS.kinds, kind), who, ms * 1e6]),
    lengths: lengths.map(([group, of, longest, counts]) => [group, number(WORDS.states, of), longest, counts]),
});

export const STACKS = [
    { state: 'lock', frames: ['main', 'order_all', 'pthread_mutex_lock', 'do_syscall_64_[k]', 'futex_wait_[k]'], ms: 600, sleeps: 30 },
    { state: 'lock', frames: ['main', 'log', 'pthread_mutex_lock', 'do_syscall_64_[k]', 'futex_wait_[k]'], ms: 200, sleeps: 12 },
    { state: 'lock', frames: ['no stack'], ms: 90, sleeps: 2 },
    { state: 'lock', frames: [], ms: 10, sleeps: 1 }, // the same
    { state: 'disk', frames: ['main', 'fsync', 'do_syscall_64_[k]', 'io_schedule_[k]'], ms: 100, sleeps: 5 },
];

/** Opens objects in the view "Why" of a page, as a file of them. */
export async function openCauses(page, objects, name = 'why.json') {
    const content = typeof objects === 'string' ? objects : objects.map((one) => `${JSON.stringify(one)}\n`).join('');
    await page.setInputFiles('#why input[type=file]', { name, mimeType: 'application/json', buffer: Buffer.from(content) });
}

/** Returns where the bars of the tree are, in percent of the width: [{ level, title, from, width }]. */
export const barsOf = (page) => page.locator('#why tr[data-row]').evaluateAll((rows) => rows.map((row) => {
    const bar = row.querySelector('.why-bar i');
    return { level: row.className.replace('why-', ''), title: row.querySelector('th').textContent, from: parseFloat(bar.style.left), width: parseFloat(bar.style.width) };
}));
