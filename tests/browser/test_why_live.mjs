// The view "Why" of a live page: it asks only while it is open, with the token, for the group that was chosen.
import { strict as assert } from 'node:assert';
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { barsOf, state, cause, who, why } from './causes.mjs';
import { assertNear, press, Skip, still, test, text } from './harness.mjs';
import { entities, frame, head } from './stream.mjs';
import { show } from './views.mjs';

const STATES = ['user', 'run_queue', 'lock'];
const NAMES = [{ name: 'order', id: 10, pid: 10 }, { name: 'writer', id: 11, pid: 10 }, { name: 'batch', id: 20, pid: 20 }, { name: 'late', id: 30, pid: 30 },
    { name: 'kworker/0', id: 40, pid: 40, kernel: true }];
const GROUPS = [[0, 'other', 'other processes'], [1, 'kernel', 'kernel threads'], [4, 'name', 'order'], [5, 'name', 'batch']].map(([number, kind, name]) => ({ number, kind, name, threads: 2 }));
const rows = NAMES.map((_, n) => ({ n, shares: [0.3 - 0.05 * n, 0.3, 0.3] }));

/** Serves a page with causes. answer(target) returns the JSON of an answer, or a status. */
async function serve(answer, { causes = true } = {}) {
    const page = readFileSync(new URL('../../web/dist/page.html', import.meta.url));
    const asked = [];
    let send;
    const server = createServer((request, response) => {
        if (request.url === '/stream') {
            send = (bytes) => response.write(bytes);
            return send(Buffer.concat([head({ states: STATES, idle: false, live: true, axes4: null, ...(causes ? { causes: true } : {}) }), entities(NAMES), frame(3, rows)]));
        }
        if (request.url.startsWith('/why')) {
            asked.push({ target: request.url, token: request.headers.authorization, ms: Date.now() });
            const answered = answer(request.url, asked.length);
            response.writeHead(typeof answered === 'number' ? answered : 200, { 'Content-Type': 'application/json' });
            return response.end(typeof answered === 'number' ? '' : JSON.stringify(answered));
        }
        response.writeHead(request.url === '/' ? 200 : 404, { 'Content-Type': 'text/html' });
        return response.end(request.url === '/' ? page : '');
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    const close = () => new Promise((done) => {
        server.close(done);
        server.closeAllConnections();
    });
    return { url: `http://127.0.0.1:${server.address().port}/#c0ffee`, asked, send: (bytes) => send(bytes), close };
}

const nameOf = (target) => GROUPS.find(({ number }) => target === `/why/${number}`)?.name ?? 'all threads';
/** An interval that ends now. */
const now = (target, more = {}) => ({ interval_ms: 400, groups: GROUPS, why: { ...why({ subject: nameOf(target), sentence: `${nameOf(target)} waited.`, ...more }), time: new Date().toISOString() } });

async function live(opener, answer, check, options) {
    const served = await serve(answer, options);
    try {
        const page = await opener.page();
        await page.goto(served.url);
        await page.waitForFunction(() => /^1 \/ 1 /.test(document.querySelector('.odometer').textContent));
        await check(page, served);
    } finally {
        await served.close();
    }
}

const sentence = (page, wanted) => page.waitForFunction((of) => document.querySelector('#why .why-sentence').textContent === of, wanted);

test('why live: without --why the view says which option shows causes, and asks nothing', (opener) => live(opener, now, async (page, { asked }) => {
    await show(page, 'why');
    await page.waitForTimeout(500);
    assert.match(await text(page, '#why .why-help'), /^The causes of waits are not loaded\. .* camp view --why/);
    assert.deepEqual(asked, []);
}, { causes: false }));

test('why live: the page asks while the view is open, about once an interval, and with the token', (opener) => live(opener, now, async (page, { asked, send }) => {
    send(frame(3, rows, { index: 1 }));
    await page.waitForTimeout(500);
    assert.deepEqual(asked, [], 'the view is closed');
    await show(page, 'why');
    await sentence(page, 'all threads waited.');
    assert.equal(asked[0].token, 'Bearer c0ffee');
    assert.equal(asked[0].target, '/why');
    const before = asked.length, started = Date.now();
    await page.waitForTimeout(2000);
    const spent = Date.now() - started, more = asked.length - before;
    assert.ok(more >= 2 && more <= 1 + spent / 100, `${more} questions in ${spent} ms, for intervals of 400 ms`);
    await page.locator('#tab-table').click();
    await page.waitForTimeout(600);
    const closed = asked.length;
    send(frame(3, rows, { index: 2 }));
    await page.waitForTimeout(1200);
    assert.equal(asked.length, closed, 'the view was closed again');
    await page.locator('#tab-why').click();
    send(frame(3, rows, { index: 3 }));
    for (const end = Date.now() + 10000; asked.length === closed && Date.now() < end;) await page.waitForTimeout(50);
    assert.ok(asked.length > closed, 'it is open again');
}));

test('why live: a row of the ranking, a pin, the list and a name in the tree choose the group', (opener) => live(opener, (target) => now(target, {
    tree: [state('lock', 100), cause('lock', 'group', 100), who('lock', 'group', 'batch', 60), who('lock', 'group', 'stranger', 40)],
}), async (page, { asked }) => {
    await show(page, 'why');
    await sentence(page, 'all threads waited.');
    assert.deepEqual(await page.locator('#why-group option').allInnerTexts(), ['all threads', 'batch', 'order', 'kernel threads', 'other processes']);
    await page.locator('#ranking .name', { hasText: 'order' }).click();
    await show(page, 'why'); // a live page draws what is visible
    await sentence(page, 'order waited.');
    assert.equal(asked.at(-1).target, '/why/4');
    assert.equal(await page.inputValue('#why-group'), '4');
    assert.equal(await page.locator('#why tr[data-row] .why-link').count(), 1, 'a group that the server does not know is no link');
    await page.locator('#why tr[data-row] .why-link', { hasText: 'batch' }).click();
    await sentence(page, 'batch waited.');
    await page.selectOption('#why-group', 'all');
    await sentence(page, 'all threads waited.');
    await press(page, 'Escape'); // the ranking's choice ends
    await show(page, 'table');
    await page.locator('#table tbody td', { hasText: 'writer' }).click(); // a thread of the process "order"
    await show(page, 'why');
    await sentence(page, 'order waited.');
    await show(page, 'table');
    await page.locator('#table tbody td', { hasText: 'kworker' }).click();
    await show(page, 'why');
    await sentence(page, 'kernel threads waited.');
}));

test('why live: a process without a group of its own shows the other processes, and says so', (opener) => live(opener, now, async (page) => {
    await show(page, 'why');
    await sentence(page, 'all threads waited.');
    await page.locator('#ranking .name', { hasText: 'late' }).click();
    await show(page, 'why');
    await sentence(page, 'other processes waited.');
    assert.match(await text(page, '#why .why-note'), /^late has no group of its own/);
}));

test('why live: until the first interval ends, the view says that it measures', (opener) => {
    let isReady = false;
    return live(opener, (target) => (isReady ? now(target) : { interval_ms: 400, groups: [], why: null }), async (page) => {
        await show(page, 'why');
        await page.waitForFunction(() => /^Measuring/.test(document.querySelector('#why .why-note').textContent));
        isReady = true;
        await sentence(page, 'all threads waited.');
        assert.equal(await page.locator('#why .why-note').isVisible(), false);
    });
});

test('why live: an error of the ledger is shown, and nothing more is asked', (opener) => live(opener, () => ({ error: 'the ledger <b>is gone</b>' }), async (page, { asked, send }) => {
    await show(page, 'why');
    await page.waitForFunction(() => /the ledger <b>is gone<\/b>$/.test(document.querySelector('#why .why-note').textContent));
    send(frame(3, rows, { index: 1 }));
    await page.waitForTimeout(1000);
    assert.equal(asked.length, 1);
}));

test('why live: an answer that is not of the server of camp is refused', (opener) => live(opener, () => [7], async (page) => {
    await show(page, 'why');
    await page.waitForFunction(() => /answered with status 200/.test(document.querySelector('#why .why-note').textContent));
}));

test('why live: at an earlier frame, the causes of that time are shown, or it is said that they were not read', (opener) => live(opener, now, async (page, { send }) => {
    for (const [index, ago] of [[1, 100], [2, 0]]) send(frame(3, rows, { index: (Date.now() - 1.79e12) / 1000 - ago + index / 1e6 }));
    await page.waitForFunction(() => /^3 \/ 3 /.test(document.querySelector('.odometer').textContent));
    await show(page, 'why');
    await page.mouse.move(1, 1);
    await sentence(page, 'all threads waited.');
    assert.equal(await page.locator('#why .why-note').isVisible(), false);
    await press(page, ','); // an arrow would open another tab
    await page.waitForFunction(() => /were not read, because this view was closed then/.test(document.querySelector('#why .why-note').textContent));
    await press(page, 'l');
    await still(page);
    assert.equal(await page.locator('#why .why-note').isVisible(), false);
}));

test('why live: what is shown stays while the pointer is in it', (opener) => {
    let number = 0;
    return live(opener, (target) => now(target, { sentence: `number ${number++}` }), async (page) => {
        await show(page, 'why');
        await page.mouse.move(1, 1);
        await page.waitForFunction(() => /^number [1-9]/.test(document.querySelector('#why .why-sentence').textContent));
        await page.locator('#why .why-content tr[data-row]').first().hover();
        await page.waitForFunction(() => /^Held/.test(document.querySelector('#why .why-note').textContent));
        const held = await text(page, '#why .why-sentence'), bar = await page.locator('#why tr[data-row]').first().elementHandle();
        await page.waitForTimeout(1500);
        assert.equal(await text(page, '#why .why-sentence'), held);
        assert.equal(await bar.evaluate((row) => row.isConnected), true);
        await page.mouse.move(1, 1);
        await page.waitForFunction((of) => document.querySelector('#why .why-sentence').textContent !== of, held);
    });
});

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
