// The values of the table equal the data. Rows are sorted, filtered, pinned and copied, also if there are
// 30,000 rows.
import { strict as assert } from 'node:assert';
import { assertNear, colour, point, press, rgb, said, spots, still, test, text } from './harness.mjs';
import { COLOURS, stream } from './stream.mjs';
import { show } from './views.mjs';

const STATES = ['user', 'system', 'sleep', 'disk'];
const AXES3 = [{ name: 'CPU', states: [0, 1] }, { name: 'idle', states: [2] }, { name: 'waiting', states: [3] }];
const ENTITIES = [
    ['nginx', [0.1234, 0.2, 0.3, 0.3766]], ['postgres', [0.5, 0.25, 0.2, 0.05]], ['cron', [0, 0, 1, 0]],
    ['backup', [0.05, 0.05, 0.1, 0.6]], ['nginx', [0.3, 0.3, 0.3, 0.2]],
];
const data = () => stream({
    states: STATES, axes3: AXES3, axes4: null, names: ENTITIES.map(([name]) => name),
    frames: [0, 1].map((t) => ENTITIES.map(([, shares], n) => ({ n, shares: t && n === 2 ? [1, 0, 0, 0] : shares, elapsed: n === 3 ? 0.5 : 1 }))),
});

/** Returns the rows as objects that map the key of a column to the text of the cell. */
async function rows(page) {
    return page.evaluate(() => {
        const heads = [...document.querySelectorAll('#table th')].map((th) => th.dataset.key);
        return [...document.querySelectorAll('#table tbody tr:not(.room)')].map((row) =>
            Object.fromEntries([...row.cells].map((cell, i) => [heads[i], cell.textContent])));
    });
}

const names = async (page) => (await rows(page)).map(({ name }) => name);
const sort = async (page, key) => {
    await page.locator(`#table th[data-key="${key}"] button`).click();
    await still(page);
};

test('table: every value equals the data to a hundredth of a percent', async (opener) => {
    const page = await opener.report(data());
    await show(page, 'table');
    await sort(page, 'id');
    await sort(page, 'id'); // the second click sorts the smallest id first
    const found = await rows(page);
    assert.equal(found.length, ENTITIES.length);
    for (const [n, [name, shares]] of ENTITIES.entries()) {
        const row = found[n];
        assert.deepEqual([row.name, row.id, row.pid, row.elapsed], [name, String(1000 + n), String(1000 + n), n === 3 ? '500 ms' : '1.00 s']);
        assert.ok(!('state-2' in row) && !('state-3' in row), 'a state that is a vertex alone has one column');
        const [user, system, sleep, disk] = shares.map((share) => 100 * share);
        const wanted = {
            'state-0': user, 'state-1': system, 'axis3-0': user + system, 'axis3-1': sleep,
            'axis3-2': disk, unaccounted: 100 - user - system - sleep - disk,
        };
        for (const [key, value] of Object.entries(wanted)) assertNear(Number(row[key].replace('−', '-')), value, 0.0101, `${name} ${key}`);
    }
    const classes = await page.locator('#table tbody tr:not(.room) td:nth-child(9)').evaluateAll((cells) => cells.map((cell) => cell.className));
    assert.deepEqual(classes, ['zero', 'zero', 'zero', 'missing', 'over']);
    await page.keyboard.press('Tab');
    await press(page, 'End');
});

test('table: the rows show the current frame', async (opener) => {
    const page = await opener.report(data());
    await show(page, 'table');
    assert.deepEqual(await names(page), ['postgres', 'nginx', 'nginx', 'backup', 'cron']);
    await press(page, 'ArrowRight');
    await show(page, 'table');
    assert.deepEqual(await names(page), ['cron', 'postgres', 'nginx', 'nginx', 'backup']);
});

test('table: rows do not move while the pointer or the keyboard is in the table', async (opener) => {
    const page = await opener.report(data());
    await show(page, 'table');
    const before = await names(page);
    await page.locator('#table tbody tr:not(.room)').nth(3).hover();
    await press(page, 'ArrowRight');
    assert.deepEqual(await names(page), before);
    const cron = (await rows(page)).find(({ name }) => name === 'cron');
    assert.equal(cron['axis3-0'], '100.00'); // values are those of the new frame
    await page.mouse.move(1, 1);
    await still(page);
    assert.equal((await names(page))[0], 'cron');
    await page.locator('#table .table-scroll').focus();
    await press(page, ',');
    assert.equal((await names(page))[0], 'cron');
});

test('table: a click on a heading sorts the rows by that column', async (opener) => {
    const page = await opener.report(data());
    await show(page, 'table');
    const state = (key) => page.getAttribute(`#table th[data-key="${key}"]`, 'aria-sort');
    assert.equal(await state('active'), 'descending');
    await sort(page, 'axis3-2');
    assert.deepEqual(await names(page), ['backup', 'nginx', 'nginx', 'postgres', 'cron']);
    assert.deepEqual([await state('axis3-2'), await state('active')], ['descending', 'none']);
    await sort(page, 'axis3-2');
    assert.deepEqual(await names(page), ['cron', 'postgres', 'nginx', 'nginx', 'backup']);
    assert.equal(await state('axis3-2'), 'ascending');
    await sort(page, 'name');
    assert.deepEqual(await names(page), ['backup', 'cron', 'nginx', 'nginx', 'postgres']);
    await sort(page, 'unaccounted');
    assert.deepEqual((await rows(page)).map(({ unaccounted }) => unaccounted), ['20.00', '0', '0', '0', '−10.00']);
});

test('table: a search hides the rows that do not match', async (opener) => {
    const page = await opener.report(data());
    await page.fill('#search', 'ng|cr');
    await show(page, 'table');
    assert.deepEqual(await names(page), ['nginx', 'nginx', 'cron']);
    assert.match(await text(page, '#table .caption'), /3 of 5 entities/);
});

