// The view "Why" of a recording with causes: in a report, and in a replay by camp view, the page shows of each moment and
// range what camp why --from shows of it.
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { press, still, test, text } from './harness.mjs';
import { show } from './views.mjs';

const CAMP = process.env.CAMP ?? new URL('../../build/gcc/src/camp', import.meta.url).pathname;
const STEP_S = 1; // an interval of the sample data

function run(program, ...words) {
    const { status, stdout, stderr, error } = spawnSync(program, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
    assert.equal(status, 0, `${program} ${words.join(' ')}: ${error ?? stderr}`);
    return stdout;
}

/** Makes a recording with synthetic causes, and a report of it. Returns their paths. */
function recorded(folder, ...options) {
    const name = Math.random().toString(36).slice(2), recording = join(folder, `${name}.camp`), page = join(folder, `${name}.html`);
    run(CAMP, 'record', '--from', 'demo', '--end', '+40s', '--output', recording);
    run('/usr/bin/python3', '-B', new URL('add_causes.py', import.meta.url).pathname, recording, ...options);
    run(CAMP, 'report', '--from', recording, '--output', page);
    return { recording, page };
}

/** Returns what camp why shows of the intervals [from, to). */
function whyOf(recording, [from, to], subject) {
    const words = [...(from > 0 ? ['--begin', `+${from * STEP_S}s`] : []), '--end', `+${to * STEP_S}s`, '--top', '8', '--json'];
    return JSON.parse(run(CAMP, 'why', '--from', recording, ...words, ...(subject ? [subject] : [])));
}

/** Three digits in a suitable unit, as web/src/format.ts writes it. */
function duration(ns) {
    const ms = ns / 1e6, [unit, name] = [[3600e3, 'h'], [60e3, 'min'], [1e3, 's'], [1, 'ms'], [1e-3, 'µs'], [1e-6, 'ns']].find(([least]) => ms >= least);
    const value = ms / unit;
    return `${value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)} ${name}`;
}

const percent = (value) => `${value.toFixed(2)} %`;

const IDLE = ['pipe', 'timer'];
/** The states that are idle come last in the page. */
const idleLast = (tree) => [...tree.filter(({ state }) => !IDLE.includes(state)), ...tree.filter(({ state }) => IDLE.includes(state))];

/** The rows of the tree as the page writes them, without the titles of states and kinds. */
const expectedRows = ({ tree }) => idleLast(tree).map((row) => [
    row.level, ...(row.level === 'who' ? [row.merged ? `${row.merged} others` : row.who] : []), percent(row.percent), duration(row.time_ns),
    ...(row.waits ? [row.waits.toLocaleString('en-US'), duration(row.p50_ns), duration(row.p99_ns), duration(row.longest_ns)] : []),
]);

const shownRows = (page) => page.locator('#why tr[data-row]').evaluateAll((rows) => rows.map((row) => {
    const level = row.className.replace('why-', ''), cells = [...row.querySelectorAll('td:not(.why-bar)')].map((cell) => cell.textContent);
    return [level, ...(level === 'who' ? [row.querySelector('th').textContent] : []), ...cells.filter(Boolean)];
}));

const shownParts = (page, title) => page.locator(`#why section[aria-label="${title}"] tbody tr`).evaluateAll((rows) =>
    rows.map((row) => [...row.querySelectorAll('th, td:not(.why-bar)')].map((cell) => cell.textContent)));

const sentence = (page, wanted) => page.waitForFunction((of) => document.querySelector('#why .why-sentence').textContent === of, wanted);

/** Checks that the page shows what camp why says. */
async function compare(page, why) {
    await sentence(page, why.sentence);
    assert.deepEqual(await shownRows(page), expectedRows(why));
    assert.deepEqual(await shownParts(page, 'Who waited for a CPU behind it'), why.inflicted.map(({ who, wait_ns }) => [who, duration(wait_ns)]));
    assert.deepEqual((await shownParts(page, 'Sleeps by system call')).map(([call, object, , share, time, count]) => [call, object, share, time, count]),
        why.calls.map((call) => [call.call, call.object, percent(call.percent), duration(call.sleep_ns), call.count.toLocaleString('en-US')]));
    const chain = (await page.locator('#why .why-chain b').allInnerTexts());
    assert.deepEqual(chain.slice(0, why.chain.length), why.chain.map(({ who }) => who));
    const losses = await text(page, '#why .why-losses');
    for (const share of [why.losses.unattributed_percent, why.losses.others_percent, why.losses.reduced_percent])
        assert.ok(share < 0.005 || losses.includes(percent(share)), `${percent(share)} is not in: ${losses}`);
}

/** Opens a page at the frames [from, to). */
async function open(opener, page, recording, [from, to]) {
    const times = run('/usr/bin/python3', '-c', 'import sqlite3, sys\nprint(*[t // 1000000 for t, in sqlite3.connect(sys.argv[1]).execute("SELECT wall_clock_ns FROM tick ORDER BY tick")])', recording);
    const ends = times.trim().split(' ');
    const opened = await opener.page({ offline: true, height: 1200 });
    await opened.goto(`${pathToFileURL(page).href}#range=${ends[from]}-${ends[to - 1]}&tab=why`);
    await opened.waitForFunction(() => document.querySelector('#why .why-sentence')?.textContent);
    await show(opened, 'why');
    return opened;
}

for (const range of [[0, 1], [7, 8], [3, 12], [0, 40]])
    test(`why recorded: of the intervals ${range.join(' to ')} the page shows what camp why shows`, async (opener) => {
        const { recording, page: file } = recorded(opener.folder);
        const page = await open(opener, file, recording, range);
        const all = whyOf(recording, range);
        await compare(page, all);
        for (const subject of ['77', 'batch-3', 'batch-19']) {
            const label = subject === '77' ? 'db (77)' : subject;
            if (!(await page.locator('#why-group option').allInnerTexts()).includes(label)) continue;
            await page.selectOption('#why-group', { label });
            await compare(page, whyOf(recording, range, subject));
        }
    });

test('why recorded: names for which there is no number are other processes, unless one of them is chosen', async (opener) => {
    const { recording, page: file } = recorded(opener.folder, '120');
    const page = await open(opener, file, recording, [0, 40]);
    const names = await page.locator('#why-group option').allInnerTexts();
    assert.ok(names.length <= 65 && !names.includes('batch-100'), names.join());
    await compare(page, whyOf(recording, [0, 40]));
    await page.evaluate(() => (location.hash += '&why=3+batch-100'));
    await page.reload();
    await compare(page, whyOf(recording, [0, 40], 'batch-100'));
});

test('why recorded: a step, a range and its end show other causes, of the same group', async (opener) => {
    const { recording, page: file } = recorded(opener.folder);
    const page = await open(opener, file, recording, [4, 5]);
    await page.selectOption('#why-group', { label: 'db (77)' });
    await compare(page, whyOf(recording, [4, 5], '77'));
    await page.evaluate(() => document.activeElement.blur());
    await press(page, 'Home');
    await show(page, 'why');
    await compare(page, whyOf(recording, [0, 1], '77'));
    await press(page, '.', '.');
    await compare(page, whyOf(recording, [2, 3], '77'));
    assert.equal(await page.inputValue('#why-group'), '4 77');
    await page.reload();
    assert.match(page.url(), /why=4/);
});

test('why recorded: a recording without causes says how to record them', async (opener) => {
    const recording = join(opener.folder, 'plain.camp'), file = join(opener.folder, 'plain.html');
    run(CAMP, 'record', '--from', 'demo', '--end', '+5s', '--output', recording);
    run(CAMP, 'report', '--from', recording, '--output', file);
    const page = await opener.page({ offline: true });
    await page.goto(pathToFileURL(file).href);
    await show(page, 'why');
    assert.match(await text(page, '#why .why-help'), /^This data has no causes of waits\. They are in recordings of camp record --why /);
    assert.equal(await page.locator('#why .why-note').isVisible(), false);
});

test('why recorded: intervals without causes are counted in one line', async (opener) => {
    const { recording, page: file } = recorded(opener.folder, '20', 'first');
    const page = await open(opener, file, recording, [18, 22]);
    assert.equal(await text(page, '#why .why-note'), '2 of these 4 intervals have no causes of waits: these are of the others.');
    await press(page, 'End');
    await still(page);
    await page.waitForFunction(() => document.querySelector('#why .why-note').textContent === 'This interval has no causes of waits.');
    assert.equal(await text(page, '#why .why-sentence'), '');
});

test('why recorded: damaged causes leave the rest of the page as it is, and are reported in one line', async (opener) => {
    const { recording } = recorded(opener.folder), file = join(opener.folder, 'damaged.html');
    run('/usr/bin/python3', '-c', 'import sqlite3, sys\nd = sqlite3.connect(sys.argv[1])\nd.execute("UPDATE cause SET number = number + 40 WHERE tick % 2 = 0")\nd.commit()', recording);
    run(CAMP, 'report', '--from', recording, '--output', file);
    const page = await opener.page({ offline: true });
    await page.goto(pathToFileURL(file).href);
    await page.waitForFunction(() => /\/ 40 /.test(document.querySelector('.odometer').textContent));
    await press(page, 'Home');
    await show(page, 'why');
    const seen = [];
    for (let i = 0; i < 2; i++) {
        seen.push(await text(page, '#why .why-note').catch(() => ''));
        await press(page, '.');
    }
    assert.ok(seen.some((note) => /^The causes of this interval cannot be read: .* is damaged: its causes of waits have a cause of a group that is not there/.test(note)), seen.join('|'));
    assert.ok(seen.includes(''), seen.join('|'));
});
