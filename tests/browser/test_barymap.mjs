// The barymap: the position of each cell, the colour of each cell (mixed in OKLab), scrubbing, brushing
// and keys.
import { strict as assert } from 'node:assert';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { colour, press, rgb, said, spots, still, test, text } from './harness.mjs';
import { CLASSES, entities, frame, head, stream } from './stream.mjs';
import { mixed, pixels, show } from './views.mjs';

const STATES = ['user', 'sleep', 'disk', 'other'];
const AXES3 = ['CPU', 'idle', 'waiting'].map((name, i) => ({ name, states: [i] }));
const of = (name, theme = 'light') => CLASSES.find((one) => one.name === name)[theme];
const [CPU, IDLE] = ['cpu', 'idle'].map((name) => of(name));
const PAPER = '#ffffff';
const PLOT = '.barymap-plot';

/** cells[entity][frame] are the shares of the entity in the frame. null means that the entity is absent. */
function grid(cells, others = {}) {
    const frames = cells[0].map((_, t) => cells.flatMap((row, n) => (row[t] ? [{ n, shares: row[t] }] : [])));
    return stream({ states: STATES, idle: true, axes3: AXES3, axes4: null, names: cells.map((_, n) => `e${n}`), frames, ...others });
}

const CELLS = [
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0.5, 0.5, 0, 0]],
    [[0.62, 0.28, 0.1, 0], [1 / 3, 1 / 3, 1 / 3, 0], [0.5, 0, 0, 0.5], [0.1, 0.2, 0.3, 0.4]],
    [[0.2, 0.2, 0.6, 0], null, [0.9, 0, 0, 0], [0.6, 0.3, 0.2, 0]],
];
const ROW = 18; // height of a row in pixels of the page, if there are few rows

/** Returns the middle of each of `cells`. A cell is given as [line, frame]. */
async function cellSpots(page, cells, frames = 4) {
    const { width } = await page.locator(`${PLOT} canvas`).first().boundingBox();
    return cells.map(([line, t]) => [((t + 0.5) * width) / frames, (line + 0.5) * ROW]);
}

async function cellOf(page, line, t, frames = 4) {
    const box = await page.locator(`${PLOT} canvas`).first().boundingBox();
    const [[x, y]] = await cellSpots(page, [[line, t]], frames);
    return { x: box.x + x, y: box.y + y };
}

function assertColour(pixel, expected, what) {
    assert.ok(expected.every((value, i) => Math.abs(value - pixel[i]) <= 2) && pixel[3] === 255, `${what}: ${pixel} is not ${expected}`);
}

async function byName(page) {
    await page.selectOption('.barymap select', 'name');
    await still(page);
}

test('view barymap: a cell mixes the colours of its classes in the OKLab colour space', async (opener) => {
    for (const dark of [false, true]) {
        const colours = ['cpu', 'idle', 'disk', ''].map((name) => of(name, dark ? 'dark' : 'light'));
        const page = await opener.report(grid(CELLS), { dark });
        await show(page, 'barymap');
        await byName(page);
        for (const [line, row] of CELLS.slice(0, 2).entries())
            for (const [t, shares] of row.entries()) {
                const [pixel] = await pixels(page, PLOT, await cellSpots(page, [[line, t]]));
                const expected = mixed(colours.map((one, i) => [one, shares[i]]));
                assertColour(pixel, expected, `line ${line}, frame ${t}`);
            }
    }
}, { headed: true });

/** Returns the set of the colours in the middle 14 x 14 pixels of a cell. */
async function coloursOf(page, line, t) {
    const [[x, y]] = await cellSpots(page, [[line, t]]);
    const box = Array.from({ length: 196 }, (_, i) => [x - 7 + (i % 14), y - 7 + Math.floor(i / 14)]);
    return new Set((await pixels(page, PLOT, box)).map((pixel) => pixel.slice(0, 3).join()));
}

