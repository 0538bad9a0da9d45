// The dots of Barry3 are at the computed positions, and unaccounted time is shown.
import { strict as assert } from 'node:assert';
import {
    assertNear, assertSpot, colour, cornersOf, inTriangle, pixelsNear, point, press, rgb, said, spots, stageBox, still, test, text,
} from './harness.mjs';
import { COLOURS, stream } from './stream.mjs';

const STATES = ['user', 'sleep', 'disk'];
const CORNERS = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];

/** Makes one frame with an entity at each of the three corners, and an entity for each of `shares`. */
function still_life(shares, others = {}) {
    const rows = [...CORNERS, ...shares].map((own, n) => ({ n, shares: own }));
    return stream({ states: STATES, names: rows.map((_, n) => `task${n}`), frames: [rows], idle: false, ...others });
}

const dots = async (page, name = 'dot') => spots(page, '.barry3', await colour(page, name));

test('triangle: the corners form an equilateral triangle', async (opener) => {
    const page = await opener.report(still_life([]));
    const found = await dots(page);
    assert.equal(found.length, 3);
    const { top, left, right } = cornersOf(found);
    const edge = right.x - left.x;
    assertNear(left.y, right.y, 0.6);
    assertNear(Math.hypot(top.x - left.x, top.y - left.y), edge, 1);
    assertNear(Math.hypot(top.x - right.x, top.y - right.y), edge, 1);
}, { headed: true });

test('triangle: a dot with equal shares is at the centroid', async (opener) => {
    const page = await opener.report(still_life([[1 / 3, 1 / 3, 1 / 3]]));
    const found = await dots(page);
    const corners = cornersOf(found);
    const inner = found.find((spot) => !Object.values(corners).includes(spot));
    const { x, y } = inTriangle(corners, inner);
    assertNear(x, 0.577, 0.003);
    assertNear(y, 0.333, 0.003);
}, { headed: true });

test('triangle: the dot of Figure 3(b) of the CAMP paper is at the printed position', async (opener) => {
    const page = await opener.report(still_life([[0.62, 0.28, 0.10]]), { ratio: 2 });
    const found = await dots(page);
    const corners = cornersOf(found);
    const { x, y } = inTriangle(corners, found.find((spot) => !Object.values(corners).includes(spot)));
    assertNear(x, 0.47, 0.005);
    assertNear(y, 0.62, 0.003);
}, { headed: true });

test('triangle: missing time gives a dot a red ring', async (opener) => {
    const page = await opener.report(still_life([[0.31, 0.14, 0.05]]));
    const found = await dots(page), corners = cornersOf(found);
    const { x, y } = inTriangle(corners, found.find((spot) => !Object.values(corners).includes(spot)));
    assertNear(x, 0.473, 0.004);
    assertNear(y, 0.62, 0.004);
    assert.equal((await spots(page, '.barry3', await colour(page, 'missing'))).length, 1);
});

test('triangle: time above 100 % gives a dot a ring in both colour schemes', async (opener) => {
    for (const dark of [false, true]) {
        const page = await opener.report(still_life([[0.6, 0.4, 0.3]]), { dark });
        const over = await colour(page, 'over');
        assert.deepEqual(over, dark ? [255, 255, 255] : [0, 0, 0]);
        const rings = await spots(page, '.barry3', over, { near: 45, least: 12 });
        assert.equal(rings.length, 1);
        const { x, y } = inTriangle(cornersOf(await dots(page)), rings[0]);
        assertNear(y, 0.6 / 1.3, 0.005);
        assertNear(x, (0.6 + 2 * 0.3) / 1.3 / Math.sqrt(3), 0.005);
    }
});

test('triangle: less than half a percent of missing time gives a dot no ring', async (opener) => {
    const page = await opener.report(still_life([[0.5, 0.2, 0.297]]));
    assert.equal((await dots(page)).length, 4);
    assert.equal((await spots(page, '.barry3', await colour(page, 'missing'))).length, 0);
});

