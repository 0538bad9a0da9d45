// The view "Why" of a live page: it shows the causes of the frames that the page shows, of the group that was chosen.
import { strict as assert } from 'node:assert';
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { barsOf, causes, WORDS } from './causes.mjs';
import { assertNear, press, Skip, still, test, text } from './harness.mjs';
import { CAUSES, entities, frame, head, json } from './stream.mjs';
import { show } from './views.mjs';

const STATES = ['user', 'run_queue', 'lock'];
const NAMES = [{ name: 'order', id: 10, pid: 10 }, { name: 'writer', id: 11, pid: 10 }, { name: 'batch', id: 20, pid: 20 }, { name: 'late', id: 30, pid: 30 },
    { name: 'kworker/0', id: 40, pid: 40, kernel: true }];
const GROUPS = [[0, 0, 0, 9, ''], [1, 1, 0, 2, ''], [4, 3, 0, 2, 'order'], [5, 3, 0, 1, 'batch'], [6, 3, 0, 0, 'gone']];
const rows = NAMES.map((_, n) => ({ n, shares: [0.3 - 0.05 * n, 0.3, 0.3] }));

/** The causes of an interval: order waited so many percent of it for batch. */
const waited = (percent, more = {}) => causes({
    groups: GROUPS,
    rows: [[4, 'user', 'on_cpu', 0, 1000 - 10 * percent], [4, 'lock', 'group', 5, 10 * percent], [5, 'user', 'on_cpu', 0, 400], [5, 'lock', 'timer', 0, 600],
        [1, 'lock', 'timer', 0, 1000], [0, 'user', 'on_cpu', 0, 1000]],
    ...more,
});

