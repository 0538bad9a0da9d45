// Data from a server: a live page, a refusal, a lost connection.
import { strict as assert } from 'node:assert';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { begin, one, frameAgo, status, dotCount } from './data.mjs';
import { press, said, still, test, text } from './harness.mjs';
import { END, ENTITIES, frame, head, json, stream } from './stream.mjs';
import { show } from './views.mjs';

/** Serves the page. answer(response, request) answers requests for /stream. */
async function serve(answer) {
    const page = readFileSync(new URL('../../web/dist/page.html', import.meta.url));
    const server = createServer((request, response) => {
        if (request.url === '/stream') return answer(response, request);
        response.writeHead(request.url === '/' ? 200 : 404, { 'Content-Type': 'text/html' });
        response.end(request.url === '/' ? page : '');
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    const close = () => new Promise((done) => {
        server.close(done);
        server.closeAllConnections();
    });
    return { server, url: `http://127.0.0.1:${server.address().port}/`, close };
}

test('live page: a time axis ends shortly after the present', async (opener) => {
    const { url, close } = await serve((response) =>
        response.write(Buffer.concat([begin({ live: true }), ...Array.from({ length: 130 }, (_, i) => one(i))])));
    try {
        const page = await opener.page();
        await page.goto(url);
        await page.waitForFunction(() => /^130 \/ 130 /.test(document.querySelector('.odometer').textContent));
        await show(page, 'stack');
        const area = await page.locator('.stack .u-over').boundingBox();
        await page.mouse.click(area.x + area.width / 2, area.y + area.height / 2);
        await still(page);
        const frame = parseInt(await text(page, '.odometer'), 10);
        assert(frame >= 65 && frame <= 73, `frame ${frame} of 130 is in the middle`);
    } finally {
        await close();
    }
});

test('live page: the page sends the token from its address to get new frames', async (opener) => {
    let send, token;
    const { url, close } = await serve((response, request) => {
        token = request.headers.authorization;
        send = (bytes) => response.write(bytes);
        send(Buffer.concat([begin({ live: true }), one()]));
    });
    try {
        const page = await opener.page();
        await page.goto(`${url}#c0ffee`);
        await page.waitForFunction(() => /^1 \/ 1 /.test(document.querySelector('.odometer').textContent));
        assert.equal(token, 'Bearer c0ffee');
        assert.equal(page.url(), url);
        const second = frame(3, [{ n: 0, shares: [0.5, 0.25, 0.25] }], { index: 1, key: false });
        send(second.subarray(0, 11)); // the frame arrives in two parts
        await page.waitForTimeout(50);
        send(second.subarray(11));
        await page.waitForFunction(() => /^2 \/ 2 /.test(document.querySelector('.odometer').textContent));
        assert.equal(await page.getAttribute('.live', 'aria-pressed'), 'true');
        await press(page, 'ArrowLeft');
        send(one(2));
        await page.waitForFunction(() => /^1 \/ 3 /.test(document.querySelector('.odometer').textContent));
        await press(page, 'l');
        assert.match(await text(page, '.odometer'), /^3 \/ 3 /);
        send(json(END, { reason: 'the command has ended' }));
        await page.waitForFunction(() => /The source has ended: the command has ended/.test(document.querySelector('.notes').textContent));
        await page.reload(); // the tab keeps the token
        await page.waitForFunction(() => /^1 \/ 1 /.test(document.querySelector('.odometer').textContent));
        assert.equal(token, 'Bearer c0ffee');
    } finally {
        await close();
    }
});

/** Opens a live page and calls check(page, send, drop), after `first` has been shown. */
async function live(opener, first, shown, check) {
    let send, drop;
    const { url, close } = await serve((response) => {
        send = (bytes) => response.write(bytes);
        drop = () => response.destroy();
        send(first);
    });
    try {
        const page = await opener.page({ faults: false });
        await page.goto(`${url}#x`);
        await page.waitForFunction((wanted) => document.querySelector('.odometer').textContent.startsWith(wanted), shown);
        await check(page, (bytes) => send(bytes), async () => {
            drop();
            await close();
        });
    } finally {
        await close().catch(() => undefined);
    }
}

const isAt = (page, shown) => page.waitForFunction((wanted) => document.querySelector('.odometer').textContent.startsWith(wanted), shown);

test('live page: the page tells how far it is behind, and Live returns to the newest frame', async (opener) => {
    await live(opener, Buffer.concat([begin({ live: true }), ...RUN]), '4 / 4', async (page, send) => {
        assert.equal(await text(page, '.corner'), 'Live');
        await press(page, 'ArrowLeft', 'ArrowLeft');
        assert.equal(await text(page, '.corner span'), '2 s behind');
        send(one(63));
        await page.waitForFunction(() => document.querySelector('.corner span').textContent === '1 min 2 s behind');
        await page.click('.live');
        await isAt(page, '5 / 5');
        assert.equal(await page.getAttribute('.live', 'aria-pressed'), 'true');
        assert.equal(await text(page, '.corner'), 'Live');
    });
});

test('live page: Space pauses, and Space again follows the newest frame', async (opener) => {
    await live(opener, Buffer.concat([begin({ live: true }), ...RUN]), '4 / 4', async (page, send) => {
        await press(page, ' ');
        send(one(64));
        await isAt(page, '4 / 5');
        await press(page, ' ');
        await isAt(page, '5 / 5');
        assert.equal(await page.getAttribute('.live', 'aria-pressed'), 'true');
        await press(page, ' ', 'ArrowLeft', 'ArrowLeft', ' '); // plays from the frame that was chosen
        assert.equal(await page.getAttribute('.live', 'aria-pressed'), 'false');
        assert.equal(await page.getAttribute('.play', 'aria-label'), 'Pause');
    });
});

test('live page: without an answer it says since when, and does not offer a pause', async (opener) => {
    await live(opener, Buffer.concat([begin({ live: true }), ...RUN]), '4 / 4', async (page, send, drop) => {
        assert.equal(await page.getAttribute('.play', 'aria-label'), 'Pause');
        await drop();
        await page.waitForFunction(() => /^not live: no answer since \d\d:\d\d:\d\d$/.test(document.querySelector('.corner').innerText));
        assert.equal(await page.getAttribute('.play', 'aria-label'), 'Play');
    });
    await live(opener, Buffer.concat([begin({ live: true }), ...RUN]), '4 / 4', async (page, send) => {
        send(json(END, { reason: 'over' }));
        await page.waitForFunction(() => document.querySelector('.corner').innerText === 'not live: the source has ended');
        assert.equal(await page.getAttribute('.play', 'aria-label'), 'Play');
    });
});

test('live page: the past is read with progress, and rarely drawn before its end', async (opener) => {
    const count = 1100, pieces = 22;
    const frames = Array.from({ length: count }, (_, i) => frameAgo(count - i));
    const { url, close } = await serve(async (response) => {
        response.write(begin({ live: true }));
        for (let piece = 0; piece < pieces; piece++) {
            response.write(Buffer.concat(frames.slice(piece * 50, (piece + 1) * 50)));
            await new Promise((later) => setTimeout(later, 30));
        }
    });
    try {
        const page = await opener.page();
        await page.addInitScript(() => {
            window.seen = { odometer: [], status: [] };
            new MutationObserver(() => {
                for (const [name, list] of Object.entries(window.seen)) {
                    const now = document.querySelector(`.${name}`)?.textContent;
                    if (now && now !== list.at(-1)) list.push(now);
                }
            }).observe(document, { childList: true, characterData: true, subtree: true });
        });
        const began = Date.now();
        await page.goto(`${url}#x`);
        await isAt(page, '1,100 / 1,100');
        const seen = await page.evaluate(() => window.seen);
        const most = 3 + (Date.now() - began) / 500;
        assert.ok(seen.odometer.length <= most, `drawn ${seen.odometer.length} times: ${seen.odometer.join(', ')}`);
        assert.ok(seen.status.some((text) => /^Reading [\d,]+ of 1,1\d\d intervals…$/.test(text)), seen.status.join(', '));
        await page.waitForFunction(() => document.querySelector('.status').hidden);
    } finally {
        await close();
    }
});

test('live page: nothing but the message is shown to a page that the server refuses', async (opener) => {
    const { url, close } = await serve((response) => response.writeHead(401).end());
    try {
        const page = await opener.page({ faults: false });
        await page.goto(`${url}#x`);
        await page.waitForFunction(() => document.querySelector('.status.error'));
        for (const part of ['.tools', '.player', '.ribbon', '.summary', '.keys', 'main'])
            assert.equal(await page.locator(part).isVisible(), false, part);
        assert.equal(await page.locator('h1').isVisible(), true);
    } finally {
        await close();
    }
});

test('live page: a screen reader does not announce every frame', async (opener) => {
    let send;
    const { url, close } = await serve((response) => {
        send = (bytes) => response.write(bytes);
        send(Buffer.concat([begin({ live: true }), one()]));
    });
    try {
        const page = await opener.page();
        await page.goto(`${url}#x`);
        await page.waitForFunction(() => /^1 \/ 1 /.test(document.querySelector('.odometer').textContent));
        await page.evaluate(() => {
            window.announced = [];
            const observer = new MutationObserver((changes) => window.announced.push(...changes.map(({ target }) => target.textContent)));
            for (const region of document.querySelectorAll('output, [aria-live]:not([aria-live=off]), [role=status], [role=alert], [role=log]'))
                observer.observe(region, { childList: true, characterData: true, subtree: true });
        });
        for (let index = 1; index < 5; index++) {
            send(one(index));
            await page.waitForFunction((wanted) => document.querySelector('.odometer').textContent.startsWith(wanted), `${index + 1} / `);
        }
        assert.deepEqual(await page.evaluate(() => window.announced), []);
    } finally {
        await close();
    }
});

test('live page: a page in the background still receives frames', async (opener) => {
    let send;
    const { url, close } = await serve((response) => {
        send = (bytes) => response.write(bytes);
        send(Buffer.concat([begin({ live: true }), one()]));
    });
    try {
        const page = await opener.page();
        await page.addInitScript(() => {
            Object.defineProperty(document, 'hidden', { get: () => true });
            window.setTimeout = () => 0;
        });
        await page.goto(`${url}#x`);
        await page.waitForFunction(() => /^1 \/ 1 /.test(document.querySelector('.odometer').textContent));
        await new Promise((later) => setTimeout(later, 50));
        send(Buffer.concat([one(1), one(2), one(3)]));
        await page.waitForFunction(() => /^4 \/ 4 /.test(document.querySelector('.odometer').textContent));
    } finally {
        await close();
    }
});

test('live page: the page describes a refusal by the server and does not ask again', async (opener) => {
    for (const [code, message] of [[401, /lacks the token, or has an old one/], [403, /lacks the token/], [421, /does not answer to this name/], [503, /Too many pages are open/], [500, /status 500/]]) {
        let asked = 0;
        const { url, close } = await serve((response) => {
            asked++;
            response.writeHead(code).end();
        });
        try {
            const page = await opener.page({ faults: false });
            await page.goto(`${url}#x`);
            await page.waitForFunction(() => document.querySelector('.status.error'));
            assert.match(await text(page, '.status'), message);
            await page.waitForTimeout(100);
            assert.ok(asked <= (code === 421 ? 2 : 1), 'a browser itself asks again after 421');
        } finally {
            await close();
        }
    }
});

test('live page: the page connects again after a lost connection', async (opener) => {
    let asked = 0, drop;
    const { url, close } = await serve((response) => {
        asked++;
        response.write(Buffer.concat([begin({ live: true }), one(10 * asked)]));
        drop = () => response.destroy();
    });
    try {
        const page = await opener.page({ faults: false });
        await page.goto(`${url}#x`);
        await page.waitForFunction(() => /^1 \/ 1 /.test(document.querySelector('.odometer').textContent));
        drop();
        await page.waitForFunction(() => /No answer from camp view.*are kept/.test(document.querySelector('.status').textContent));
        assert.equal(await dotCount(page), 3);
        await page.waitForFunction(() => /^2 \/ 2 /.test(document.querySelector('.odometer').textContent));
        await still(page);
        assert.equal(await page.locator('.status').isVisible(), false);
    } finally {
        await close();
    }
});

/** Opens a page that receives `first` and loses the connection. After reconnecting, the page receives
 *  `later`, which is bytes or a function that answers. */
async function cutOff(opener, first, later, check) {
    let asked = 0, drop;
    const { url, close } = await serve((response) => {
        if (asked++ > 0) return typeof later === 'function' ? later(response) : response.write(later);
        response.write(first);
        drop = () => response.destroy();
    });
    try {
        const page = await opener.page({ faults: false });
        await page.goto(`${url}#x`);
        await page.waitForFunction(() => /^4 \/ 4 /.test(document.querySelector('.odometer').textContent));
        drop();
        await check(page, () => asked);
    } finally {
        await close();
    }
}

const moved = (index, user) => frame(3, [{ n: 0, shares: [user, 1 - user, 0] }], { index, key: false });
const RUN = [one(0), moved(1, 0.75), one(2), moved(3, 0.5)];

test('live page: after a lost connection the page continues without losing or repeating frames', async (opener) => {
    const head = begin({ live: true });
    await cutOff(opener, Buffer.concat([head, ...RUN]), Buffer.concat([head, RUN[2], RUN[3], moved(4, 0.25)]), async (page) => {
        await page.waitForFunction(() => /^5 \/ 5 /.test(document.querySelector('.odometer').textContent));
        await press(page, 'n');
        assert.match(await said(page), /^a 1000: user 25 %, sleep 75 %/);
        await press(page, 'Home', '.', 'n', 'N');
        assert.match(await text(page, '.odometer'), /^2 \/ 5 /);
        assert.match(await said(page), /^a 1000: user 75 %/);
        assert.equal(await page.locator('.notes').isVisible(), false);
    });
});

test('live page: the page reports that it missed frames during a lost connection', async (opener) => {
    const head = begin({ live: true });
    await cutOff(opener, Buffer.concat([head, ...RUN]), Buffer.concat([head, one(64), moved(65, 0.25)]), async (page) => {
        await page.waitForFunction(() => /^6 \/ 6 /.test(document.querySelector('.odometer').textContent));
        assert.match(await text(page, '.notes'), /connection was lost: some intervals are missing/);
        await press(page, 'Home');
        assert.match(await text(page, '.odometer'), /^1 \/ 6 /);
    });
});

test('live page: the page reports that camp was started again and keeps earlier frames', async (opener) => {
    const first = Buffer.concat([begin({ live: true }), ...RUN]);
    const refused = (response) => response.writeHead(401).end(); // the new run has another token
    const other = Buffer.concat([begin({ live: true, host: 'db2' }), one(0)]);
    for (const later of [refused, other])
        await cutOff(opener, first, later, async (page, asked) => {
            await page.waitForFunction(() => /started again: this is another run/.test(document.querySelector('.status.error')?.textContent));
            assert.equal(await dotCount(page), 3);
            assert.match(await text(page, '.odometer'), /^4 \/ 4 /);
            await page.waitForTimeout(700);
            assert.equal(asked(), 2, 'it is not asked again');
        });
});

test('data: a renamed entity is in the group of its new name', async (opener) => {
    const rename = json(ENTITIES, [{ n: 1, id: 1001, pid: 1001, parent: 1, uid: 0, name: 'a', kernel: false }]);
    let send;
    const { url, close } = await serve((response) => {
        send = (bytes) => response.write(bytes);
        send(Buffer.concat([begin({ live: true }), one()]));
    });
    try {
        const page = await opener.page();
        await page.goto(`${url}#x`);
        await page.selectOption('#group-by', 'name');
        await page.waitForFunction(() => document.querySelector(".legend").textContent === "a 1b 1c 1");
        send(Buffer.concat([rename, one(1)]));
        await page.waitForFunction(() => document.querySelector(".legend").textContent === "a 2c 1");
    } finally {
        await close();
    }
});