test('view barymap: missing time is hatched red and time above 100 % is hatched black', async (opener) => {
    const page = await opener.report(grid(CELLS));
    await show(page, 'barymap');
    await byName(page);
    const missing = (await colour(page, 'missing')).join(), over = (await colour(page, 'over')).join();
    const red = await coloursOf(page, 2, 2), black = await coloursOf(page, 2, 3), plain = await coloursOf(page, 2, 0);
    assert.ok(red.has(missing) && !red.has(over));
    assert.ok(red.has(mixed([[CPU, 0.9], [PAPER, 0.1]]).join()), 'what is missing mixes towards the background');
    assert.ok(black.has(over) && !black.has(missing));
    assert.ok(!plain.has(missing) && !plain.has(over));
    const [[, , , alpha]] = await pixels(page, PLOT, await cellSpots(page, [[2, 1]]));
    assert.equal(alpha, 0);
    assert.match(await text(page, '.barymap .caption'), /3 entities × time · hatched red: time is missing · hatched black: over 100 %/);
});

test('view barymap: less than half a percent of missing or extra time has no hatching', async (opener) => {
    const cells = [[[0.996, 0, 0, 0], [0.994, 0, 0, 0], [0.5, 0.504, 0, 0], [0.5, 0.506, 0, 0]]];
    const page = await opener.report(grid(cells));
    await show(page, 'barymap');
    const marks = [(await colour(page, 'missing')).join(), (await colour(page, 'over')).join()];
    const found = [];
    for (let t = 0; t < 4; t++) found.push(marks.map((mark) => mark), (await coloursOf(page, 0, t)));
    assert.deepEqual([1, 3, 5, 7].map((i) => marks.filter((mark) => found[i].has(mark))), [[], [marks[0]], [], [marks[1]]]);
});

test('view barymap: rows can be sorted by share, name, group or cluster', async (opener) => {
    const cells = [[0.2], [0.9], [0.5], [0.21]].map(([share]) => [[share, 1 - share, 0, 0], [share, 1 - share, 0, 0]]);
    const page = await opener.report(grid(cells, { names: ['b', 'a', 'c', 'a'] }));
    await show(page, 'barymap');
    const order = async () => {
        await still(page);
        const found = await pixels(page, PLOT, await cellSpots(page, [[0, 0], [1, 0], [2, 0], [3, 0]], 2));
        const wanted = cells.map(([[share]]) => mixed([[CPU, share], [IDLE, 1 - share]]));
        return found.map((pixel) => wanted.findIndex((one) => one.every((value, i) => Math.abs(value - pixel[i]) <= 1)));
    };
    assert.deepEqual(await order(), [1, 2, 3, 0]);
    await page.selectOption('#group-by', 'name'); // and therefore by group
    assert.deepEqual(await order(), [1, 3, 0, 2]); // group a has two entities; b is before c
    assert.equal(await page.inputValue('.barymap select'), 'group');
    await page.selectOption('#group-by', 'none');
    assert.deepEqual(await order(), [1, 2, 3, 0]);
    await page.selectOption('.barymap select', 'name');
    assert.deepEqual(await order(), [1, 3, 0, 2]); // by name and pid: a 1001, a 1003, b 1000, c 1002
    await page.selectOption('#group-by', 'name');
    await page.selectOption('.barymap select', 'group');
    assert.deepEqual(await order(), [1, 3, 0, 2]); // group a has two entities; b is before c
    await page.selectOption('.barymap select', 'cluster');
    assert.deepEqual(await order(), [1, 2, 3, 0]);
});

