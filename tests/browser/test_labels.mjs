// Labels, such as the user and the database of a session: grouping, search, columns, tooltip.
import { strict as assert } from 'node:assert';
import { colour, point, press, said, spots, still, test, text } from './harness.mjs';
import { stream } from './stream.mjs';
import { show } from './views.mjs';

const STATES = ['cpu', 'wait', 'idle'];
const ENTITIES = [
    { user: 'app', database: 'shop' }, { user: 'batch', database: 'shop' }, { user: 'app', database: 'a\tb <i>' }, {}, null,
];
const data = () => stream({
    states: STATES, labels: ['user', 'database'], names: ENTITIES.map((labels) => ({ name: 'session', ...(labels ? { labels } : {}) })),
    frames: [ENTITIES.map((_, n) => ({ n, shares: [0.5, 0.25, 0.25] }))],
});
const columns = (page, title) => page.evaluate((wanted) => {
    const at = [...document.querySelectorAll('#table th')].findIndex((th) => th.innerText === wanted);
    return [...document.querySelectorAll('#table tbody tr:not(.room)')].map((row) => row.cells[at].textContent);
}, title);

test('labels: entities can be grouped by each label', async (opener) => {
    const page = await opener.report(data());
    const offered = (where) => page.locator(`${where} option`).allTextContents();
    assert.deepEqual(await offered('#group-by'), ['no groups', 'by name', 'by process', 'by user', 'by database']);
    await page.selectOption('#group-by', 'label:user');
    await still(page);
    assert.match(await text(page, '.legend'), /^\(none\)\s+2\s+app\s+2\s+batch\s+1$/);
    await page.locator('#group-by').blur();
    await press(page, 'g');
    assert.equal(await page.inputValue('#group-by'), 'label:database');
    assert.match(await said(page), /Groups: by database/);
    await show(page, 'multiples');
    assert.deepEqual(await page.locator('.small-triangle b').allInnerTexts(), ['(none) · 2', 'shop · 2', 'a b <i> · 1']);
});

test('labels: the search finds values of labels', async (opener) => {
    const page = await opener.report(data());
    await page.fill('#search', '^batch$|<i>');
    await still(page);
    assert.match(await text(page, '.legend'), /2 of 5 chosen/);
});

test('labels: the table has a sortable column for each label', async (opener) => {
    const page = await opener.report(data());
    await page.evaluate(() => {
        Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (copied) => void (window.copied = copied) } });
    });
    await show(page, 'table');
    await page.locator('#table th[data-key="label-database"] button').click();
    await still(page);
    assert.deepEqual(await columns(page, 'database'), ['', '', 'a\tb <i>', 'shop', 'shop']);
    assert.deepEqual(await columns(page, 'user'), ['', '', 'app', 'app', 'batch']);
    await page.locator('#table button', { hasText: 'Copy' }).click();
    const lines = (await page.evaluate(() => window.copied)).trimEnd().split('\n').map((line) => line.split('\t'));
    const at = lines[0].indexOf('database');
    assert.deepEqual(lines.slice(1).map((line) => line[at]), ['', '', 'a b <i>', 'shop', 'shop']);
});

test('labels: the tooltip shows the labels of the entity under the pointer', async (opener) => {
    const page = await opener.report(stream({
        states: STATES, labels: ['user', 'database'], names: [{ name: 'a', labels: { user: 'app', database: 'shop' } }],
        frames: [[{ n: 0, shares: [0.5, 0.25, 0.25] }]],
    }));
    const [dot] = await spots(page, '.barry3', await colour(page, 'dot'));
    await point(page, '.barry3', dot);
    assert.match((await text(page, '.tooltip')).replace(/\s+/g, ' '), /user app · database shop/);
});

test('labels: a session of several servers is named with its server', async (opener) => {
    const page = await opener.report(stream({
        states: STATES, kind: 'sessions', labels: ['application', 'server'],
        names: ['host=db1', 'host=db2'].map((server) => ({ name: 'web', id: 31, labels: { application: 'web', server } })),
        frames: [[0, 1].map((n) => ({ n, shares: [0.5 - 0.1 * n, 0.25, 0.25] }))],
    }));
    await page.selectOption('#ranking-by', 'none');
    await still(page);
    const lines = await page.locator('#ranking tbody tr[data-key]').evaluateAll((rows) => rows.map(({ cells }) => cells[0].textContent.trim()));
    assert.deepEqual(lines, ['web 31 of host=db1', 'web 31 of host=db2']);
    // The address tells them apart, too.
    await page.evaluate(() => { location.hash = `#pin=${encodeURIComponent('web 31 of host=db2')}`; });
    await page.reload();
    await page.waitForFunction(() => document.querySelector('.key.pinned'));
    assert.deepEqual(await page.locator('.key.pinned').allTextContents(), ['web 31 of host=db2×']);
});
