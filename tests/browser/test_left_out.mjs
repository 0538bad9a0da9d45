// Left-out time is time in states that belong to no vertex, such as the run queue of database sessions.
// A dot with much left-out time has a mark. This mark differs from the marks of missing time and of
// time accounted twice by its shape and colour.
import { strict as assert } from 'node:assert';
import { assertNear, colour, cornersOf, pixelsNear, point, press, said, spots, stageBox, still, test, text } from './harness.mjs';
import { stream } from './stream.mjs';
import { pixels, show } from './views.mjs';

const STATES = ['cpu', 'idle', 'wait', 'run_queue'];
const AXES3 = [{ name: 'CPU', states: [0] }, { name: 'idle', states: [1] }, { name: 'waiting', states: [2] }];
const AXES4 = [...AXES3, { name: 'none', states: [] }];
const RADIUS = 10.9; // of a dot that is active all the time, if there are few dots

/** Makes a frame with an entity at each corner, and with entities that have these shares. */
function sessions(shares, others = {}) {
    const rows = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], ...shares].map((own, n) => ({ n, shares: own }));
    return stream({ states: STATES, names: rows.map((_, n) => `session${n}`), frames: [rows], axes3: AXES3, axes4: AXES4, idle: false, ...others });
}

/** Computes the position of a dot with these shares. */
function spotOf({ top, left }, [cpu, idle, wait]) {
    const height = left.y - top.y, sum = cpu + idle + wait;
    return { x: left.x + (height * (cpu + 2 * wait)) / sum / Math.sqrt(3), y: left.y - (height * cpu) / sum };
}

const corners = async (page) => cornersOf(await spots(page, '.barry3', await colour(page, 'dot'), { near: 20 }));
const marksAt = async (page, spot, view = '.barry3') => pixelsNear(page, view, await colour(page, 'left-out'), spot, 1.75 * RADIUS, { near: 15 });

test('states without a corner: a dot with much time in these states has a ring of four arcs', async (opener) => {
    const much = [0.05, 0.1, 0.1, 0.75];
    for (const dark of [false, true]) {
        const page = await opener.report(sessions([much]), { ratio: 2, dark });
        const spot = spotOf(await corners(page), much);
        const [ink, dot, paper] = [await colour(page, 'left-out'), await colour(page, 'dot'), await colour(page, 'paper')];
        const at = async (distance, angle) => {
            const turn = (angle * Math.PI) / 180;
            const [[r, g, b]] = await pixels(page, '.barry3 .stage', [[spot.x + distance * Math.cos(turn), spot.y + distance * Math.sin(turn)]]);
            return [r, g, b];
        };
        const centre = await at(0, 0);
        const assertColour = (found, wanted, what) => found.forEach((value, i) => assertNear(value, wanted[i], 12, what));
        assertColour(await at(0, 0), dot.find((one) => one.every((value, i) => Math.abs(value - centre[i]) < 12)), 'the dot is whole');
        for (const angle of [0, 90, 180, 270]) {
            assertColour(await at(RADIUS + 5.5, angle), ink, `an arc at ${angle}`);
            assertColour(await at(RADIUS + 5.5, angle + 45), paper, `a gap at ${angle + 45}`);
            assertColour(await at(RADIUS + 2.5, angle), paper, 'between dot and ring');
        }
    }
}, { headed: true });

test('states without a corner: a dot with up to 5 % of its time in these states has no mark', async (opener) => {
    const [little, more] = [[0.5, 0.2, 0.26, 0.04], [0.1, 0.5, 0.34, 0.06]];
    const page = await opener.report(sessions([little, more]));
    const found = await corners(page);
    assert.equal(await marksAt(page, spotOf(found, little)), 0);
    assert.ok(await marksAt(page, spotOf(found, more)) > 20);
    assert.equal(await marksAt(page, found.top), 0);
});

test('states without a corner: the mark of a dot at a corner of the triangle is visible', async (opener) => {
    const plain = await opener.report(sessions([[0, 0, 1, 0]])), waits = await opener.report(sessions([[0, 0, 0.17, 0.83]]));
    for (const view of ['.barry3', '.barry4']) {
        // The marks of Barry4 fade by distance, so all pixels that are bluer than the dots are counted.
        const blue = async (page) => (await spots(page, view, await colour(page, 'left-out'), { near: 15, least: 2 })).length +
            (view === '.barry4' ? await bluish(page) : 0);
        if (view === '.barry4') for (const page of [plain, waits]) await press(page, 'b');
        assert.ok(await blue(waits) > await blue(plain), view);
    }
});

