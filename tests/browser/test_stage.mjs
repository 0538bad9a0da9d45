// The stage: area, colour, the shelf of idle rows, crowds, and what a drag, a wheel and a tap do.
import { strict as assert } from 'node:assert';
import { assertNear, colour, cornersOf, pixelsNear, point, press, rgb, said, spots, stageBox, still, test, text } from './harness.mjs';
import { CLASSES, COLOURS, stream } from './stream.mjs';
import { show } from './views.mjs';

const STATES = ['user', 'sleep', 'disk', 'lock'];
const AXES3 = [{ name: 'CPU', states: [0] }, { name: 'idle', states: [1] }, { name: 'waiting', states: [2, 3] }];
const CORNERS = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]];
const of = (name) => rgb(CLASSES.find((one) => one.name === name).light);

/** Makes one frame of rows { shares, elapsed }. */
const still_life = (rows, others = {}) => stream({
    states: STATES, axes3: AXES3, names: rows.map((_, n) => `task${n}`), frames: [rows.map((row, n) => ({ n, ...row }))], ...others,
});

test('stage: the area of a dot is its active time', async (opener) => {
    const page = await opener.report(still_life([
        { shares: [1, 0, 0, 0] }, { shares: [0.5, 0.25, 0.25, 0], elapsed: 0.33 }, { shares: [0.5, 0.5, 0, 0], elapsed: 0.002 },
    ]));
    const [large, middle, small] = (await spots(page, '.barry3', of('cpu'), { least: 3 })).map(({ size }) => size).sort((a, b) => b - a);
    assertNear(large / middle, 4, 1.5);
    assert.ok(small < 25, `1 ms has ${small} pixels`);
    await page.selectOption('#stage select', 'equal');
    await still(page);
    const equal = (await spots(page, '.barry3', of('cpu'))).map(({ size }) => size);
    assert.ok(Math.max(...equal) < 1.2 * Math.min(...equal), `${equal}`);
});

test('stage: the colour of a dot is the class with most of its active time', async (opener) => {
    const rows = [[0.1, 0.5, 0.4, 0], [0.1, 0.5, 0.1, 0.3], [0.2, 0.7, 0.1, 0]].map((shares) => ({ shares }));
    for (const dark of [false, true]) {
        const page = await opener.report(still_life(rows), { dark });
        for (const name of ['disk', 'lock', 'cpu']) {
            const one = CLASSES.find((found) => found.name === name);
            assert.equal((await spots(page, '.barry3', rgb(dark ? one.dark : one.light), { near: 12 })).length, 1, name);
        }
    }
});

test('stage: the arc around a dot shows how much of its time is missing', async (opener) => {
    const arc = async (share) => {
        const page = await opener.report(still_life([{ shares: [1 - share, 0, 0, 0] }]), { ratio: 2 });
        const [dot] = await spots(page, '.barry3', of('cpu'));
        return pixelsNear(page, '.barry3', await colour(page, 'missing'), dot, 20);
    };
    const [little, quarter, half] = [await arc(0.006), await arc(0.25), await arc(0.5)];
    assert.ok(little > 4, `${little} pixels`);
    assert.ok(quarter > 2 * little && half > 1.7 * quarter, `${little}, ${quarter}, ${half}`);
});

test('stage: idle and parked rows are on the shelf until they are shown', async (opener) => {
    const rows = [{ shares: [1, 0, 0, 0] }, ...Array.from({ length: 30 }, () => ({ shares: [0.0005, 0.9995, 0, 0] })),
        ...Array.from({ length: 12 }, () => ({ shares: [0, 0, 0, 1] }))];
    const page = await opener.report(still_life(rows));
    assert.match(await text(page, '.shelf'), /^30 idle · 12 parked\s+show$/);
    const heap = async () => pixelsNear(page, '.barry3', await colour(page, 'quiet'), { x: 44, y: 440 }, 40, { layer: 1 });
    assert.equal(await heap(), 0);
    await page.locator('.shelf-strip').scrollIntoViewIfNeeded();
    const strip = await page.locator('.shelf-strip').boundingBox();
    await page.mouse.move(strip.x + 4, strip.y + 4);
    await still(page);
    assert.match(await text(page, '.tooltip'), /^task1 1001/);
    await page.click('.shelf button');
    await page.mouse.move(1, 1);
    await still(page);
    assert.equal(await said(page), 'The idle ones are in the picture.');
    assert.match(await text(page, '.shelf'), /^30 idle · 12 parked\s+hide$/);
    await press(page, 'n', 'n');
    assert.match(await said(page), /^task1 /);
});

