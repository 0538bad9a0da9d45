// Small multiples and the comparison of two periods.
import { strict as assert } from 'node:assert';
import { assertNear, press, rgb, said, still, test, text } from './harness.mjs';
import { COLOURS, stream } from './stream.mjs';
import { show } from './views.mjs';

const STATES = ['user', 'sleep', 'disk'];

test('small triangles: each of the largest groups has a triangle with the count and mean of the group', async (opener) => {
    const names = ['a', 'a', 'a', 'b', 'b', 'c'];
    const shares = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [0, 1, 0]];
    const page = await opener.report(stream({ states: STATES, names, frames: [shares.map((one, n) => ({ n, shares: one, elapsed: n === 0 ? 2 : 1 }))] }));
    await show(page, 'multiples');
    assert.equal(await page.locator('.small-triangle').count(), 0);
    await page.selectOption('#multiples select', 'name');
    await still(page);
    assert.deepEqual(await page.locator('.small-triangle b').allInnerTexts(), ['a · 3', 'b · 2', 'c · 1']);
    assert.deepEqual(await page.locator('.small-triangle span').allInnerTexts(), ['50 · 25 · 25 %', '50 · 25 · 25 %', '0 · 100 · 0 %']);
    assert.equal(await page.getAttribute('.small-triangle', 'aria-label'), 'a, 3 entities, mean user 50 %, sleep 25 %, disk 25 %');
    const dots = await page.locator('.small-triangle canvas').first().evaluate((canvas, wanted) => {
        const { data, width } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const found = [];
        for (let i = 0; i < data.length; i += 4)
            if (wanted.every((value, c) => Math.abs(value - data[i + c]) < 8)) found.push([(i / 4) % width, Math.floor(i / 4 / width)]);
        return found;
    }, rgb(COLOURS.groups[0]));
    const isAt = (x, y) => dots.some(([dx, dy]) => Math.hypot(dx - x, dy - y) < 2);
    // The triangle has margins of 8 pixels at the sides and below. Each side is 132 pixels long.
    assert.ok(isAt(74, 118 - 66 * Math.sqrt(3)) && isAt(8, 118) && isAt(140, 118));
    assert.ok(!isAt(74, 100));
});

test('small triangles: Enter on a small triangle selects the group of this triangle', async (opener) => {
    const names = Array.from({ length: 15 }, (_, g) => Array.from({ length: 16 - g }, () => 'abcdefghijklmno'[g])).flat();
    const page = await opener.report(stream({ states: STATES, names, frames: [names.map((_, n) => ({ n, shares: [0.2, 0.3, 0.5] }))] }));
    await show(page, 'multiples');
    await page.selectOption('#multiples select', 'name');
    await still(page);
    assert.equal(await page.locator('.small-triangle').count(), 12);
    assert.match(await text(page, '#multiples .caption'), /12 largest groups; 9 entities are in smaller ones/);
    await page.locator('.small-triangle').nth(1).focus();
    await press(page, 'Enter');
    assert.match(await text(page, '.legend'), /15 of 135 chosen/);
    assert.equal(await page.getAttribute('.small-triangle >> nth=1', 'aria-pressed'), 'true');
    await press(page, 'Enter');
    assert.equal(await page.getAttribute('.small-triangle >> nth=1', 'aria-pressed'), 'false');
});

/** Makes a stream in which a tenth of the time is in a state that belongs to no vertex. */
const leaving = (frames) => stream({
    states: [...STATES, 'lock'], axes3: STATES.map((name, i) => ({ name, states: [i] })), axes4: null, names: ['a', 'a'],
    frames: Array.from({ length: frames }, (_, t) => [{ n: 0, shares: [0.3, 0.3, 0.3, 0.1] }, { n: 1, shares: [t ? 0.5 : 0.3, t ? 0.1 : 0.3, 0.3, 0.1] }]),
});

test('small triangles and comparison: time in states without a corner is reported', async (opener) => {
    const page = await opener.report(leaving(2));
    await show(page, 'multiples');
    await page.selectOption('#multiples select', 'name');
    await still(page);
    assert.match(await text(page, '#multiples .left-out'), /^10 % of the time is at no vertex/);
    assert.match(await page.getAttribute('.small-triangle', 'aria-label'), /not on an axis 10 %/);
    await show(page, 'compare');
    await page.selectOption('#compare .choices select', 'halves');
    await page.waitForFunction(() => /10 % of the time is at no vertex, and left out/.test(document.querySelector('#compare .caption').textContent));
});

/** Entity "still" does not move, "far" moves from the top to the left, "near" moves a little, and "late"
 *  starts in the second half. */
const FRAMES = Array.from({ length: 10 }, (_, t) => {
    const second = t >= 5;
    return [
        { n: 0, shares: [0.2, 0.3, 0.5] }, { n: 1, shares: second ? [0.1, 0.8, 0.1] : [0.9, 0.05, 0.05], elapsed: t === 0 ? 0.5 : 1 },
        { n: 2, shares: [0.4 + 0.02 * t, 0.3, 0.3 - 0.02 * t], elapsed: 0.1 + 0.1 * t }, ...(second ? [{ n: 3, shares: [1, 0, 0] }] : []),
    ];
});
const data = () => stream({ states: STATES, names: ['still', 'far', 'near', 'late'], frames: FRAMES });

