// The pictures are saved as SVG, and a recording as a film: an animated PNG.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { inflateSync } from 'node:zlib';
import { assertNear, colour, dotColours, press, rgb, spots, still, test, text } from './harness.mjs';
import { CLASSES, CPUS, entities, frame, head, json, stream } from './stream.mjs';

const STATES = ['user', 'sleep', 'disk', 'lock'];
const AXES3 = [{ name: 'CPU', states: [0] }, { name: 'idle & free', states: [1] }, { name: 'waiting', states: [2, 3] }];
const HOSTILE = '<script>&"\u0001';
const NAMES = [HOSTILE, 'nginx', 'cron', 'find', 'sleeper'];
/** The second row lacks a fifth of its time, and the last is idle. */
const rowsAt = (t) => [
    { n: 0, shares: [0.5 + 0.03 * t, 0.1, 0.4 - 0.03 * t, 0] }, { n: 1, shares: [0.3, 0.3, 0.2, 0] }, { n: 2, shares: [0.1, 0.2, 0.1, 0.6] },
    { n: 3, shares: [0.02 * t, 0.5, 0.5 - 0.02 * t, 0], elapsed: 0.3 }, { n: 4, shares: [0, 1, 0, 0] },
];
const data = (frames = 6) => Buffer.concat([json(CPUS, { cpus: 2 }),
    stream({ states: STATES, axes3: AXES3, names: NAMES, frames: Array.from({ length: frames }, (_, t) => rowsAt(t % 10)) })]);

/** Saves by an entry of the menu; `during` runs while the file is made. */
async function saved(page, name, during = async () => undefined) {
    if (await page.locator('.menu').isHidden()) await page.locator('.save > button').click();
    const download = page.waitForEvent('download', { timeout: 50000 });
    await page.locator('.menu button', { hasText: name }).click();
    await during();
    return { name: (await download).suggestedFilename(), bytes: readFileSync(await (await download).path()) };
}

/** Parses an SVG file in the page, and returns what it holds. Places are those in the whole picture. */
async function read(page, bytes) {
    return page.evaluate((file) => {
        const parsed = new DOMParser().parseFromString(file, 'image/svg+xml'), of = (selector) => [...parsed.querySelectorAll(selector)];
        const place = (one) => {
            const at = { x: Number(one.getAttribute('cx') ?? one.getAttribute('x')), y: Number(one.getAttribute('cy') ?? one.getAttribute('y')) };
            for (let group = one.parentElement; group; group = group.parentElement) {
                const [, dx = 0, dy = 0] = /translate\((\S+) (\S+)\)/.exec(group.getAttribute('transform') ?? '') ?? [];
                at.x += Number(dx);
                at.y += Number(dy);
            }
            return { ...at, fill: one.getAttribute('fill'), text: one.textContent };
        };
        const attributes = of('*').flatMap((one) => [...one.attributes]);
        return {
            root: parsed.documentElement.tagName, title: of('svg > title')[0]?.textContent, description: of('svg > desc')[0]?.textContent,
            dots: of('circle.dot').map(place), texts: of('text').map(place), arcs: of('path.arc').length, starts: of('circle[r="3"]').length,
            areas: of('#ribbon path, g.ribbon path').map((one) => one.getAttribute('fill')), paper: of('svg > rect')[0]?.getAttribute('fill'),
            elements: [...new Set(of('*').map(({ tagName }) => tagName))].sort(),
            foreign: attributes.filter(({ name, value }) => /href|^on|^style$/.test(name) || (name !== 'xmlns' && /:/.test(value))).map(({ name, value }) => `${name}=${value}`),
        };
    }, bytes.toString());
}