test('sums: the page describes missing time and time above 100 % in words', async (opener) => {
    const page = await opener.report(still_life([[0.31, 0.14, 0.05], [0.6, 0.4, 0.3], [0.2, 0.3, 0.4]]));
    const sums = await text(page, '#sums');
    assert.match(sums, /Unaccounted 600 ms \(10 %\): more than 0\.5 % of its own time in 2 of 6 entities/);
    assert.match(sums, /over 100 % in 1: 300 ms accounted twice/);
    assert.match(sums, /no run queue/);
});

test('sums: the page shows time on the run queue as waiting for a CPU', async (opener) => {
    const page = await opener.report(stream({
        states: ['user', 'sleep', 'run_queue'], names: ['a', 'b'],
        frames: [[{ n: 0, shares: [0.5, 0, 0.5] }, { n: 1, shares: [0, 0.75, 0.25], elapsed: 0.5 }]],
    }));
    assert.match(await text(page, '#sums'), /^Unaccounted 0 s \(0 %\) in 2 entities · waiting for a CPU \(run queue\) 625 ms \(41\.7 %\)/);
});

test('corners: the page reports time in states that belong to no corner of the triangle', async (opener) => {
    const page = await opener.report(stream({
        states: ['user', 'sleep', 'disk', 'lock'], names: ['a', 'b'], frames: [[{ n: 0, shares: [0.3, 0.3, 0, 0.4] }, { n: 1, shares: [1, 0, 0, 0] }]],
    }));
    assert.match(await text(page, '.barry3 .left-out'), /^20 % of the time is at no vertex: dots stand by the proportions of the rest/);
    await press(page, 'b');
    assert.equal(await page.locator('.barry4 .left-out').isVisible(), false);
});

test('corners: assigning states to other corners moves the dots', async (opener) => {
    const page = await opener.report(still_life([[0.5, 0.3, 0.2]]));
    const corners = cornersOf(await dots(page));
    await press(page, 'a');
    await page.fill('#edit-axes3', 'S=sleep; D=disk; U=user');
    await still(page);
    const { top, left, right } = cornersOf(await dots(page));
    const height = left.y - top.y;
    assertSpot(await dots(page), { x: left.x + (height * (0.3 + 2 * 0.5)) / Math.sqrt(3), y: left.y - height * 0.3 });
    assertNear(right.x - left.x, corners.right.x - corners.left.x, 1);
    assert.match(await text(page, '.axes-editor'), /S sleep/);
});

test('corners: the page describes a wrong assignment of states in words', async (opener) => {
    const page = await opener.report(still_life([[0.5, 0.3, 0.2]]));
    const before = await dots(page);
    await press(page, 'a');
    const after = async (axes) => {
        await page.fill('#edit-axes3', axes);
        return text(page, '#edit-axes3-fault');
    };
    assert.equal(await after('A=user; B=swap; C=disk'), 'There is no such state: "swap".');
    assert.equal(await after('A=user; B=user; C=disk'), 'A state is at one vertex only: "user".');
    assert.equal(await after('A=user; B=*; C=*'), '* stands at one vertex only: "C".');
    assert.equal(await after('A=user; A=disk; C=*'), 'Two vertices have the same name: "A".');
    assert.equal(await after('A=user; B=; C=*'), 'A vertex has no state: "B".');
    assert.equal(await after('A=user; disk; C=*'), 'An axis is NAME=STATE+STATE: "disk".');
    assert.match(await after('A=user; B=*'), /takes 3 axes.*has 2\.$/);
    assert.match(await after('=user; B=disk; C=*'), /takes a name/);
    await page.locator('#edit-axes3').blur();
    await press(page, 'a');
    assert.equal((await dots(page)).length, before.length);
    assert.deepEqual(await page.locator('#edit-axes3').getAttribute('aria-invalid'), 'true');
    await press(page, 'a');
    assert.equal(await after(' c = USER ; b=Sleep_ns;a = * '), '');
});

