// The stacked chart and the line chart. Heights equal the data, missing time is visible, and dragging
// the pointer shows other frames.
import { strict as assert } from 'node:assert';
import { assertNear, colour, press, rgb, still, test, text } from './harness.mjs';
import { COLOURS, stream } from './stream.mjs';
import { pixels, show } from './views.mjs';

const STATES = ['user', 'sleep', 'disk', 'lock'];
const AXES3 = [{ name: 'CPU', states: [0] }, { name: 'idle', states: [1] }, { name: 'waiting', states: [2, 3] }];
const AXES4 = [...AXES3.slice(0, 2), { name: 'I/O', states: [2] }, { name: 'contention', states: [3] }];
const [CPU, IDLE, WAITING] = COLOURS.axes3.map(rgb);

const WHOLE = [0.2, 0.3, 0.4, 0.1];
/** Entities a and b in 4 frames. 20 % of b is missing in the second frame, and b is 10 % above 100 % in the
 *  third frame. b has three times the elapsed time of a. */
const FRAMES = [
    [WHOLE, WHOLE], [WHOLE, [0.2, 0.2, 0.3, 0.1]], [WHOLE, [0.3, 0.3, 0.4, 0.1]], [[0.6, 0.3, 0.1, 0], [0.2, 0.7, 0.1, 0]],
].map(([a, b]) => [{ n: 0, shares: a, elapsed: 0.25 }, { n: 1, shares: b, elapsed: 0.75 }]);
const data = (others = {}) => stream({ states: STATES, axes3: AXES3, axes4: AXES4, names: ['a', 'b'], frames: FRAMES, ...others });

/** Returns the area of a chart in pixels of the page. x and y are relative to the corner of the canvas,
 *  left and top to the corner of the page. */
async function areaOf(page, view) {
    const canvas = await page.locator(`${view} canvas`).boundingBox(), over = await page.locator(`${view} .u-over`).boundingBox();
    return { x: over.x - canvas.x, y: over.y - canvas.y, width: over.width, height: over.height, left: over.x, top: over.y };
}

/** Returns the colours, on white, of a column of pixels from the lowest pixel up. The column is at frame
 *  t + within of `count` frames. */
async function column(page, view, t, count, within = 0.5) {
    const area = await areaOf(page, view);
    const x = area.x + ((t + within) * area.width) / count;
    const spots = Array.from({ length: Math.floor(area.height) }, (_, i) => [x, area.y + area.height - 1 - i]);
    return (await pixels(page, view, spots)).map(([r, g, b, alpha]) => [r, g, b].map((c) => (c * alpha) / 255 + 255 - alpha));
}

const isNear = (pixel, wanted, room = 12) => wanted.every((value, i) => Math.abs(value - pixel[i]) <= room);
/** Returns the height of a colour in a column, as a value of the axis. `top` is the value at the upper end. */
const heightOf = (found, wanted, top = 1) => (found.filter((pixel) => isNear(pixel, wanted)).length / found.length) * top;

test('view stack: the height of each area is the share of its states', async (opener) => {
    const page = await opener.report(data({ frames: [FRAMES[0], FRAMES[3]] }));
    await show(page, 'stack');
    const found = await column(page, '.stack', 0, 2, 0.75);
    const room = 1.6 / found.length;
    assertNear(heightOf(found, CPU), 0.2, room);
    assertNear(heightOf(found, IDLE), 0.3, room);
    assertNear(heightOf(found, WAITING), 0.5, room);
    const last = await column(page, '.stack', 1, 2);
    assertNear(heightOf(last, CPU), 0.25 * 0.6 + 0.75 * 0.2, room);
    assertNear(heightOf(last, IDLE), 0.25 * 0.3 + 0.75 * 0.7, room);
    const missing = await colour(page, 'missing');
    assert.ok([...found, ...last].every((pixel) => !isNear(pixel, missing, 40)));
}, { headed: true });