test('save: the pictures as SVG hold the dots, texts and areas of the page, and no foreign markup', async (opener) => {
    const page = await opener.report(data());
    const { name, bytes } = await saved(page, 'SVG');
    assert.match(name, /^camp-\d{4}-\d\d-\d\dT\d{6}\.svg$/);
    const held = await read(page, bytes);
    assert.equal(held.root, 'svg'); // a file that is not well-formed is an error document
    assert.equal(held.title, 'camp · test');
    assert.match(held.description, /^Active threads over time, .* until 2026-09-21T14:13:20\.000Z/);
    assert.deepEqual(held.elements, ['circle', 'desc', 'g', 'path', 'pattern', 'rect', 'svg', 'text', 'title']);
    assert.deepEqual(held.foreign, []);
    const onPage = await spots(page, '.barry3', await dotColours(page));
    assert.equal(held.dots.length, 4);
    assert.equal(onPage.length, 4);
    const sorted = (some) => [...some].sort((a, b) => a.y - b.y), [first, ...others] = sorted(held.dots), [top, ...rest] = sorted(onPage);
    others.forEach((dot, i) => {
        assertNear(dot.x - first.x, rest[i].x - top.x, 1.5);
        assertNear(dot.y - first.y, rest[i].y - top.y, 1.5);
    });
    assert.equal(held.arcs, 1); // nginx lacks a fifth of its time
    const texts = held.texts.map(({ text }) => text);
    const hostile = `${HOSTILE.replace('\u0001', '\ufffd')} 1000`;
    for (const wanted of ['CPU', 'idle & free', 'waiting', hostile, 'nginx 1001', 'cron 1002', '2 CPUs', '14:13:20', '0.90', '0.20', 'disk', 'lock', 'unaccounted', '1 idle', 'Active threads', 'Where does each thread’s time go?'])
        assert.ok(texts.includes(wanted), `${wanted} is not in ${JSON.stringify(texts)}`);
    assert.equal(texts.filter((text) => text === hostile).length, 1, 'each text is there once');
    for (const one of ['cpu', 'disk', 'lock']) assert.ok(held.areas.includes(CLASSES.find((found) => found.name === one).light), one);
    assert.ok(held.areas.includes('url(#hatch0)'));
});

test('save: the SVG has the colours of a dark page, and the tetrahedron if that is shown', async (opener) => {
    const page = await opener.report(data(), { dark: true, ratio: 2 });
    await page.locator('#stage .switch button', { hasText: '4' }).click();
    await page.selectOption('#stage select', 'equal');
    await still(page);
    const held = await read(page, (await saved(page, 'SVG')).bytes);
    assert.equal(held.dots.length, 4); // the fifth is on the shelf
    assert.deepEqual(rgb(held.paper), await colour(page, 'paper'));
    assert.ok(held.areas.includes(CLASSES[0].dark));
    for (const name of STATES) assert.ok(held.texts.some(({ text }) => text === name), name);
});

test('save: the SVG shows the range, what it is compared with, and the paths between', async (opener) => {
    const url = opener.write(data(10)), end = (t) => 1.79e12 + 1000 * t;
    const page = await opener.page({ offline: true });
    await page.goto(`${url}#range=${end(6)}-${end(8)}&compare=${end(0)}-${end(2)}.${end(6)}-${end(8)}`);
    await page.waitForFunction(() => document.querySelector('#ranking tbody tr[data-key]'));
    await still(page);
    const held = await read(page, (await saved(page, 'SVG')).bytes), texts = held.texts.map(({ text }) => text);
    assert.equal(held.starts, 2); // of the paths of the first and the fourth row, which move
    assert.ok(texts.includes(await text(page, '.pane.before .label')));
    for (const selector of ['.pane.range .label', '.stage-sums strong']) {
        const shown = await text(page, selector);
        assert.match(shown, / · mean$/);
        assert.ok(texts.includes(shown), `${shown} is not in ${JSON.stringify(texts)}`);
    }
});

const FILM = 'Film as PNG animation';

/** Returns the chunks of a PNG. Fails unless their CRCs are right. */
function chunksOf(bytes) {
    assert.equal(bytes.subarray(0, 8).toString('hex'), '89504e470d0a1a0a');
    const chunks = [];
    for (let at = 8; at < bytes.length;) {
        const length = bytes.readUInt32BE(at), type = bytes.toString('latin1', at + 4, at + 8);
        assert.equal(bytes.readUInt32BE(at + 8 + length), crcOf(bytes.subarray(at + 4, at + 8 + length)), `the CRC of ${type}`);
        chunks.push({ type, data: bytes.subarray(at + 8, at + 8 + length) });
        at += 12 + length;
    }
    return chunks;
}

/** By the definition, bit by bit. */
function crcOf(bytes) {
    let rest = 0xffffffff;
    for (const byte of bytes) {
        rest ^= byte;
        for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
    }
    return ~rest >>> 0;
}