test('zoom: dragging over a part of the triangle enlarges this part until Escape is pressed', async (opener) => {
    const page = await opener.report(still_life([[0.75, 0.125, 0.125]]));
    const { top, left, right } = cornersOf(await dots(page));
    const height = left.y - top.y;
    const spot = (p) => ({ x: left.x + (height * (p[0] + 2 * p[2])) / Math.sqrt(3), y: left.y - height * p[0] });
    // The drag from left to right selects the upper half of the triangle.
    const box = await stageBox(page, '.barry3');
    const [from, to] = [spot([0.5, 0.5, 0]), spot([0.5, 0, 0.5])];
    await page.mouse.move(box.x + from.x, box.y + from.y);
    await page.mouse.down();
    await page.mouse.move(box.x + to.x - 30, box.y + to.y);
    await page.mouse.move(box.x + to.x, box.y + to.y);
    await page.mouse.up();
    await still(page);
    const found = await dots(page);
    assert.equal(found.length, 2);
    assertSpot(found, top, 2);
    assertSpot(found, spot([0.5, 0.25, 0.25]), 4); // 0.75 is halfway between 0.5 and 1
    assert.match(await text(page, '.barry3 .outside'), /^2 outside/);
    await press(page, 'Escape');
    assertSpot(await dots(page), spot([0.75, 0.125, 0.125]));
    assert.equal((await dots(page)).length, 4);
    assert.equal(right.x > left.x, true);
}, { headed: true });

test('zoom: the wheel keeps the dot under the pointer in place', async (opener) => {
    const page = await opener.report(still_life([[0.5, 0.2, 0.3]]));
    const found = await dots(page);
    const corners = cornersOf(found);
    const inner = found.find((spot) => !Object.values(corners).includes(spot));
    await point(page, '.barry3', inner);
    // The wheel event is asynchronous. On a busy machine the pointer would move before the event arrives.
    await page.evaluate(() => {
        window.turns = 0;
        document.addEventListener('wheel', () => window.turns++, { passive: true });
    });
    await page.keyboard.down('Control');
    for (let i = 1; i <= 3; i++) {
        await page.mouse.wheel(0, -300);
        await page.waitForFunction((wanted) => window.turns >= wanted, i);
    }
    await page.keyboard.up('Control');
    await page.mouse.move(2, 2);
    await still(page);
    const after = await dots(page);
    assert.ok(after.length < 4, 'corners are outside');
    assertSpot(after, inner, 3.5); // the pointer is at whole pixels, and the zoom enlarges the rounding error
});

test('triangle: dots at the same position are spread and counted', async (opener) => {
    const page = await opener.report(still_life(Array.from({ length: 50 }, () => [1 / 3, 1 / 3, 1 / 3])));
    const [crowd] = (await dots(page)).sort((a, b) => b.size - a.size);
    const { width, height } = await stageBox(page, '.barry3');
    assert.ok(crowd.size > 500, `${crowd.size} pixels`);
    assert.ok(crowd.x < width && crowd.y < height);
    const ink = await colour(page, 'quiet');
    const beside = { x: crowd.x + 45, y: crowd.y };
    assert.ok(await pixelsNear(page, '.barry3', ink, beside, 25, { layer: 1, near: 90 }) > 20, 'a number');
    await point(page, '.barry3', crowd);
    assert.match(await text(page, '.tooltip'), /^50 threads: task 50/);
    const few = await opener.report(still_life([[1 / 3, 1 / 3, 1 / 3], [1 / 3, 1 / 3, 1 / 3]]));
    await point(few, '.barry3', crowd);
    assert.match(await text(few, '.tooltip'), /^task\d/);
});

/** Returns the distance of a spot from the nearest side of the triangle. */
function fromSides({ top, left, right }, { x, y }) {
    const from = (a, b) => {
        const along = ((x - a.x) * (b.x - a.x) + (y - a.y) * (b.y - a.y)) / Math.hypot(b.x - a.x, b.y - a.y) ** 2;
        const at = Math.min(1, Math.max(0, along));
        return Math.hypot(x - a.x - at * (b.x - a.x), y - a.y - at * (b.y - a.y));
    };
    return Math.min(from(top, left), from(left, right), from(right, top));
}

test('triangle: numbers of dots do not overlap the sides', async (opener) => {
    const corners = cornersOf(await dots(await opener.report(still_life([]))));
    const places = [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0.6, 0.4], [0.6, 0.4, 0], [0.6, 0, 0.4]];
    const page = await opener.report(still_life(places.flatMap((place) => Array.from({ length: 40 }, () => place))));
    const signs = await spots(page, '.barry3', await colour(page, 'quiet'), { layer: 1, near: 90, least: 4 });
    assert.ok(signs.length >= 3 * places.length, `${signs.length} signs of ${places.length} numbers`);
    for (const sign of signs) assert.ok(fromSides(corners, sign) > 6, `a sign at ${sign.x}, ${sign.y} is on a side`);
});