test('table: a click on a row pins its entity in all views', async (opener) => {
    const page = await opener.report(data());
    await show(page, 'table');
    await page.locator('#table tbody tr:not(.room)').first().click();
    await still(page);
    assert.match(await text(page, '.legend'), /postgres 1001/);
    assert.equal(await page.locator('#table tr.pinned td').first().innerText(), 'postgres');
    await show(page, 'stage');
    assert.equal((await spots(page, '.barry3', await colour(page, 'pin'), { near: 60 })).length, 1);
    await show(page, 'table');
    await page.locator('#table tr.pinned').click();
    await still(page);
    assert.equal(await page.locator('#table tr.pinned').count(), 0);
}, { headed: true });

test('table: rows can be read, pinned and sorted with keys', async (opener) => {
    const page = await opener.report(data());
    await show(page, 'table');
    await page.locator('#table .table-scroll').focus();
    await press(page, 'ArrowDown', 'ArrowDown');
    assert.match(await said(page), /^name nginx, id 1004, .*CPU % 60\.00/);
    const active = await page.getAttribute('#table .table-scroll', 'aria-activedescendant');
    assert.equal(await page.locator(`#${active}`).getAttribute('aria-rowindex'), '3');
    await press(page, 'Enter');
    assert.match(await said(page), /^nginx 1004 pinned/);
    assert.equal(await page.locator(`#${active}`).getAttribute('aria-selected'), 'true');
    await press(page, 'Home', 'ArrowUp');
    assert.match(await said(page), /^name postgres/);
    await page.locator('#table th[data-key="name"] button').focus();
    await press(page, 'Enter');
    assert.deepEqual(await names(page), ['backup', 'cron', 'nginx', 'nginx', 'postgres']);
});

test('table: only the visible rows of 30,000 have HTML elements', async (opener) => {
    const count = 30000;
    const many = Array.from({ length: count }, (_, n) => ({ name: `w${n}`, id: n, pid: n }));
    const frames = [many.map((_, n) => ({ n, shares: [(n + 1) / count, 0, 1 - (n + 1) / count, 0] }))];
    const page = await opener.report(stream({ states: STATES, axes3: AXES3, axes4: null, names: many, frames }));
    await show(page, 'table');
    assert.equal(await page.getAttribute('#table table', 'aria-rowcount'), String(count + 1));
    assert.ok((await rows(page)).length < 40);
    await page.locator('#table .table-scroll').focus();
    await press(page, 'End');
    assert.match(await said(page), /^name w0, /);
    assert.ok((await names(page)).includes('w0'));
    const height = await page.locator('#table table').evaluate((table) => table.offsetHeight);
    assertNear(height, count * 24 + 29, 24);
    await page.locator('#table .table-scroll').evaluate((scroll) => (scroll.scrollTop = 15000 * 24));
    await still(page);
    assert.ok((await names(page)).includes('w14990'));
});

test('table: copying copies all rows with tabs between the values', async (opener) => {
    const page = await opener.report(data());
    await page.evaluate(() => {
        Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (copied) => void (window.copied = copied) } });
    });
    await show(page, 'table');
    await page.locator('#table button', { hasText: 'Copy' }).click();
    const lines = (await page.evaluate(() => window.copied)).trimEnd().split('\n').map((line) => line.split('\t'));
    assert.deepEqual(lines[0].slice(0, 7), ['name', 'id', 'pid', 'active', 'elapsed ms', 'CPU %', 'idle (sleep) %']);
    assert.equal(lines.length, 1 + ENTITIES.length);
    assert.deepEqual(lines[1].slice(0, 8), ['postgres', '1001', '1001', '0.8', '1000', '75', '20', '5']);
    assert.match(await said(page), /5 rows copied/);
});

test('table: a corner of the triangle with a single state has only one column', async (opener) => {
    const page = await opener.report(stream({ states: ['cpu', 'io', 'idle'], names: ['a'], frames: [[{ n: 0, shares: [0.5, 0.25, 0.25] }]] }));
    await show(page, 'table');
    assert.deepEqual(await page.locator('#table th').allInnerTexts(), ['name', 'id', 'pid', 'active', 'elapsed', 'cpu %', 'io %', 'idle %', 'unaccounted %']);
});

test('table: without processes there is no column of pids', async (opener) => {
    const noProcess = { pid: 0, parent: 0, uid: 0 };
    const page = await opener.report(stream({
        states: ['cpu', 'io', 'idle'], names: [{ name: 'cpu0', ...noProcess }, { name: 'cpu1', ...noProcess }],
        frames: [[0, 1].map((n) => ({ n, shares: [0.5, 0.25, 0.25] }))],
    }));
    const offered = () => page.locator('#group-by option, #multiples select option').evaluateAll((options) => options.map(({ value }) => value));
    await show(page, 'multiples');
    assert.deepEqual(await offered(), ['none', 'name', 'none', 'name']);
    await press(page, 'g', 'g');
    assert.match(await said(page), /no groups/);
    await press(page, 'g');
    assert.match(await said(page), /by name/);
    await show(page, 'table');
    assert.deepEqual((await page.locator('#table th').allInnerTexts()).slice(0, 5), ['name', 'id', 'group', 'active', 'elapsed']);
    await show(page, 'stage');
    const [dot] = await spots(page, '.barry3', await colour(page, 'dot'));
    await point(page, '.barry3', dot);
    assert.match(await text(page, '.tooltip'), /^cpu(\d)\s+id 100\1 · 1\.00 s\s/);
    const tasks = await opener.report(data());
    assert.equal(await tasks.locator('#group-by option').count(), 4);
});