/** Returns the size, and the box and time of each picture. Fails unless the chunks are in order and complete. */
function filmOf(bytes) {
    const chunks = chunksOf(bytes);
    const [header, animation] = chunks;
    assert.deepEqual([header.type, animation.type, chunks.at(-1).type], ['IHDR', 'acTL', 'IEND']);
    const width = header.data.readUInt32BE(0), height = header.data.readUInt32BE(4), pictures = [];
    let sequence = 0;
    for (const { type, data } of chunks.slice(2, -1)) {
        if (type !== 'IDAT') assert.equal(data.readUInt32BE(0), sequence++);
        if (type === 'fcTL') {
            const [columns, lines, left, top] = [4, 8, 12, 16].map((at) => data.readUInt32BE(at));
            assert.ok(left + columns <= width && top + lines <= height);
            pictures.push({ columns, lines, left, top, ms: (1000 * data.readUInt16BE(20)) / data.readUInt16BE(22) });
        } else {
            assert.equal(type, pictures.length === 1 ? 'IDAT' : 'fdAT');
            const { columns, lines } = pictures.at(-1);
            assert.equal(inflateSync(type === 'IDAT' ? data : data.subarray(4)).length, lines * (1 + 4 * columns));
        }
    }
    assert.equal(animation.data.readUInt32BE(0), pictures.length);
    assert.deepEqual([pictures[0].columns, pictures[0].lines], [width, height]);
    return { width, height, pictures, ms: pictures.reduce((sum, { ms }) => sum + ms, 0) };
}

/** Decodes pictures of a film and a PNG in the page; returns the number of pictures, and for each PNG how many
 *  pixels differ from the picture of the film. */
async function differences(page, film, shots) {
    return page.evaluate(async ({ film, shots }) => {
        const decode = async (base64, frameIndex) => {
            const decoder = new ImageDecoder({ data: Uint8Array.from(atob(base64), (one) => one.charCodeAt(0)), type: 'image/png' });
            await decoder.completed;
            const { image } = await decoder.decode({ frameIndex });
            const canvas = new OffscreenCanvas(image.displayWidth, image.displayHeight), context = canvas.getContext('2d');
            context.drawImage(image, 0, 0);
            return { count: decoder.tracks.selectedTrack.frameCount, pixels: new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer) };
        };
        const found = [];
        let pictures = 0;
        for (const [index, shot] of shots) {
            const one = await decode(film, index), other = await decode(shot, 0);
            pictures = one.count;
            found.push(one.pixels.length === other.pixels.length ? one.pixels.filter((pixel, i) => pixel !== other.pixels[i]).length : -1);
        }
        return { pictures, found };
    }, { film: film.toString('base64'), shots: shots.map(([index, shot]) => [index, shot.toString('base64')]) });
}

test('save: the pictures of a film are those that the page shows, one for each interval', async (opener) => {
    const page = await opener.report(data(), { width: 1200 });
    await press(page, 'Home', 'ArrowRight');
    await page.selectOption('.player select', '2');
    const before = await text(page, '.odometer');
    const { name, bytes } = await saved(page, FILM);
    assert.match(name, /^camp-.*\.film\.png$/);
    assert.equal(await text(page, '.odometer'), before);
    const { pictures, width } = filmOf(bytes);
    assert.deepEqual(pictures.map(({ ms }) => ms), [500, 500, 500, 500, 500, 500]);
    assert.ok(width <= 1280);
    const shots = [];
    for (const [index, keys] of [[1, []], [0, ['Home']], [5, ['End']]]) {
        await press(page, 'Escape', ...keys);
        shots.push([index, (await saved(page, 'Pictures as PNG')).bytes]);
    }
    assert.deepEqual(await differences(page, bytes, shots), { pictures: 6, found: [0, 0, 0] });
});

test('save: a film has the selected range, at most 30 s and 30 pictures a second', async (opener) => {
    const url = opener.write(data(40)), end = (t) => 1.79e12 + 1000 * t;
    const page = await opener.page({ offline: true, width: 2000 });
    await page.goto(`${url}#range=${end(10)}-${end(13)}`);
    await page.waitForFunction(() => document.querySelector('#ranking tbody tr[data-key]'));
    await still(page);
    await page.selectOption('.player select', '1');
    const range = await text(page, '.pane.range .label');
    const short = filmOf((await saved(page, FILM)).bytes);
    assert.deepEqual([short.pictures.length, short.ms, short.width], [4, 4000, 1280]);
    assert.equal(await text(page, '.pane.range .label'), range);
    await press(page, 'Escape', 'Escape');
    await page.selectOption('.player select', '0.1');
    const slow = filmOf((await saved(page, FILM)).bytes);
    assert.deepEqual([slow.pictures.length, slow.ms], [40, 30000]);
    await page.selectOption('.player select', '300');
    const fast = filmOf((await saved(page, FILM)).bytes); // 3.3 ms for each frame
    assert.equal(fast.pictures.length, 4);
    assertNear(fast.ms, 40000 / 300, 5);
});