/** Counts the pixels of Barry4 that have the blue of an arc, even if the blue is faded to white. */
function bluish(page) {
    return page.evaluate(() => {
        const canvas = document.querySelector('.barry4 .stage canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        let count = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i + 2] - data[i] > 64) count++;
        return count;
    });
}

test('states without a corner: a dot that also has missing time has both rings', async (opener) => {
    const missing = [0.2, 0.1, 0.2, 0.3], over = [0.1, 0.5, 0.3, 0.4];
    const page = await opener.report(sessions([missing, over]));
    const found = await corners(page);
    for (const [name, shares] of [['missing', missing], ['over', over]]) {
        const spot = spotOf(found, shares);
        assert.ok(await pixelsNear(page, '.barry3', await colour(page, name), spot, 1.4 * RADIUS) > 8, name);
        assert.ok(await marksAt(page, spot) > 20, `${name}, and left out`);
    }
});

test('states without a corner: a dimmed dot has no mark', async (opener) => {
    const much = [0.1, 0.3, 0.2, 0.4];
    const page = await opener.report(sessions([much]));
    const spot = spotOf(await corners(page), much);
    await point(page, '.barry3', spot);
    assert.ok(await marksAt(page, spot) > 20);
    await point(page, '.barry3', { x: 3, y: 3 });
    assert.ok(await marksAt(page, spot) > 20);
    await page.fill('#search', 'session0');
    await still(page);
    assert.equal(await marksAt(page, spot), 0);
});

test('states without a corner: the legend names these states', async (opener) => {
    const page = await opener.report(sessions([]));
    const rings = async () => {
        await still(page);
        return (await text(page, '.rings')).replace(/\s+/g, ' ').trim();
    };
    assert.equal(await rings(), 'time is missing over 100 % at no vertex: run queue');
    await press(page, 'a');
    await page.fill('#edit-axes3', 'A=cpu; B=idle; C=run_queue');
    assert.equal(await rings(), 'time is missing over 100 % at no vertex: wait, run queue', 'of one picture or the other');
    await page.fill('#edit-axes4', 'A=cpu; B=idle; C=wait; D=run_queue');
    assert.equal(await rings(), 'time is missing over 100 % at no vertex: wait');
    await page.fill('#edit-axes3', 'A=cpu; B=idle; C=*');
    assert.equal(await rings(), 'time is missing over 100 %');
});

test('states without a corner: the tooltip shows the exact share of these states', async (opener) => {
    const much = [0.1, 0.3, 0.2, 0.4], little = [0.6, 0.1, 0.26, 0.04];
    const page = await opener.report(sessions([much, little]));
    const found = await corners(page);
    const row = page.locator('.tooltip tr', { hasText: 'left out' });
    const shown = async (shares) => {
        await point(page, '.barry3', spotOf(found, shares));
        return [await row.getAttribute('class'), (await row.innerText()).replace(/\s+/g, ' ').trim()];
    };
    assert.deepEqual(await shown(much), ['left-out', 'left out: run queue 40 % 400 ms']);
    assert.deepEqual(await shown(little), ['quiet', 'left out: run queue 4 % 40.0 ms']);
    await point(page, '.barry3', { x: 3, y: 3 });
    await press(page, 'n', 'n', 'n', 'n');
    assert.equal(await said(page), 'session3 1003: CPU 10 %, idle 30 %, waiting 20 %, left out 40 %');
});

test('states without a corner: the table has one column for the share of these states', async (opener) => {
    const page = await opener.report(sessions([[0.1, 0.3, 0.2, 0.4], [0.6, 0.1, 0.26, 0.04]]));
    await show(page, 'table');
    const heads = await page.locator('#table th').evaluateAll((cells) => cells.map(({ dataset }) => dataset.key));
    const at = heads.indexOf('left-out-0');
    assert.equal(heads.filter((key) => key.startsWith('left-out')).length, 1);
    assert.ok(at > 0 && !heads.includes('state-3'));
    assert.match(await page.locator('#table th').nth(at).innerText(), /left out \(run queue\)/i);
    const cells = await page.locator(`#table tbody tr:not(.room) td:nth-child(${at + 1})`).evaluateAll((all) => all.map(({ textContent, className }) => [textContent, className]));
    assert.deepEqual(cells.filter(([, name]) => name !== 'zero').sort(), [['4.00', ''], ['40.00', 'left-out']]);
});

test('states without a corner: small triangles mark dots with much time in these states', async (opener) => {
    const one = (name, shares) => stream({ states: STATES, names: [name, name], axes3: AXES3, axes4: AXES4, frames: [[{ n: 0, shares }, { n: 1, shares: [0, 0, 1 - shares[3], shares[3]] }]] });
    const count = async (shares) => {
        const page = await opener.report(one('a', shares), { ratio: 2 });
        await show(page, 'multiples');
        await page.selectOption('#multiples select', 'name');
        await show(page, 'multiples');
        const wanted = await colour(page, 'left-out');
        return page.locator('.small-triangle canvas').evaluate((canvas, ink) => {
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            let found = 0;
            for (let i = 0; i < data.length; i += 4) if (ink.every((value, c) => Math.abs(value - data[i + c]) < 15)) found++;
            return found;
        }, wanted);
    };
    const much = await count([0.3, 0, 0, 0.7]);
    assert.ok(much > 12, `${much} pixels`);
    assert.equal(await count([0.96, 0, 0, 0.04]), 0);
});

test('states without a corner: the legend fits on a phone', async (opener) => {
    const page = await opener.report(sessions([]), { width: 360, height: 740 });
    const { width } = await stageBox(page, '.barry3');
    const rings = await page.locator('.rings').boundingBox();
    assert.ok(rings.width <= width + 1, `${rings.width} of ${width}`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
});