test('stage: a crowd opens to its members by group', async (opener) => {
    const names = [...Array(10).fill('java'), ...Array(6).fill('nginx'), 'cc1'].map((name, i) => (name === 'cc1' ? name : `${name}-${i}`));
    const rows = names.map((name, n) => ({ n, shares: name === 'cc1' ? [1, 0, 0, 0] : [0.25, 0.25, 0.5, 0] }));
    const page = await opener.report(stream({ states: STATES, axes3: AXES3, names, frames: [rows] }));
    const [crowd] = (await spots(page, '.barry3', of('disk'))).sort((a, b) => b.size - a.size);
    await point(page, '.barry3', crowd);
    assert.match(await text(page, '.tooltip'), /^16 threads: java 10, nginx 6/);
    const box = await stageBox(page, '.barry3');
    await page.mouse.click(box.x + crowd.x, box.y + crowd.y);
    await still(page);
    assert.match((await text(page, '.crowd')).replace(/\s+/g, ' '), /^16 threads × java × 10 pin nginx × 6 pin$/);
    await page.click('.crowd button:has-text("nginx")');
    await still(page);
    assert.match(await text(page, '.legend'), /6 of 17 chosen/);
    await press(page, 'Escape');
    assert.equal(await page.locator('.crowd').isVisible(), false);
});

test('stage: the switch turns the triangle into the tetrahedron, and is hidden without one', async (opener) => {
    const rows = [{ shares: [0.4, 0.2, 0.2, 0.2] }];
    const page = await opener.report(still_life(rows));
    assert.match(await text(page, '#stage h2'), /^Where does each thread’s time go\?$/);
    await press(page, 'b');
    assert.equal(await page.getAttribute('#stage button:has-text("4")', 'aria-pressed'), 'true');
    assert.equal(await page.locator('.barry4 .stage').isVisible(), true);
    const three = await opener.report(still_life(rows, { axes4: null, kind: 'processes' }));
    assert.equal(await three.locator('#stage button:has-text("4")').isVisible(), false);
    assert.match(await text(three, '#stage h2'), /^Where does each process’s time go\?$/);
});

test('stage: the sums in the corner are entities at once', async (opener) => {
    const page = await opener.report(still_life([{ shares: [0.5, 0.25, 0.25, 0] }, { shares: [1, 0, 0, 0], elapsed: 0.5 }, { shares: [0.2, 0, 0, 0.3] }]));
    assert.match((await text(page, '.stage-sums')).replace(/\s+/g, ' '), /CPU 1\.20 idle 0\.25 waiting 0\.55 unaccounted 0\.50$/);
});

test('stage: a pinned dot has its coordinates as arrows', async (opener) => {
    const page = await opener.report(still_life([{ shares: [0.4, 0.3, 0.3, 0] }]));
    const arrows = async () => (await spots(page, '.barry3', rgb(COLOURS.axes3[0]), { layer: 1 })).length;
    assert.equal(await arrows(), 0);
    await press(page, 'n', 'p');
    assert.ok(await arrows() > 0);
});

test('stage: in a comparison, a path leads from where a dot was', async (opener) => {
    const page = await opener.report(stream({
        states: STATES, axes3: AXES3, names: ['mover', ...CORNERS.map((_, i) => `c${i}`)],
        frames: [[0.8, 0.1, 0.1, 0], [0.8, 0.1, 0.1, 0], [0.1, 0.1, 0.8, 0], [0.1, 0.1, 0.8, 0]].map((shares) =>
            [{ n: 0, shares }, { n: 1, shares: [1, 0, 0, 0] }, { n: 2, shares: [0, 0, 1, 0] }]),
    }), { height: 1400 });
    const path = async () => (await spots(page, '.barry3', of('disk'), { layer: 1, near: 60, least: 20 })).length;
    await press(page, 'End');
    assert.equal(await path(), 0);
    await show(page, 'compare');
    await page.selectOption('#compare .choices select', 'halves');
    await show(page, 'stage');
    await press(page, 'End');
    assert.ok(await path() > 0);
});

