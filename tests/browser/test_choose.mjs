// Search, groups, pins and brushes. A selection in one view is visible in all views, and can be made
// with keys.
import { strict as assert } from 'node:assert';
import { assertNear, colour, cornersOf, point, press, rgb, said, spots, stageBox, still, test, text } from './harness.mjs';
import { CLASSES, stream } from './stream.mjs';

const STATES = ['user', 'sleep', 'disk', 'lock'];
const ENTITIES = [
    ['nginx', [0.7, 0.1, 0.1, 0.1]], ['nginx', [0.1, 0.7, 0.1, 0.1]], ['postgres', [0.1, 0.1, 0.7, 0.1]],
    ['postgres', [0.1, 0.1, 0.1, 0.7]], ['cron', [0.25, 0.25, 0.25, 0.25]],
];
const AXES3 = [{ name: 'CPU', states: [0] }, { name: 'sleep', states: [1] }, { name: 'wait', states: [2, 3] }];

const data = (others = {}) => stream({
    states: STATES, names: ENTITIES.map(([name]) => name), axes3: AXES3,
    frames: [0, 1].map(() => ENTITIES.map(([, shares], n) => ({ n, shares }))), ...others,
});

/** The tolerance of colours in Barry4, where farther dots are paler. */
const NEAR4 = { near: 130 };
const OWN = CLASSES.filter(({ name }) => ['cpu', '', 'disk', 'lock'].includes(name)).map(({ light }) => rgb(light));
const bright = async (page, view = '.barry3') => (await spots(page, view, OWN, view === '.barry4' ? NEAR4 : {})).length;
/** Counts the bright dots of the tetrahedron, and shows the triangle again. */
async function bright4(page) {
    await page.click('#stage button:has-text("4")');
    await still(page);
    const found = await bright(page, '.barry4');
    await page.click('#stage button:has-text("3")');
    await still(page);
    return found;
}

test('search: the triangle and the tetrahedron dim entities that do not match', async (opener) => {
    const page = await opener.report(data());
    assert.equal(await bright(page), 4); // the dots of both postgres entities are at the same position
    assert.equal(await bright4(page), 5);
    await press(page, '/');
    await page.keyboard.type('^post|CRON');
    await still(page);
    assert.equal(await bright(page), 2);
    assert.equal(await bright4(page), 3);
    assert.match(await text(page, '.legend'), /3 of 5 chosen/);
    await press(page, 'Escape');
    assert.equal(await page.inputValue('#search'), '');
    assert.equal(await bright(page), 4);
});

test('search: the page reports an invalid regular expression', async (opener) => {
    const page = await opener.report(data());
    await page.fill('#search', 'post(');
    await still(page);
    assert.match(await text(page, '#search-fault'), /^Not a regular expression: unterminated group\.$/);
    assert.equal(await page.getAttribute('#search', 'aria-invalid'), 'true');
    assert.equal(await bright(page), 4);
    await page.fill('#search', 'post');
    await still(page);
    assert.equal(await page.locator('#search-fault').isVisible(), false);
    assert.equal(await bright(page), 1);
});

test('groups: the legend lists the largest groups first', async (opener) => {
    const names = Array.from({ length: 14 }, (_, g) => Array.from({ length: 16 - g }, (_, n) => `g${'abcdefghijklmn'[g]}${n}`)).flat();
    const next = new Map();
    const rows = names.map((name, n) => {
        const g = name.charCodeAt(1) - 97;
        const seen = next.get(g) ?? 0;
        next.set(g, seen + 1);
        const up = 0.05 + 0.062 * g, across = (1 - up) * (0.1 + 0.05 * seen);
        return { n, shares: [up, across, 1 - up - across] };
    });
    const page = await opener.report(stream({ states: STATES.slice(0, 3), names, frames: [rows] }), { width: 1500, height: 1100 });
    await page.selectOption('#group-by', 'name');
    await still(page);
    const legend = await page.locator('.legend .key').allInnerTexts();
    assert.equal(legend.length, 12);
    assert.deepEqual(legend.slice(0, 2).map((line) => line.replace(/\s+/g, ' ').trim()), ['ga 16', 'gb 15']);
    assert.equal(await page.locator('.legend .square').count(), 6);
});

test('pins: a click on a dot pins its entity until the next click', async (opener) => {
    const page = await opener.report(data());
    const { top } = cornersOf(await spots(page, '.barry3', await colour(page, 'dot')));
    const box = await stageBox(page, '.barry3');
    await page.mouse.click(box.x + top.x, box.y + top.y);
    await page.mouse.move(1, 1);
    await still(page);
    assert.match(await text(page, '.legend'), /nginx 1000/);
    await press(page, 'b');
    assert.equal((await spots(page, '.barry4', await colour(page, 'pin'), { near: 60 })).length, 1);
    await press(page, 'b');
    await page.waitForTimeout(400); // otherwise the next click makes a double click
    await page.mouse.click(box.x + top.x, box.y + top.y);
    await page.mouse.move(1, 1);
    await still(page);
    assert.equal(await text(page, '.legend'), '');
});