test('view stack: missing time is hatched red and time above 100 % is hatched black', async (opener) => {
    const page = await opener.report(data());
    await show(page, 'stack');
    const top = (1 + 0.075) * 1.03; // the value at the upper end of the axis
    const gap = await column(page, '.stack', 1, 4), room = 3 / gap.length;
    const [missing, over, paper] = [await colour(page, 'missing'), await colour(page, 'over'), await colour(page, 'paper')];
    assertNear(heightOf(gap, WAITING, top), 0.25 * 0.5 + 0.75 * 0.4, room);
    const at = (share) => Math.round((share / top) * gap.length);
    const between = gap.slice(at(0.85) + 2, at(1) - 2);
    assert.ok(between.some((pixel) => pixel[0] > 150 && pixel[1] < 160 && pixel[2] < 160), 'red strokes');
    assert.ok(between.some((pixel) => isNear(pixel, paper, 60)), 'free between them');
    assert.ok(!between.some((pixel) => [CPU, IDLE, WAITING].some((axis) => isNear(pixel, axis))));
    assert.ok(!gap.slice(at(1) + 3).some((pixel) => isNear(pixel, missing, 60)), 'nothing above 100 %');
    const high = await column(page, '.stack', 2, 4);
    const above = high.slice(at(1) + 2, at(1.075) - 1);
    assert.ok(above.some((pixel) => isNear(pixel, over, 90)), 'black strokes');
    assert.match(await text(page, '.stack .values'), /CPU\s+20 %/);
});

test('view stack: pointing at a frame in the barymap shows the values of that frame', async (opener) => {
    const page = await opener.report(data(), { height: 2400 });
    await show(page, 'stack');
    const map = await page.locator('#barymap canvas').first().boundingBox();
    await page.mouse.move(map.x + (2.5 * map.width) / 4, map.y + 5);
    await page.waitForFunction(() => /CPU\s+27\.5 %/.test(document.querySelector('.stack .values').innerText));
});

test('view stack: pointing at a frame shows the values of the pinned entities in this frame', async (opener) => {
    const page = await opener.report(data());
    await show(page, 'stack');
    const values = async () => (await text(page, '.stack .values')).replace(/\s+/g, ' ').trim();
    assert.equal(await values(), 'CPU 20 % idle 30 % waiting 50 %');
    const area = await areaOf(page, '.stack');
    const point = async (t) => {
        const now = await areaOf(page, '.stack');
        await page.mouse.move(now.left + ((t + 0.5) * area.width) / 4, now.top + 50);
        await still(page);
    };
    await point(1);
    assert.equal(await values(), 'CPU 20 % idle 22.5 % waiting 42.5 % unaccounted 15 %');
    await point(2);
    assert.equal(await values(), 'CPU 27.5 % idle 30 % waiting 50 % over 100 % +7.5 %');
    await page.mouse.move(1, 1);
    await press(page, 'n', 'p');
    await show(page, 'stack');
    await point(1);
    assert.equal(await values(), 'CPU 20 % idle 30 % waiting 50 %');
    assert.match(await text(page, '.stack .caption'), /a 1000/);
});

test('view stack: the view can show four areas instead of three', async (opener) => {
    const page = await opener.report(data({ frames: [FRAMES[0], FRAMES[0]] }));
    await show(page, 'stack');
    await page.selectOption('.stack .choice:nth-child(1) select', '4');
    await still(page);
    const found = await column(page, '.stack', 1, 2), of = COLOURS.axes4.map(rgb);
    assert.deepEqual(of.map((one) => Math.round(heightOf(found, one) * 20) / 20), [0.2, 0.3, 0.4, 0.1]);
});