test('save: a film of very many intervals has at most 300 pictures', async (opener) => {
    const page = await opener.report(data(620), { width: 320, height: 480 });
    const { pictures, ms } = filmOf((await saved(page, FILM)).bytes);
    assert.equal(pictures.length, 207); // three intervals each
    assertNear(ms, 30000, 207);
});

test('save: while a film is made the page shows and does what it did, and Cancel ends it', async (opener) => {
    const page = await opener.report(data(200));
    await press(page, 'Home');
    await page.evaluate(() => {
        window.shown = new Set();
        const look = () => {
            window.shown.add(document.querySelector('.stage-sums strong').textContent + document.querySelector('.now').style.left);
            requestAnimationFrame(look);
        };
        look();
    });
    let downloads = 0;
    page.on('download', () => downloads++);
    await page.locator('.save > button').click();
    await page.locator('.menu button', { hasText: FILM }).click();
    await page.waitForFunction(() => document.querySelector('.menu progress').value > 0.02);
    assert.match(await text(page, '.save > button'), /^Film \d+ % ▾$/);
    assert.equal(await page.evaluate(() => window.shown.size), 1);
    await page.locator('.step.on').click(); // closes the menu, too
    await page.waitForFunction(() => /^2 \/ 200 /.test(document.querySelector('.odometer').textContent));
    await page.locator('.save > button').click();
    await page.locator('.menu button', { hasText: 'Cancel the film' }).click();
    await page.waitForFunction(() => document.querySelector('#live').textContent === 'The film is cancelled.');
    assert.equal(await text(page, '.save > button'), 'Save ▾');
    assert.equal(await page.locator('.menu progress').isVisible(), false);
    assert.match(await text(page, '.odometer'), /^2 \/ 200 /);
    assert.equal(await page.evaluate(() => window.shown.size), 2);
    assert.equal(downloads, 0);
});

test('save: a live page saves a film of the frames so far, and nothing before the first', async (opener) => {
    const page_ = readFileSync(new URL('../../web/dist/page.html', import.meta.url));
    let send;
    const server = createServer((request, response) => {
        if (request.url === '/stream') {
            send = (bytes) => response.write(bytes);
            return send(Buffer.concat([head({ states: STATES, axes3: AXES3, live: true }), entities(NAMES)]));
        }
        response.writeHead(request.url === '/' ? 200 : 404, { 'Content-Type': 'text/html' });
        response.end(request.url === '/' ? page_ : '');
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    try {
        const page = await opener.page({ faults: false });
        await page.goto(`http://127.0.0.1:${server.address().port}/#c0ffee`);
        await page.waitForFunction(() => document.querySelector('.subject').textContent !== '');
        await page.locator('.save > button').click();
        assert.match(await text(page, '.menu'), /^There is nothing to save yet\./);
        for (const name of ['Pictures as PNG', 'Pictures as SVG', FILM, 'Rows as CSV'])
            assert.equal(await page.locator('.menu button', { hasText: name }).isEnabled(), false, name);
        const begin = Date.now() / 1000 - 1.79e9;
        send(Buffer.concat([0, 1, 2, 3].map((t) => frame(4, rowsAt(t), { index: begin + t - 4 }))));
        await page.waitForFunction(() => /^4 \/ 4 /.test(document.querySelector('.odometer').textContent));
        assert.doesNotMatch(await text(page, '.menu'), /nothing to save/);
        const { pictures, ms } = filmOf((await saved(page, FILM)).bytes);
        assert.deepEqual([pictures.length, ms], [4, 4000]);
        assert.equal(await page.getAttribute('.live', 'aria-pressed'), 'true');
    } finally {
        server.closeAllConnections();
        await new Promise((done) => server.close(done));
    }
});