const place = ([a, b, c]) => [(a + 2 * c) / Math.sqrt(3) / (a + b + c), a / (a + b + c)];
const mean = (from, to, n) => {
    const rows = FRAMES.slice(from, to).flatMap((frame) => frame.filter((row) => row.n === n));
    const time = rows.reduce((sum, { elapsed = 1 }) => sum + elapsed, 0);
    return [0, 1, 2].map((i) => rows.reduce((sum, { shares, elapsed = 1 }) => sum + shares[i] * elapsed, 0) / time);
};

/** Fails unless each arrow connects the mean positions of an entity in both periods. */
async function assertArrows(page, before, after) {
    const corners = await page.getAttribute('.compared .edge', 'd');
    const [, , left, bottom, right] = corners.match(/[\d.]+/g).map(Number);
    const height = ((right - left) * Math.sqrt(3)) / 2;
    const inPicture = ([x, y]) => [left + x * height, bottom - y * height];
    for (const n of [0, 1, 2])
        for (const [name, period] of [['data-from', before], ['data-to', after]]) {
            const [x, y] = (await page.getAttribute(`.arrow[data-n="${n}"]`, name)).split(' ').map(Number);
            const [wantedX, wantedY] = inPicture(place(mean(...period, n)));
            assertNear(x, wantedX, 0.05, `${n} ${name} x`);
            assertNear(y, wantedY, 0.05, `${n} ${name} y`);
        }
}

const compare = async (page, preset) => {
    await show(page, 'compare');
    await page.selectOption('#compare select', preset);
    await page.waitForSelector('.arrow[data-n="2"]', { state: 'attached' });
    await still(page);
};

test('comparison: an arrow connects the mean positions of an entity in both periods', async (opener) => {
    const page = await opener.report(data());
    await compare(page, 'halves');
    await assertArrows(page, [0, 5], [5, 10]);
    assert.equal(await page.locator('.arrow').count(), 3);
    const [x, y] = (await page.getAttribute('.arrow[data-n="1"]', 'data-from')).split(' ').map(Number);
    assert.ok((await page.getAttribute('.arrow[data-n="1"]', 'd')).startsWith(`M${x} ${y}L`));
    assert.match(await text(page, '#compare header .caption'), /3 entities · 1 only after/);
});

test('comparison: the table lists the entities that moved most first', async (opener) => {
    const page = await opener.report(data());
    await compare(page, 'halves');
    const rows = await page.locator('.compared tbody tr').evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
    const [from, to] = [place(mean(0, 5, 1)), place(mean(5, 10, 1))];
    assert.deepEqual(rows.map(([name]) => name), ['far 1001', 'near 1002', 'still 1000']);
    assertNear(Number(rows[0][1]), Math.hypot(to[0] - from[0], to[1] - from[1]), 0.0006);
    assert.deepEqual(rows[0].slice(2), ['90.0 → 10.0', '5.0 → 80.0', '5.0 → 10.0']);
    assert.match(await said(page), /^far 1001 moved most: 0\.\d+, user 90 % to 10 %, sleep 5 % to 80 %, disk 5 % to 10 %$/);
    await page.locator('.compared .name').nth(1).focus();
    await press(page, 'Enter');
    assert.match(await text(page, '.legend'), /near 1002/);
    assert.match(await page.getAttribute('.arrow[data-n="2"]', 'class'), /pinned/);
});

test('comparison: keys and dragging move both periods', async (opener) => {
    const page = await opener.report(data());
    await compare(page, 'halves');
    await page.locator('.bar.before .end.to').focus();
    await press(page, 'ArrowLeft', 'ArrowLeft');
    await page.waitForTimeout(100);
    await assertArrows(page, [0, 3], [5, 10]);
    assert.match(await page.getAttribute('.bar.before .end.to', 'aria-valuenow'), /^3$/);
    await page.locator('.bar.after .end.from').focus();
    await press(page, 'ArrowRight', 'Home');
    await page.waitForTimeout(100);
    await assertArrows(page, [0, 3], [0, 10]);
    const strip = await page.locator('.periods .strip').first().boundingBox(), bar = await page.locator('.bar.before').boundingBox();
    await page.mouse.move(bar.x + bar.width / 2, bar.y + bar.height / 2);
    await page.mouse.down();
    await page.mouse.move(bar.x + bar.width / 2 + strip.width * 0.4, bar.y + bar.height / 2);
    await page.mouse.up();
    await page.waitForTimeout(100);
    await assertArrows(page, [4, 7], [0, 10]);
}, { headed: true });

test('comparison: the current frame can be chosen as the boundary of the two periods', async (opener) => {
    const page = await opener.report(data());
    await press(page, 'ArrowRight', 'ArrowRight', 'ArrowRight');
    await compare(page, 'now');
    await assertArrows(page, [0, 3], [3, 10]);
});

test('comparison: the button End closes the comparison', async (opener) => {
    const page = await opener.report(data());
    await compare(page, 'now');
    await page.locator('#compare button', { hasText: 'End' }).click();
    await still(page);
    assert.equal(await page.locator('.compared').isVisible(), false);
});