test('view stack: the view can show one frame with its entities sorted by share', async (opener) => {
    const shares = [[0.1, 0.9, 0, 0], [0.8, 0.2, 0, 0], [0.4, 0.6, 0, 0], [0.2, 0.3, 0, 0]];
    const page = await opener.report(data({ names: ['a', 'b', 'c', 'd'], frames: [shares.map((one, n) => ({ n, shares: one }))] }));
    await show(page, 'stack');
    await page.selectOption('.stack .choice:nth-child(2) select', 'entities');
    await still(page);
    const heights = async () => {
        const found = [];
        for (let i = 0; i < 4; i++) found.push(Math.round(heightOf(await column(page, '.stack', i, 4), CPU) * 20) / 20);
        return found;
    };
    assert.deepEqual(await heights(), [0.8, 0.4, 0.2, 0.1]);
    const gap = await column(page, '.stack', 2, 4);
    assertNear(heightOf(gap, IDLE), 0.3, 0.02);
    assert.ok(gap.slice(Math.round(gap.length * 0.55)).some((pixel) => pixel[0] > 150 && pixel[1] < 160 && pixel[2] < 160), 'd lacks half');
    await page.selectOption('.stack .choice:nth-child(3) select', 'number');
    await still(page);
    assert.deepEqual(await heights(), [0.1, 0.8, 0.4, 0.2]);
    const area = await areaOf(page, '.stack');
    await page.mouse.move(area.left + area.width * 0.3, area.top + 40);
    await still(page);
    assert.match(await text(page, '.stack .caption'), /b 1001/);
    await page.mouse.down();
    await page.mouse.up();
    await still(page);
    assert.match(await text(page, '.legend'), /b 1001/);
});

test('view lines: the height of each line is the share of its states', async (opener) => {
    const page = await opener.report(data({ frames: [FRAMES[0], FRAMES[3]] }));
    await show(page, 'lines');
    const found = await column(page, '.lines', 0, 2, 0.75); // the axis ends at 100 %
    for (const [wanted, share] of [[CPU, 0.2], [IDLE, 0.3], [WAITING, 0.5]]) {
        const at = found.flatMap((pixel, i) => (isNear(pixel, wanted, 40) ? [i + 0.5] : []));
        assertNear(at.reduce((a, b) => a + b, 0) / at.length / found.length, share, 0.02);
    }
});

for (const view of ['stack', 'lines'])
    test(`view ${view}: clicks, drags and keys select another frame`, async (opener) => {
        const page = await opener.report(data({ frames: Array.from({ length: 8 }, (_, t) => FRAMES[t % 2 ? 3 : 0]) }));
        await show(page, view);
        const area = await areaOf(page, `.${view}`), x = (t) => area.left + ((t + 0.5) * area.width) / 8;
        await page.mouse.click(x(2), area.top + 60);
        await still(page);
        assert.match(await text(page, '.odometer'), /^3 \/ 8 /);
        await page.mouse.move(x(5), area.top + 60);
        await page.mouse.down();
        await page.mouse.move(x(6), area.top + 60);
        await page.mouse.up();
        await still(page);
        assert.match(await text(page, '.odometer'), /^7 \/ 8 /);
        await page.locator(`.${view} .chart`).focus();
        await press(page, 'ArrowLeft', 'ArrowLeft');
        assert.match(await text(page, '.odometer'), /^5 \/ 8 /);
        await press(page, 'End', 'ArrowRight');
        assert.match(await text(page, '.odometer'), /^8 \/ 8 /);
        assert.match(await page.getAttribute(`.${view} .chart`, 'aria-valuetext'), /: CPU 30 %, idle 60 %, waiting 10 %$/);
        assert.equal(await page.getAttribute(`.${view} .chart`, 'aria-valuenow'), '7');
    }, { headed: view === 'stack' });

test('charts: a long recording is drawn as means of several frames', async (opener) => {
    const frames = Array.from({ length: 5000 }, (_, t) => ({ key: t % 64 === 0, rows: [{ n: 0, shares: t % 4 < 2 ? [1, 0, 0, 0] : [0, 1, 0, 0] }] }));
    const page = await opener.report(data({ names: ['a'], frames }));
    await show(page, 'stack');
    await page.waitForFunction(() => /mean of 4 frames/.test(document.querySelector('.stack .caption').textContent));
    await page.waitForTimeout(1500);
    for (const at of [1, 40, 80]) assertNear(heightOf(await column(page, '.stack', at, 100), CPU), 0.5, 0.02);
});

