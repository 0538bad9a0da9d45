// The address keeps the selections of the page, but never the token. Pictures and rows can be saved.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { press, still, test, text } from './harness.mjs';
import { entities, frame, head, stream } from './stream.mjs';
import { show } from './views.mjs';

const STATES = ['user', 'sleep', 'disk', 'lock'];
const NAMES = ['nginx', '=1+1', 'a "b", c', 'cron'];
const rowsAt = (t) => NAMES.map((_, n) => ({ n, shares: [0.1 * n + 0.05 * t, 0.2, 0.1, 0.1] }));
const data = () => stream({ states: STATES, names: NAMES, frames: [0, 1, 2, 3, 4, 5].map(rowsAt) });

/** Makes selections with the controls of the page, and waits until they are in the address. */
async function choose(page) {
    await page.selectOption('#ranking-by', 'name');
    await page.fill('#search', 'n|=');
    await page.locator('#search').blur();
    await press(page, 'n', 'p');
    await show(page, 'compare');
    await page.selectOption('#compare .choices select', 'halves');
    await page.waitForFunction(() => /compare=/.test(location.hash) && /tab=compare/.test(location.hash));
}

/** Fails unless the selections of choose() are shown. */
async function assertChosen(page) {
    await page.waitForFunction(() => document.querySelector('#tab-compare').getAttribute('aria-selected') === 'true');
    await still(page);
    assert.equal(await page.inputValue('#search'), 'n|=');
    // A live page knows the ways to group after its first frames.
    await page.waitForFunction(() => document.querySelector('#ranking-by').value === 'name');
    assert.match(await text(page, '.legend'), /nginx 1000/);
    await show(page, 'compare');
    const ranges = await page.locator('.periods .caption').allInnerTexts();
    assert.match(ranges[0], /, 3 frames$/);
    assert.match(ranges[1], /, 3 frames$/);
}

test('address: a reload of a report shows the same selections', async (opener) => {
    const page = await opener.report(data());
    assert.equal(new URL(page.url()).hash, '');
    await choose(page);
    await page.reload();
    await assertChosen(page);
    await page.locator('#compare button', { hasText: 'End' }).click();
    await page.locator('button[aria-label="Unpin nginx 1000"]').click();
    await page.fill('#search', '');
    await page.selectOption('#ranking-by', 'pid');
    await page.locator('#tab-table').click();
    await page.waitForFunction(() => location.hash === '#by=pid');
});

test('address: a reload shows the tetrahedron again', async (opener) => {
    const page = await opener.report(data());
    await press(page, 'b');
    await page.waitForFunction(() => location.hash === '#stage=tetrahedron');
    await page.reload();
    await page.waitForFunction(() => document.querySelector('#stage.barry4'));
    await press(page, 'b');
    await page.waitForFunction(() => location.hash === '');
});

test('address: a live page keeps the selections and its token, which the address never contains', async (opener) => {
    const page_ = readFileSync(new URL('../../web/dist/page.html', import.meta.url)), tokens = [], asked = [];
    const server = createServer((request, response) => {
        asked.push(request.url);
        if (request.url === '/stream') {
            tokens.push(request.headers.authorization);
            return response.write(Buffer.concat([head({ states: STATES, live: true }), entities(NAMES), ...[0, 1, 2, 3, 4, 5].map((t) => frame(4, rowsAt(t), { index: t }))]));
        }
        response.writeHead(request.url === '/' ? 200 : 404, { 'Content-Type': 'text/html' });
        response.end(request.url === '/' ? page_ : '');
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    try {
        const page = await opener.page();
        await page.goto(`http://127.0.0.1:${server.address().port}/#c0ffee`);
        await page.waitForFunction(() => document.querySelector('#ranking tbody tr[data-key]'));
        await choose(page);
        assert.ok(!page.url().includes('c0ffee'));
        await page.reload();
        await assertChosen(page);
        assert.deepEqual([...new Set(tokens)], ['Bearer c0ffee']);
        assert.deepEqual([...new Set(asked)].sort(), ['/', '/stream']); // no query, which the server refuses
    } finally {
        server.closeAllConnections();
        await new Promise((done) => server.close(done));
    }
});

test('address: a range is restored, and one that another source cannot have is ignored', async (opener) => {
    const url = opener.write(data());
    const page = await opener.page({ offline: true });
    const end = (t) => 1.79e12 + 1000 * t;
    await page.goto(`${url}#range=${end(1)}-${end(3)}&axes3=nonsense&by=pid&tab=nothing`);
    await page.waitForFunction(() => document.querySelector('#ranking tbody tr[data-key]'));
    await still(page);
    const active = await page.locator('#ranking tbody tr[data-key] td:nth-child(2)').first().innerText();
    assert.equal(active, '0.60'); // cron: 0.3 + 0.05 * 2 on a CPU, and 0.2 in disk and lock
    await page.fill('#search', 'x');
    await page.waitForFunction((wanted) => location.hash.includes(wanted), `range=${end(1)}-${end(3)}`);
});

async function saved(page, name) {
    await page.locator('.save > button').click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('.menu button', { hasText: name }).click()]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

test('save: the rows of the shown frame are CSV that no spreadsheet computes', async (opener) => {
    const page = await opener.report(data());
    await press(page, 'ArrowRight');
    const { name, bytes } = await saved(page, 'CSV');
    assert.match(name, /^camp-\d{4}-\d\d-\d\dT\d{6}\.csv$/);
    const [titles, ...lines] = bytes.toString().trimEnd().split('\r\n');
    assert.match(titles, /^name,id,pid,active,elapsed ms,user %,sleep %/);
    assert.equal(lines.length, NAMES.length);
    assert.match(lines[0], /^nginx,1000,1000,0.25,1000,5,20,/);
    assert.match(lines[1], /^"'=1\+1",1001,1001,0.35,1000,15,20,/);
    assert.match(lines[2], /^"a ""b"", c",1002,/);
});

test('save: the pictures are PNG', async (opener) => {
    const page = await opener.report(data());
    const { name, bytes } = await saved(page, 'Pictures as PNG');
    assert.match(name, /\.png$/);
    assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
    assert.ok(bytes.length > 5000);
    await page.locator('.save > button').click();
    await press(page, 'Escape');
    assert.equal(await page.locator('.menu').isVisible(), false);
});

test('hints: they are shown at the first visit, until they are closed', async (opener) => {
    const page = await opener.report(data());
    assert.match(await text(page, '.hints'), /Drag on the ribbon.*Click a name.*lists the keys/s);
    await page.locator('.hints button').click();
    await page.reload();
    await page.waitForFunction(() => document.querySelector('#ranking tbody tr[data-key]'));
    assert.equal(await page.locator('.hints').count(), 0);
});