test('selection: a lasso around dots dims all other entities', async (opener) => {
    const page = await opener.report(data());
    const { top } = cornersOf(await spots(page, '.barry3', await colour(page, 'dot')));
    const box = await stageBox(page, '.barry3');
    await page.keyboard.down('Shift');
    const around = [[-20, -20], [20, -20], [20, 20], [-20, 20]].map(([dx, dy]) => [box.x + top.x + dx, box.y + top.y + dy]);
    await page.mouse.move(...around[0]);
    await page.mouse.down();
    for (const spot of around) await page.mouse.move(...spot);
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await page.mouse.move(1, 1);
    await still(page);
    assert.equal(await bright(page), 1);
    assert.equal(await bright4(page), 1);
    assert.match(await text(page, '.legend'), /1 of 5 chosen/);
    await press(page, 'Escape');
    assert.equal(await bright(page), 4);
});

test('pointer: pointing at a dot of the triangle marks its entity in the tetrahedron', async (opener) => {
    const page = await opener.report(data());
    const { top } = cornersOf(await spots(page, '.barry3', await colour(page, 'dot')));
    const ink = await colour(page, 'ink');
    await point(page, '.barry3', top);
    await press(page, 'b');
    assert.equal((await spots(page, '.barry4', ink)).length, 1);
});

test('keys: entities can be read, pinned, grouped and searched without a mouse', async (opener) => {
    const page = await opener.report(data());
    await press(page, 'n');
    assert.equal(await said(page), 'nginx 1000: CPU 70 %, sleep 10 %, wait 20 %');
    await press(page, 'n', 'n', 'p');
    assert.equal(await said(page), 'postgres 1002 pinned.');
    await press(page, 'N', 'Enter');
    assert.match(await text(page, '.legend'), /postgres 1002.*nginx 1001/s);
    await press(page, 'g');
    assert.match(await said(page), /by name/);
    assert.match(await text(page, '.legend'), /nginx\s+2\s+postgres\s+2\s+cron\s+1/);
    await press(page, '/');
    await page.keyboard.type('cron');
    await press(page, 'Enter', 'n');
    assert.match(await said(page), /^cron 1004/);
    await press(page, 'Escape', '1');
    assert.equal(await page.evaluate(() => document.activeElement.closest('.panel').id), 'stage');
    await press(page, '2');
    assert.equal(await page.evaluate(() => document.activeElement.closest('.panel').id), 'ranking');
    await press(page, '3');
    assert.equal(await page.evaluate(() => document.activeElement.closest('.panel').id), 'barymap');
    await press(page, '?');
    assert.equal(await page.locator('dialog').isVisible(), true);
    await press(page, 'Escape');
    assert.equal(await page.locator('dialog').isVisible(), false);
    await press(page, 'a');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'edit-axes3');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('a=lock;b=disk;c=*');
    await press(page, 'Escape', 'n');
    assert.match(await said(page), /a \d.* b \d.* c \d/);
}, { headed: true });

test('keys: arrow keys move the crosshair, and arrow keys with Shift select an area', async (opener) => {
    const page = await opener.report(data());
    await press(page, '1', 'ArrowUp');
    const [a, b] = (await text(page, '.barry3 .readout')).match(/[\d.]+/g).map(Number);
    assertNear(a, 35.3, 0.2);
    assertNear(b, 32.3, 0.2);
    assert.equal(await said(page), 'CPU 35.3 %, sleep 32.3 %, wait 32.3 %');
    // Starts the brush above and left of cron, which is at (0.25, 0.25, 0.5), so that only cron is inside.
    await press(page, ...Array(9).fill('ArrowDown'), ...Array(7).fill('ArrowLeft'));
    await press(page, ...Array(7).fill('Shift+ArrowUp'), ...Array(20).fill('Shift+ArrowRight'), 'Enter');
    assert.match(await text(page, '.legend'), /1 of 5 chosen/);
});

test('keys: plus and minus zoom the triangle, and 0 shows the whole triangle again', async (opener) => {
    const page = await opener.report(data());
    await press(page, '+');
    assert.equal(await page.locator('.barry3 button', { hasText: 'Whole' }).isVisible(), true);
    assert.match(await text(page, '.barry3 .outside'), /outside/);
    await press(page, '-');
    assert.equal(await page.locator('.barry3 button', { hasText: 'Whole' }).isVisible(), false);
    await press(page, '+', '+', '0');
    assert.equal(await text(page, '.barry3 .outside'), '');
});