test('time axis: all views show the label of a time at the same place', async (opener) => {
    const lengths = [1000, 4000, 1000, 2000], begin = 1.79e12; // frame() sets endMs = 1.79e12 + index * lengthMs
    const ends = lengths.map((_, i) => begin + lengths.slice(0, i + 1).reduce((a, b) => a + b));
    const frames = lengths.map((lengthMs, i) => ({ rows: FRAMES[0], lengthMs, index: (ends[i] - begin) / lengthMs }));
    const page = await opener.report(data({ frames }));
    for (const id of ['barymap', 'stack', 'lines']) {
        await show(page, id);
        const { texts, left, width, whole } = await page.evaluate(async (id) => {
            const found = new Map(), of = CanvasRenderingContext2D.prototype, write = of.fillText;
            of.fillText = function (text, x, y) {
                if (this.canvas.closest(`#${id}`) && /^\d\d:\d\d:\d\d/.test(text)) found.set(text, [x, this.measureText(text).width / 2]);
                write.call(this, text, x, y);
            };
            window.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
            document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
            await new Promise((done) => setTimeout(done, 300));
            of.fillText = write;
            const view = document.getElementById(id), over = view.querySelector('.u-over, .barymap-plot canvas').getBoundingClientRect();
            const from = (view.querySelector('.u-wrap, .barymap-plot')).getBoundingClientRect();
            return { texts: [...found], left: over.left - from.left, width: over.width, whole: from.width };
        }, id);
        assert.ok(texts.length >= 4, `${id}: ${texts}`);
        for (const [said, [x, half]] of texts) {
            const midnight = new Date(begin).setHours(0, 0, 0, 0), [h, m, s] = said.split(':').map(Number);
            const ms = midnight + ((h * 60 + m) * 60 + s) * 1000, i = Math.max(0, ends.findIndex((end) => end >= ms));
            const at = i + (ms - ends[i] + lengths[i]) / lengths[i];
            assertNear(x, Math.max(half, Math.min(whole - half, left + (at * width) / 4)), 3, `${id} ${said}`);
            assert.ok(x - half >= -0.5 && x + half <= whole + 0.5, `${id}: ${said} is inside`);
        }
    }
});

test('time axis: labels show days, minutes, seconds or tenths as needed', async (opener) => {
    const shapes = { [86400e3]: /^\d\d-\d\d$/, [60e3]: /^\d\d:\d\d$/, 1000: /^\d\d:\d\d:\d\d$/, 100: /^\d\d:\d\d:\d\d\.\d$/ };
    for (const [lengthMs, shape] of Object.entries(shapes)) {
        const page = await opener.page({ offline: true });
        await page.addInitScript(() => {
            const of = CanvasRenderingContext2D.prototype, write = of.fillText;
            window.written = [];
            of.fillText = function (text, x, y) {
                if (this.canvas.closest('#barymap')) window.written.push(text);
                write.call(this, text, x, y);
            };
        });
        const file = opener.write(data({ frames: Array.from({ length: 60 }, () => ({ rows: FRAMES[0], lengthMs: +lengthMs })) }));
        await page.goto(file);
        await page.waitForFunction(() => document.querySelector('.status')?.hidden && / \/ 60 /.test(document.querySelector('.odometer').textContent));
        await show(page, 'barymap');
        await page.waitForTimeout(500);
        const labels = (await page.evaluate(() => window.written)).filter((text) => /^\d\d[-:]/.test(text)).slice(-3); // written after all frames were read
        assert.ok(labels.length > 0 && labels.every((label) => shape.test(label)), `${lengthMs} ms: ${labels}`);
    }
});