test('stage: the picture is paper up to its edges at a fractional size', async (opener) => {
    const page = await opener.report(still_life([{ shares: [1, 0, 0, 0] }]));
    await page.locator('.barry3 .stage').evaluate((stage) => {
        stage.style.width = '500.6px';
        stage.style.height = '400.6px';
    });
    await page.waitForTimeout(200);
    await still(page);
    const edge = await page.evaluate(() => {
        const canvas = document.querySelector('.barry3 .stage canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const red = (x, y) => data[4 * (y * canvas.width + x)];
        return Math.min(red(canvas.width - 1, 10), red(10, canvas.height - 1));
    });
    assert.equal(edge, 255);
});

test('stage: no corner of the tetrahedron leaves the stage when it is turned', async (opener) => {
    const page = await opener.report(stream({
        states: ['user', 'system', 'irq', 'CPU'], names: ['a', 'b', 'c', 'd'],
        frames: [[0, 1, 2, 3].map((n) => ({ n, shares: [0, 1, 2, 3].map((i) => (i === n ? 1 : 0)) }))],
    }), { width: 1440 });
    await press(page, 'b', '1');
    const { width, height } = await stageBox(page, '.barry4');
    for (const keys of [...Array(14).fill(['ArrowRight']), ...Array(10).fill(['ArrowDown', 'ArrowRight', 'ArrowRight'])]) {
        await press(page, ...keys);
        const found = await spots(page, '.barry4', of('cpu'), { near: 170, least: 4 });
        assert.ok(found.length > 0);
        for (const { x, y } of found) assert.ok(x > 8 && y > 8 && x < width - 8 && y < height - 8, `${x}, ${y} of ${width}, ${height}`);
    }
});

test('stage: the wheel scrolls the page unless the triangle is zoomed or Ctrl is held', async (opener) => {
    const page = await opener.report(still_life([{ shares: [1, 0, 0, 0] }]), { height: 500 });
    await point(page, '.barry3', { x: 200, y: 150 });
    await page.mouse.wheel(0, 120);
    await page.waitForFunction(() => scrollY > 0);
    assert.equal(await page.locator('.barry3 button', { hasText: 'Whole' }).isVisible(), false);
    await point(page, '.barry3', { x: 200, y: 150 }); // after the scroll
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -120);
    await page.keyboard.up('Control');
    await page.locator('.barry3 button', { hasText: 'Whole' }).waitFor();
});

test('stage: the values of a tapped dot stay until the next tap elsewhere', async (opener) => {
    const page = await opener.report(still_life([{ shares: [0.4, 0.3, 0.3, 0] }]), { width: 360, height: 740, touch: true });
    const [dot] = await spots(page, '.barry3', of('cpu'));
    const box = await stageBox(page, '.barry3');
    await page.touchscreen.tap(box.x + dot.x, box.y + dot.y);
    await page.waitForTimeout(300);
    await still(page);
    assert.match(await text(page, '.tooltip'), /task0[\s\S]*CPU\s+40 %/);
    assert.match(await text(page, '.legend'), /task0/);
    await page.touchscreen.tap(100, 20);
    await still(page);
    assert.equal(await page.locator('.tooltip').isVisible(), false);
});

test('stage: the corner of a zoomed triangle says its share', async (opener) => {
    const page = await opener.report(still_life([{ shares: [1, 0, 0, 0] }]));
    const width = async () => {
        const found = (await spots(page, '.barry3', rgb(COLOURS.axes3[0]), { near: 60, least: 3 })).filter(({ y }) => y < 30).map(({ x }) => x);
        return Math.max(...found) - Math.min(...found);
    };
    const whole = await width();
    await press(page, '1', '+');
    assert.ok(await width() > whole + 20, 'a number beside the name');
});

test('stage: a brush by one arrow key chooses the dots beside the line', async (opener) => {
    const page = await opener.report(still_life([{ shares: [1 / 3, 1 / 3, 1 / 3, 0] }, { shares: [1, 0, 0, 0] }]));
    await press(page, '1', 'ArrowLeft', 'Shift+ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowRight', 'Enter');
    assert.match(await text(page, '.legend'), /1 of 2 chosen/);
});

test('stage: with Select, a drag chooses without Shift', async (opener) => {
    const page = await opener.report(still_life(CORNERS.map((shares) => ({ shares }))));
    const { top } = cornersOf(await spots(page, '.barry3', of('cpu')));
    await page.click('#stage button:has-text("Select")');
    const box = await stageBox(page, '.barry3');
    await page.mouse.move(box.x + top.x - 20, box.y + top.y - 20);
    await page.mouse.down();
    for (const [dx, dy] of [[20, -20], [20, 20], [-20, 20]]) await page.mouse.move(box.x + top.x + dx, box.y + top.y + dy);
    await page.mouse.up();
    await still(page);
    assert.match(await text(page, '.legend'), /1 of 3 chosen/);
});