/** Serves a page with the first frame, and perhaps its causes, which come before it. send() sends more blocks. */
async function live(opener, first, check, words = { causes: WORDS }) {
    const page = readFileSync(new URL('../../web/dist/page.html', import.meta.url));
    let send;
    const server = createServer((request, response) => {
        if (request.url === '/stream') {
            send = (bytes) => response.write(bytes);
            return send(Buffer.concat([head({ states: STATES, idle: false, live: true, axes4: null, ...words }), entities(NAMES), ...first]));
        }
        response.writeHead(request.url === '/' ? 200 : 404, { 'Content-Type': 'text/html' });
        return response.end(request.url === '/' ? page : '');
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    try {
        const opened = await opener.page();
        await opened.goto(`http://127.0.0.1:${server.address().port}/#c0ffee`);
        await opened.waitForFunction(() => document.querySelector('#why'));
        await check(opened, (...blocks) => send(Buffer.concat(blocks)));
    } finally {
        await new Promise((done) => {
            server.close(done);
            server.closeAllConnections();
        });
    }
}

const at = (index) => frame(3, rows, { index });
const sentence = (page, wanted) => page.waitForFunction((of) => document.querySelector('#why .why-sentence').textContent.startsWith(of), wanted);
const note = (page, wanted) => page.waitForFunction((of) => new RegExp(of).test(document.querySelector('#why .why-note').textContent), wanted);
const frames = (page, count) => page.waitForFunction((of) => document.querySelector('.odometer').textContent.startsWith(`${of} / ${of} `), count);

test('why live: without --why the view says which option shows causes', (opener) => live(opener, [at(0)], async (page) => {
    await show(page, 'why');
    assert.match(await text(page, '#why .why-help'), /^The causes of waits are not measured\. .* camp view --why/);
    assert.equal(await page.locator('#why .choice').first().isVisible(), false);
}, {}));

test('why live: each new frame shows its causes while frames are followed, and an earlier frame its own', (opener) => live(opener, [waited(10), at(0)], async (page, send) => {
    await show(page, 'why');
    await page.mouse.move(1, 1);
    await page.selectOption('#why-group', { label: 'order' });
    await sentence(page, 'order was on a CPU 90.0 %');
    send(waited(20), at(1));
    await sentence(page, 'order was on a CPU 80.0 %');
    await page.evaluate(() => document.activeElement.blur());
    await press(page, ','); // an arrow would open another tab
    await sentence(page, 'order was on a CPU 90.0 %');
    send(waited(30), at(2));
    await frames(page, 3).catch(() => undefined);
    await sentence(page, 'order was on a CPU 90.0 %');
    await press(page, 'l');
    await sentence(page, 'order was on a CPU 70.0 %');
    assert.equal(await page.locator('#why .why-note').isVisible(), false);
}));

test('why live: a row of the ranking, a pin, the list and a name in the tree choose the group', (opener) => live(opener, [waited(50), at(0)], async (page) => {
    await show(page, 'why');
    await sentence(page, 'all threads were');
    assert.deepEqual(await page.locator('#why-group option').allInnerTexts(), ['all threads', 'batch', 'order', 'kernel threads', 'other processes']);
    await page.locator('#ranking .name', { hasText: 'order' }).click();
    await show(page, 'why'); // a live page draws what is visible
    await sentence(page, 'order was');
    assert.equal(await page.locator('#why-group option:checked').innerText(), 'order');
    await page.locator('#why tr[data-row] .why-link', { hasText: 'batch' }).click();
    await sentence(page, 'batch was');
    assert.equal(await page.locator('#why tr[data-row] .why-link').count(), 0);
    await page.selectOption('#why-group', '');
    await sentence(page, 'all threads were');
    await press(page, 'Escape'); // the ranking's choice ends
    await show(page, 'table');
    await page.locator('#table tbody td', { hasText: 'writer' }).click(); // a thread of the process "order"
    await show(page, 'why');
    await sentence(page, 'order was');
    await show(page, 'table');
    await page.locator('#table tbody td', { hasText: 'kworker' }).click();
    await show(page, 'why');
    await sentence(page, 'kernel threads was');
}));

test('why live: a process without a group of its own shows the other processes, and says so', (opener) => live(opener, [waited(50), at(0)], async (page) => {
    await show(page, 'why');
    await sentence(page, 'all threads were');
    await page.locator('#ranking .name', { hasText: 'late' }).click();
    await show(page, 'why');
    await sentence(page, 'other processes was');
    assert.match(await text(page, '#why .why-note'), /^late has no group of its own/);
}));

test('why live: a process of its own is found by its number, whatever its name', (opener) => live(opener, [causes({
    groups: [[0, 0, 0, 1, ''], [2, 4, 10, 2, 'before-exec'], [3, 3, 0, 1, 'order']], rows: [[2, 'user', 'on_cpu', 0, 700], [3, 'user', 'on_cpu', 0, 300]],
}), at(0)], async (page) => {
    await show(page, 'why');
    await page.locator('#ranking .name', { hasText: 'order' }).click();
    await show(page, 'why');
    await sentence(page, 'before-exec (10) was on a CPU 100.0 % of 0.70 s');
}));

test('why live: a group that is not in a frame stays chosen', (opener) => live(opener, [waited(50), at(0)], async (page, send) => {
    await show(page, 'why');
    await page.mouse.move(1, 1);
    await page.selectOption('#why-group', { label: 'order' });
    await sentence(page, 'order was');
    await page.evaluate(() => document.activeElement.blur());
    send(causes({ groups: [[0, 0, 0, 1, '']], rows: [[0, 'user', 'on_cpu', 0, 1000]] }), at(1));
    await sentence(page, 'order had no time in this interval.');
    assert.equal(await page.locator('#why-group option:checked').innerText(), 'order');
    send(waited(50), at(2));
    await sentence(page, 'order was');
}));

test('why live: an interval without causes, one whose causes cannot be read and damaged ones are reported in one line each', (opener) => live(opener, [waited(50), at(0)], async (page, send) => {
    await show(page, 'why');
    await page.mouse.move(1, 1);
    await sentence(page, 'all threads were');
    send(at(1));
    await note(page, '^This interval has no causes of waits\\.$');
    assert.equal(await text(page, '#why .why-sentence'), '');
    send(json(CAUSES, { error: 'the ledger <b>is gone</b>' }), at(2));
    await note(page, '^The causes of this interval cannot be read: the ledger <b>is gone</b>\\.$');
    const good = JSON.parse(waited(50).subarray(8).toString().replace(/\0+$/, ''));
    const damagedOnes = [{ rows: 7 }, { ...good, rows: [[4, 99, 0, 0, 1]] }, [], { ...good, rows: [[4, 0, 0, 0, 1e308], [5, 0, 0, 0, 1e308]] }];
    for (const [index, damaged] of damagedOnes.entries()) {
        send(json(CAUSES, damaged), at(3 + 2 * index));
        await frames(page, 4 + 2 * index);
        await note(page, '^The causes of this interval cannot be read: they are damaged\\.$');
        // The next interval has causes again, so each note is new.
        send(waited(50), at(4 + 2 * index));
        await sentence(page, 'all threads were');
    }
}));

test('why live: what is shown stays while the pointer is in it', (opener) => live(opener, [waited(10), at(0)], async (page, send) => {
    await show(page, 'why');
    await page.mouse.move(1, 1);
    await page.selectOption('#why-group', { label: 'order' });
    await sentence(page, 'order was on a CPU 90.0 %');
    await page.locator('#why .why-content tr[data-row]').first().hover();
    const row = await page.locator('#why tr[data-row]').first().elementHandle();
    send(waited(20), at(1));
    await note(page, '^Held');
    await still(page);
    await sentence(page, 'order was on a CPU 90.0 %');
    assert.equal(await row.evaluate((one) => one.isConnected), true);
    await page.mouse.move(1, 1);
    await sentence(page, 'order was on a CPU 80.0 %');
}));

const CAMP = process.env.CAMP ?? new URL('../../build/gcc/src/camp', import.meta.url).pathname;

test('why live: camp view --why shows the causes of this machine', async (opener) => {
    const probe = spawnSync(CAMP, ['why', '--count', '1', '--interval', '50ms'], { encoding: 'utf8' });
    if (probe.error || probe.status !== 0) throw new Skip((probe.stderr || String(probe.error)).trim());
    const camp = spawn(CAMP, ['view', '--why', '--interval', '500ms'], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
        const url = await new Promise((done, failed) => {
            camp.stdout.once('data', (data) => done(String(data).trim()));
            camp.once('exit', (status) => failed(new Error(`camp view --why ended with ${status}`)));
        });
        const page = await opener.page();
        await page.goto(url);
        await page.waitForFunction(() => document.querySelector('#ranking tbody tr[data-key]'));
        await show(page, 'why');
        await page.mouse.move(1, 1);
        await page.waitForFunction(() => /^all threads were on a CPU/.test(document.querySelector('#why .why-sentence').textContent));
        const states = (await barsOf(page)).filter(({ level }) => level === 'state');
        assert.ok(states.length > 1);
        assertNear(states.at(-1).from + states.at(-1).width, 100, 2, 'the states end'); // without small states, which share a line
        const options = await page.locator('#why-group option').allInnerTexts();
        assert.ok(options.includes('camp'), options.join());
        await page.selectOption('#why-group', { label: 'camp' });
        await page.waitForFunction(() => /^camp was on a CPU/.test(document.querySelector('#why .why-sentence').textContent));
    } finally {
        camp.kill();
    }
});