test('corners: pointing at the name of a corner shows its states', async (opener) => {
    const page = await opener.report(stream({
        states: ['user', 'system', 'sleep', 'disk'], names: ['a'], frames: [[{ n: 0, shares: [0.25, 0.25, 0.25, 0.25] }]],
        axes3: [{ name: 'CPU', states: [0, 1] }, { name: 'idle', states: [2] }, { name: 'waiting', states: [3] }],
        axes4: [{ name: 'top', states: [0] }, { name: 'left', states: [1, 2] }, { name: 'right', states: [3] }, { name: 'behind', states: [] }],
    }));
    const shown = async () => (await text(page, '.tooltip')).replace(/\s+/g, ' ');
    const tip = page.locator('.tooltip');
    const [name] = (await spots(page, '.barry3', rgb(COLOURS.axes3[0]), { near: 60 })).sort((a, b) => a.y - b.y);
    await point(page, '.barry3', name);
    assert.equal(await shown(), 'CPU user measured system measured');
    await point(page, '.barry3', { x: name.x, y: name.y + 40 });
    assert.equal(await tip.isVisible(), false);
    await press(page, '1', 'v', 'v');
    assert.equal(await shown(), 'idle sleep measured');
    assert.equal(await said(page), 'idle: sleep.');
    await press(page, 'b');
    assert.equal(await tip.isVisible(), false);
    await press(page, '1', 'v', 'v');
    assert.equal(await said(page), 'left: system, sleep.');
    assert.equal(await shown(), 'left system measured sleep measured');
    await press(page, 'v', 'v');
    assert.equal(await said(page), 'behind: no state.');
    await press(page, 'ArrowLeft');
    assert.equal(await tip.isVisible(), false);
    const [top] = await spots(page, '.barry4', rgb(COLOURS.axes4[0]), { layer: 1, near: 60 });
    await point(page, '.barry4', top);
    assert.equal(await shown(), 'top user measured');
    assert.match(await page.getAttribute('.barry4 .stage', 'aria-label'), /v names the states of a vertex/);
});

test('crosshair: the page shows the three shares under the pointer', async (opener) => {
    const page = await opener.report(still_life([]));
    const { top, left } = cornersOf(await dots(page));
    const height = left.y - top.y;
    await point(page, '.barry3', { x: left.x + height * 0.4734, y: left.y - height * 0.62 });
    const [a, b, c] = (await text(page, '.barry3 .readout')).match(/[\d.]+/g).map(Number);
    assertNear(a, 62, 0.5);
    assertNear(b, 28, 0.5);
    assertNear(c, 10, 0.5);
});

test('tooltip: the tooltip shows shares, times and unaccounted time', async (opener) => {
    const page = await opener.report(still_life([[0.5, 0.25, 0.05]]));
    const [ring] = await spots(page, '.barry3', await colour(page, 'missing'));
    await point(page, '.barry3', ring);
    const shown = (await text(page, '.tooltip')).replace(/\s+/g, ' ');
    assert.match(shown, /task3 pid 1003 · uid 0 · 1\.00 s/);
    assert.match(shown, /user 50 % 500 ms/);
    assert.match(shown, /sleep 25 % 250 ms/);
    assert.match(shown, /unaccounted 20 % 200 ms/);
});

test('tooltip: a new frame updates the tooltip while the pointer rests', async (opener) => {
    const page = await opener.report(stream({ states: STATES.slice(0, 3), names: ['a'], frames: [[{ n: 0, shares: [0.5, 0.25, 0.25] }], [{ n: 0, shares: [0.7, 0.1, 0.2] }]] }));
    const [dot] = await dots(page);
    await point(page, '.barry3', dot);
    assert.match(await text(page, '.tooltip'), /user\s+50 %/);
    await press(page, '.');
    assert.match(await text(page, '.tooltip'), /user\s+70 %/);
});
