// The view "Why" of database sessions: who blocks whom, as trees. Of a recording the page shows what camp why --from shows.
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { still, test, text } from './harness.mjs';
import { block, CAUSES, entities, END, frame, head, json, stream } from './stream.mjs';
import { show } from './views.mjs';

const CAMP = process.env.CAMP ?? fileURLToPath(new URL('../../build/gcc/src/camp', import.meta.url));
/** Three sessions of PostgreSQL: one holds a row, two wait in a chain, and the first one commits in the third interval. */
const RECORDING = fileURLToPath(new URL('blockers_recorded.camp', import.meta.url));
const STATES = ['cpu', 'contention', 'idle'];

/** The end of each interval, in ms. */
const TIMES = `import sqlite3, sys
ticks = sqlite3.connect(sys.argv[1]).execute("SELECT wall_clock_ns FROM tick ORDER BY tick")
print(*[end // 1000000 for end, in ticks])`;

function run(program, ...words) {
    const { status, stdout, stderr, error } = spawnSync(program, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
    assert.equal(status, 0, `${program} ${words.join(' ')}: ${error ?? stderr}`);
    return stdout;
}

/** Three digits in a suitable unit, as web/src/format.ts writes it; '' for no time. */
function duration(ns) {
    if (!ns) return '';
    const ms = ns / 1e6, [unit, name] = [[3600e3, 'h'], [60e3, 'min'], [1e3, 's'], [1, 'ms'], [1e-3, 'µs'], [1e-6, 'ns']].find(([least]) => ms >= least);
    const value = ms / unit;
    return `${value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)} ${name}`;
}

/** The words of an activity, as camp why writes them. */
function activityOf({ activity, activity_ns }) {
    const words = (activity === 'aborted' ? 'idle in a failed transaction' : activity ?? '').replaceAll('_', ' '), age = (activity_ns ?? 0) / 1e9;
    return words && age > 0 ? `${words} for ${age.toFixed(age < 10 ? 1 : 0)} s` : words;
}

const expected = ({ tree }) => tree.map((row) => [row.depth, `${row.pid ? `${row.pid}${row.application || row.name ? ` (${row.application || row.name})` : ''}` : 'a prepared transaction'}${row.repeated ? ' ...' : ''}`,
    duration(row.waited_ns), duration(row.blocking_ns), row.depth === 0 ? String(row.waiting) : '', activityOf(row), row.statement ?? '']);

const shown = (page) => page.locator('#why tr[data-depth]').evaluateAll((rows) =>
    rows.map((row) => [Number(row.dataset.depth), ...[...row.cells].map((cell) => cell.textContent)]));

/** A page of synthetic sessions, of which each frame has this block. */
const made = (blocks) => Buffer.concat([
    head({ states: STATES, kind: 'sessions', frames: blocks.length, axes3: null, axes4: null, blockers: true }),
    entities([{ name: 'a@db', id: 1 }, { name: 'b@db', id: 2 }, { name: '<b>c</b>', id: 3 }]),
    ...blocks.flatMap((one, index) => [
        typeof one === 'string' ? block(CAUSES, one) : json(CAUSES, one),
        frame(STATES.length, [0, 1, 2].map((n) => ({ n, shares: [0, 0.5, 0.5] })), { index }),
    ]),
    json(END, { reason: 'the recording has no more' }),
]);

const HOSTILE = '<img src=x onerror="window.broken = 1">';
/** A chain: 3 waited for 2, which waited for 1; and a session of no entity, which waited for itself. */
const CHAIN = {
    contention: 3e9, statements: [HOSTILE, ''],
    sessions: [[1, '1 (a)', 'active for 2.0 s', 0, 1], [2, '2 (b)', '', 1, 1], [3, `3 (${HOSTILE})`, '', 0, 1], [9, '9', '', 1, 0]],
    nodes: [[0, 0, 0], [1, 1, 1e9], [2, 2, 5e8], [0, 3, 0], [1, 3, 2e8]],
};

async function opened(opener, data) {
    const page = await opener.report(data);
    await show(page, 'why');
    await still(page);
    return page;
}

for (const [from, to] of [[0, 4], [0, 1], [1, 3], [2, 4], [3, 4]])
    test(`why blockers: of the intervals ${from} to ${to} of a recording the page shows what camp why shows`, async (opener) => {
        const file = join(opener.folder, `blockers-${from}-${to}.html`), times = run('/usr/bin/python3', '-c', TIMES, RECORDING).trim().split(' ').map(Number);
        run(CAMP, 'report', '--from', RECORDING, '--output', file);
        const why = JSON.parse(run(CAMP, 'why', '--from', RECORDING, '--top', '0', '--format', 'json', ...(from > 0 ? ['--begin', `+${from}s`] : []), '--end', `+${to}s`));
        const page = await opener.page({ offline: true, height: 1200 });
        await page.goto(`${pathToFileURL(file).href}#range=${times[from]}-${times[to - 1]}&tab=why`);
        await page.waitForFunction(() => document.querySelector('#why .why-sentence')?.textContent);
        await show(page, 'why');
        assert.deepEqual(await shown(page), expected(why));
        assert.equal(await text(page, '#why .why-sentence'), why.tree[0].sentence);
        assert.equal(await text(page, '#why .why-losses'), '');
        assert.match(await text(page, '#why .caption'), new RegExp(`^${why.interval_s.toFixed(2)} s until `));
    });

test('why blockers: contention for no known session is a sentence, unless it is 0.0 %', async (opener) => {
    assert.equal(JSON.parse(run(CAMP, 'why', '--from', RECORDING, '--format', 'json')).unknown_ns, 0);
    assert.doesNotMatch(run(CAMP, 'why', '--from', RECORDING), /of contention/);
    assert.match(await text(await opened(opener, made([CHAIN])), '#why .why-losses'), /^Of 3\.000 s of contention 1\.300 s \(43\.3 %\) were for /);
});

test('why blockers: hostile names and statements are texts, and a press on a session pins it', async (opener) => {
    const page = await opened(opener, made([CHAIN]));
    assert.deepEqual(await shown(page), [
        [0, '1 (a)', '', '1.50 s', '2', 'active for 2.0 s', HOSTILE], [1, '2 (b)', '1.00 s', '500 ms', '', '', ''],
        [2, `3 (${HOSTILE})`, '500 ms', '', '', '', HOSTILE], [0, '9', '', '200 ms', '0', '', ''], [1, '9 ...', '200 ms', '', '', '', ''],
    ]);
    assert.equal(await text(page, '#why .why-sentence'), `2 sessions waited 1.50 s for 1 (a), active for 2.0 s: ${HOSTILE}`);
    assert.equal(await page.evaluate(() => window.broken), undefined);
    assert.equal(await page.locator('#why img').count(), 0);
    await page.locator('#why tr[data-depth="1"] button').first().click();
    await still(page);
    assert.equal(await page.locator('#why button[aria-pressed=true]').innerText(), '2 (b)');
    assert.equal(await page.locator('#why tr[data-depth] button').count(), 3);
});

test('why blockers: with several servers the sentence names the one of the blocker', async (opener) => {
    const sessions = [[1, '1 (a)', 'active for 2.0 s', 1, 1, `db1 ${HOSTILE}`], [2, '2 (b)', '', 1, 1, 'db1']];
    const page = await opened(opener, made([{ ...CHAIN, sessions, nodes: [[0, 0, 0], [1, 1, 1e9]] }]));
    assert.equal(await text(page, '#why .why-sentence'), `1 session waited 1.00 s for 1 (a) of db1 ${HOSTILE}, active for 2.0 s`);
    assert.equal(await page.evaluate(() => window.broken), undefined);
});

test('why blockers: without a wait one sentence says so, and a damaged block is reported in one line', async (opener) => {
    const none = await opened(opener, made([{ contention: 0, statements: [], sessions: [], nodes: [] }]));
    assert.equal(await text(none, '#why .why-sentence'), 'No session waited for a known session.');
    assert.deepEqual(await shown(none), []);
    for (const bad of ['[', '{}', 'null', { ...CHAIN, nodes: [[1, 0, 0]] }, { ...CHAIN, nodes: [[0, 4, 0]] }, { ...CHAIN, sessions: [[1, 2, '', 0, 1]] }, { ...CHAIN, sessions: [[1, '1', '', 0, 1, 7]], nodes: [] }]) {
        const page = await opened(opener, made([bad]));
        assert.equal(await text(page, '#why .why-note'), 'The causes of this interval cannot be read: they are damaged.');
        assert.deepEqual(await shown(page), []);
    }
});

test('why blockers: sessions whose source does not know blockers have the view as before', async (opener) => {
    const page = await opened(opener, stream({ states: STATES, kind: 'sessions', axes4: null, names: ['a'], labels: ['blocker', 'root_blocker'], frames: [[{ n: 0, shares: [0, 0.5, 0.5] }]] }));
    assert.match(await text(page, '#why .why-help'), /^This data has no causes of waits\./);
    assert.deepEqual(await shown(page), []);
});
