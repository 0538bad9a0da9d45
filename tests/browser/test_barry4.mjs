// Barry4: the positions of dots in a tetrahedron that can be turned.
import { strict as assert } from 'node:assert';
import { assertNear, assertSpot, press, rgb, spots, stageBox, still, test } from './harness.mjs';
import { CLASSES, stream } from './stream.mjs';

const STATES = ['user', 'system', 'irq', 'CPU']; // of one class, so that all dots have one colour
const CORNERS = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]];
const made = (shares) => stream({
    states: STATES, names: [...CORNERS, ...shares].map((_, n) => `task${n}`),
    frames: [[...CORNERS, ...shares].map((own, n) => ({ n, shares: own }))],
});
const dots = async (page) => spots(page, '.barry4', rgb(CLASSES[0].light), { near: 170 });
/** Opens a page, and shows the tetrahedron. */
async function open4(opener, data, options) {
    const page = await opener.report(data, options);
    await press(page, 'b');
    return page;
}

const drag = async (page, dx, dy) => {
    const { x, y, width, height } = await stageBox(page, '.barry4');
    await page.mouse.move(x + width / 2, y + height * 0.9);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 + dx / 2, y + height * 0.9 + dy / 2);
    await page.mouse.move(x + width / 2 + dx, y + height * 0.9 + dy);
    await page.mouse.up();
    await page.mouse.move(1, 1);
    await still(page);
};

test('tetrahedron: seen from above, three corners surround the fourth corner', async (opener) => {
    const page = await open4(opener, made([]));
    await press(page, '1', ...Array(40).fill('ArrowDown')); // as far as the tetrahedron turns
    const found = await dots(page);
    const middle = { x: 0, y: 0 };
    for (const { x, y } of found) {
        middle.x += x / 4;
        middle.y += y / 4;
    }
    assert.equal(found.length, 4);
    assertSpot(found, middle, 1.5); // the top vertex, which is nearest to the viewer
    const largest = [...found].sort((a, b) => b.size - a.size)[0];
    assertNear(Math.hypot(largest.x - middle.x, largest.y - middle.y), 0, 1.5);
    const away = found.filter((spot) => spot !== largest).map(({ x, y }) => Math.hypot(x - middle.x, y - middle.y));
    for (const distance of away) assertNear(distance, away[0], 2);
});

test('tetrahedron: nearer dots are larger', async (opener) => {
    const page = await open4(opener, made([]));
    const found = (await dots(page)).sort((a, b) => b.y - a.y);
    const [left, , behind] = found; // the lowest dot is in front, and the third from below is behind
    assert.ok(left.size > 1.2 * behind.size, `${left.size} and ${behind.size} pixels`);
});

test('tetrahedron: a nearer dot hides a farther dot until the tetrahedron is turned', async (opener) => {
    const page = await open4(opener, made([[0, 0.5, 0.5, 0], [0, 1 / 3, 1 / 3, 1 / 3]]));
    await press(page, '1', ...Array(40).fill('ArrowDown'));
    const found = await dots(page);
    // Seen from above, the centre of the base is hidden behind the top.
    assert.equal(found.length, 5);
    await press(page, ...Array(20).fill('ArrowUp'));
    assert.equal((await dots(page)).length, 6);
});

test('tetrahedron: a drag turns the tetrahedron and the key 0 restores the first view', async (opener) => {
    const page = await open4(opener, made([]));
    const before = await dots(page);
    await drag(page, 120, 0);
    const after = await dots(page);
    const moved = after.filter(({ x, y }) => before.every((spot) => Math.hypot(spot.x - x, spot.y - y) > 3));
    assert.equal(moved.length, 3); // all dots except the dot at the top
    await press(page, '1', '0');
    for (const spot of before) assertSpot(await dots(page), spot);
}, { headed: true });

test('tetrahedron: a finger can turn the tetrahedron', async (opener) => {
    const page = await open4(opener, made([]), { touch: true });
    const before = await dots(page);
    const { x, y, width, height } = await stageBox(page, '.barry4');
    const client = await page.context().newCDPSession(page);
    const touch = (type, dx) => client.send('Input.dispatchTouchEvent', {
        type, touchPoints: type === 'touchEnd' ? [] : [{ x: x + width / 2 + dx, y: y + height / 2 }],
    });
    await touch('touchStart', 0);
    await touch('touchMove', 40);
    await touch('touchMove', 80);
    await touch('touchEnd', 80);
    await still(page);
    const after = await dots(page);
    assert.ok(after.some((spot) => before.every((other) => Math.hypot(spot.x - other.x, spot.y - other.y) > 5)));
});

test('tetrahedron: the tetrahedron turns on request, except with reduced motion', async (opener) => {
    const page = await open4(opener, made([]));
    const before = await dots(page);
    await page.click('.barry4 [aria-label="Turn slowly"]');
    await page.waitForTimeout(400);
    await page.click('.barry4 [aria-label="Turn slowly"]');
    await still(page);
    const after = await dots(page);
    assert.ok(after.some((spot) => before.every((other) => Math.hypot(spot.x - other.x, spot.y - other.y) > 3)));
    const calm = await open4(opener, made([]), { stillness: true });
    assert.equal(await calm.locator('.barry4 [aria-label="Turn slowly"]').isVisible(), false);
});

test('tetrahedron: the page hides the tetrahedron if the source has three states', async (opener) => {
    const page = await opener.report(stream({
        states: STATES.slice(0, 3), names: ['a'], frames: [[{ n: 0, shares: [1, 0, 0] }]],
    }));
    assert.equal(await page.locator('.barry4').isVisible(), false);
    assert.equal(await page.locator('.barry3').isVisible(), true);
});