test('view barymap: a line is the mean of several entities if there are too many', async (opener) => {
    const count = 1200; // at most 420 lines fit, so each of 400 lines has 3 entities
    const frames = [0, 1].map(() => Array.from({ length: count }, (_, n) => ({ n, shares: n % 3 === 0 ? [1, 0, 0, 0] : [0, 1, 0, 0] })));
    const names = Array.from({ length: count }, (_, n) => ({ name: 'x', id: 10000 + n, pid: 1 }));
    const page = await opener.report(stream({ states: STATES, idle: true, axes3: AXES3, axes4: null, names, frames }));
    await show(page, 'barymap');
    await byName(page);
    assert.match(await text(page, '.barymap .caption'), /1,200 entities × time · 3 entities a line: their mean/);
    assert.equal(await page.locator(`${PLOT} canvas`).first().evaluate((canvas) => canvas.height), 400);
    for (const pixel of await pixels(page, PLOT, [[50, 0.5], [50, 200.5], [600, 399.5]]))
        assertColour(pixel, mixed([[CPU, 1 / 3], [IDLE, 2 / 3]]), 'a line');
});

test('view barymap: a column is the mean of several frames if there are too many', async (opener) => {
    const frames = Array.from({ length: 5000 }, (_, t) => ({ key: t % 64 === 0, rows: [{ n: 0, shares: t % 4 < 2 ? [1, 0, 0, 0] : [0, 1, 0, 0] }] }));
    const page = await opener.report(stream({ states: STATES, idle: true, axes3: AXES3, axes4: null, names: ['a'], frames }));
    await show(page, 'barymap');
    await page.waitForFunction(() => /4 frames a column/.test(document.querySelector('.barymap .caption').textContent));
    await page.waitForTimeout(1500);
    for (const pixel of await pixels(page, PLOT, [[10, 9], [500, 9], [1000, 9]]))
        assertColour(pixel, mixed([[CPU, 0.5], [IDLE, 0.5]]), 'a column');
});

test('view barymap: the colours are those of the classes, whatever states the corners have', async (opener) => {
    const page = await opener.report(grid(CELLS));
    await show(page, 'barymap');
    await byName(page);
    await press(page, 'a');
    await page.fill('#edit-axes3', 'X=other; Y=disk; Z=*'); // scrolls to the editor
    await show(page, 'barymap');
    const [pixel] = await pixels(page, PLOT, await cellSpots(page, [[1, 3]]));
    assertColour(pixel, mixed(['cpu', 'idle', 'disk', ''].map((name, i) => [of(name), CELLS[1][3][i]])), 'line 1, frame 3');
});

test('view barymap: clicking or dragging selects the current frame', async (opener) => {
    const page = await opener.report(grid(CELLS));
    await show(page, 'barymap');
    let at = await cellOf(page, 0, 2);
    await page.mouse.click(at.x, at.y);
    await still(page);
    assert.match(await text(page, '.odometer'), /^3 \/ 4 /);
    at = await cellOf(page, 0, 2);
    const to = await cellOf(page, 0, 3);
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y);
    await page.mouse.up();
    await still(page);
    assert.match(await text(page, '.odometer'), /^4 \/ 4 /);
}, { headed: true });

test('view barymap: pointing at a cell shows the exact values of its entity', async (opener) => {
    const page = await opener.report(grid(CELLS), { height: 1300 });
    await show(page, 'barymap');
    await byName(page);
    const at = await cellOf(page, 1, 0);
    await page.mouse.move(at.x, at.y);
    await still(page);
    assert.match((await text(page, '.barymap .tip')).replace(/\s+/g, ' '), /^e1 1001 .* CPU 62 % disk 10 % unknown 0 % idle 28 %$/);
    assert.equal((await spots(page, '.barry3', await colour(page, 'ink'), { layer: 0 })).length, 1);
});

test('view barymap: dragging with Shift selects rows and dims the other rows', async (opener) => {
    const page = await opener.report(grid(CELLS));
    await show(page, 'barymap');
    await byName(page);
    const from = await cellOf(page, 0, 1), to = await cellOf(page, 1, 1);
    await page.keyboard.down('Shift');
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y);
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await still(page);
    assert.match(await text(page, '.legend'), /2 of 3 chosen/);
    const paper = await colour(page, 'paper'), left = Number((await page.locator(`${PLOT} canvas`).first().evaluate((c) => c.style.left)).replace('px', ''));
    const [x, y] = (await cellSpots(page, [[2, 2]]))[0]; // outside the column of the current frame
    const [[r, g, b, alpha]] = await pixels(page, PLOT, [[left + x + 30, y]], 1);
    assert.deepEqual([r, g, b], paper);
    assert.ok(alpha > 150);
});

test('view barymap: the view can be used with keys only', async (opener) => {
    const page = await opener.report(grid(CELLS));
    await show(page, 'barymap');
    await byName(page);
    await page.locator(PLOT).focus();
    await press(page, 'ArrowDown');
    assert.match(await said(page), /^e0 1000, .*: CPU 100 %, disk 0 %, unknown 0 %, idle 0 %$/);
    await press(page, 'ArrowDown', 'ArrowRight', 'ArrowRight');
    assert.match(await said(page), /^e1 1001, .*: CPU 50 %, disk 0 %, unknown 50 %, idle 0 %$/);
    await press(page, 'Enter');
    assert.match(await text(page, '.odometer'), /^3 \/ 4 /);
    await press(page, 'p');
    assert.match(await text(page, '.legend'), /e1 1001/);
    await press(page, 'ArrowDown', 'Home', 'ArrowRight');
    assert.match(await said(page), /^e2 1002, .*: absent$/);
    await press(page, 'Shift+ArrowUp');
    assert.match(await text(page, '.legend'), /2 of 3 chosen/);
    await press(page, 'Escape');
    assert.doesNotMatch(await text(page, '.legend'), /chosen/);
}, { headed: true });

test('view barymap: a live stream adds columns without changing earlier ones', async (opener) => {
    let response;
    const server = createServer((request, to) => {
        if (!request.url.startsWith('/stream'))
            return to.writeHead(200, { 'Content-Type': 'text/html' }).end(readFileSync(new URL('../../web/dist/page.html', import.meta.url)));
        response = to.writeHead(200);
        response.write(Buffer.concat([head({ states: STATES, axes3: AXES3, axes4: null, live: true }), entities(['a'])]));
        send(0);
    }).listen(0, '127.0.0.1');
    const shares = (t) => (t % 2 ? [0, 1, 0, 0] : [1, 0, 0, 0]);
    const send = (t) => response.write(frame(4, [{ n: 0, shares: shares(t) }], { index: t }));
    await new Promise((listening) => server.on('listening', listening));
    try {
        const page = await opener.page();
        await page.goto(`http://127.0.0.1:${server.address().port}/#token`);
        await page.waitForFunction(() => /^1 /.test(document.querySelector('.odometer')?.textContent ?? ''));
        await show(page, 'barymap');
        for (let t = 1; t < 70; t++) {
            send(t);
            if (t !== 20 && t !== 69) continue;
            await page.waitForFunction((frames) => document.querySelector('.odometer').textContent.startsWith(`${frames} `), t + 1);
            const spots = await cellSpots(page, [[0, 0], [0, 1], [0, t], [0, t + 1]], t < 60 ? 32 : 73);
            let found;
            for (let tries = 0; tries < 50 && !(found?.[2][3] === 255 && found[3][3] === 0); tries++) { // the page sorts the rows every 2 s
                await page.waitForTimeout(200);
                found = await pixels(page, PLOT, spots);
            }
            assertColour(found[0], rgb(CPU), 'the first');
            assertColour(found[1], rgb(IDLE), 'the second');
            assertColour(found[2], rgb(t % 2 ? IDLE : CPU), `frame ${t}`);
            assert.equal(found[3][3], 0, 'what is to come is free');
        }
    } finally {
        response.end();
        server.closeAllConnections();
        server.close();
    }
});
