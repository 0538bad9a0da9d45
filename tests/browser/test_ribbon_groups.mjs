// The ribbon by a label or by name: its layers beside the frames, and one value taken apart.
import { strict as assert } from 'node:assert';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { press, rgb, said, still, test, text } from './harness.mjs';
import { CLASSES, COLOURS, CPUS, END, entities, frame, head, json } from './stream.mjs';
import { pixels, ribbonSpot } from './views.mjs';

const STATES = ['user', 'run_queue', 'contention', 'idle'];
const light = (name) => rgb(CLASSES.find((one) => one.name === name).light);

/** A session in each frame: its application, and the shares of its states. */
const session = (application, ...shares) => ({ application, shares });

/** Makes a stream. frames[i] is an array with a session for each entity; a changed application is sent before the frame,
 * as camp does. */
function stream(frames, { labels = ['user', 'application'], cpus, ...others } = {}) {
    const known = [];
    return Buffer.concat([
        head({ states: STATES, kind: 'sessions', labels, frames: frames.length, ...others }), ...(cpus ? [json(CPUS, cpus)] : []),
        ...frames.flatMap((sessions, index) => {
            const changed = sessions.map(({ application }, n) => ({ application, n })).filter(({ application, n }) => known[n] !== application);
            for (const { application, n } of changed) known[n] = application;
            return [
                ...(changed.length > 0 ? [Buffer.concat(changed.map(({ application, n }) => entities([{
                    name: 'root@shop', pid: 0, labels: { user: n % 2 ? 'batch' : 'app', ...(application ? { application } : {}) },
                }], n)))] : []),
                frame(STATES.length, sessions.map(({ shares }, n) => ({ n, shares })), { index }),
            ];
        }),
        json(END, { reason: 'the recording has no more' }),
    ]);
}

/** Sessions of three applications and one without; the first changes its application half-way. */
const FRAMES = Array.from({ length: 20 }, (_, t) => [
    session(t < 10 ? 'web' : 'report', 0.5, 0.3, 0, 0.2),
    session('web', 0, 0, 0.75, 0.25),
    session('jobs', t % 2, 0, 0, 1 - (t % 2)),
    session('', 0, 0.12, 0, 0.88),
]);

const activeOf = ({ shares }) => shares[0] + shares[1] + shares[2];

/** The mean active time of each value of `key` over these frames. */
function means(frames, key = ({ application }) => application || '(none)') {
    const sums = new Map();
    for (const sessions of frames)
        for (const [n, one] of sessions.entries()) sums.set(key(one, n), (sums.get(key(one, n)) ?? 0) + activeOf(one) / frames.length);
    return [...sums].sort((a, b) => b[1] - a[1]);
}

const legend = async (page) => (await page.locator('.classes .key').allInnerTexts()).map((one) => one.replace(/\s+/g, ' ').trim());
const chosenOf = async (page) => (await page.locator('.legend').innerText()).match(/\d+ of \d+/)?.[0] ?? 'all';

async function by(page, value) {
    await page.selectOption('#ribbon-by', value);
    await still(page);
}

/** What a screen reader says of each frame: the numbers of the layers. */
async function told(page, at) {
    await page.focus('.track');
    await press(page, 'Home', ...Array(at).fill('ArrowRight'));
    return Object.fromEntries([...(await page.getAttribute('.track', 'aria-valuetext')).matchAll(/[:,] ([^:,]+?) (\d+\.\d+)/g)].map(([, name, value]) => [name, Number(value)]));
}

test('ribbon by label: the legend has the mean active time of each value, also of one that changes', async (opener) => {
    const page = await opener.report(stream(FRAMES));
    assert.deepEqual(await page.locator('#ribbon-by option').allInnerTexts(), ['by class', 'by name', 'by user', 'by application']);
    await by(page, 'label:application');
    // In time order this is the value that an entity had in each frame, not its last one.
    assert.deepEqual(await legend(page), means(FRAMES).map(([name, mean]) => `${name} ${mean.toFixed(2)}`));
    await by(page, 'label:user');
    assert.deepEqual(await legend(page), means(FRAMES, (_, n) => (n % 2 ? 'batch' : 'app')).map(([name, mean]) => `${name} ${mean.toFixed(2)}`));
    await by(page, 'none');
    assert.deepEqual(await legend(page), ['CPU', 'run queue', 'lock']);
});

test('ribbon by label: in each frame the layers add up to those by class, and are those of the frame', async (opener) => {
    const page = await opener.report(stream(FRAMES));
    for (const t of [0, 1, 9, 10, 19]) {
        await by(page, 'none');
        const sum = (parts) => Object.values(parts).reduce((all, one) => all + one, 0), byClass = await told(page, t);
        await by(page, 'label:application');
        const byLabel = await told(page, t);
        assert(Math.abs(sum(byClass) - sum(byLabel)) < 0.12, `${JSON.stringify([byClass, byLabel])}`); // rounded when they are shown
        for (const [name, mean] of means([FRAMES[t]])) assert(Math.abs((byLabel[name] ?? 0) - mean) < 0.051, `frame ${t}, ${name}: ${byLabel[name]}, not ${mean}`);
    }
});

test('ribbon by label: the largest is at the bottom, each in its colour', async (opener) => {
    const page = await opener.report(stream(FRAMES));
    await by(page, 'label:application');
    const { x, y } = await page.locator('.track').boundingBox(), [at] = await ribbonSpot(page, 5.5);
    const found = await pixels(page, '.track', [0.1, 0.65].map((height) => [at - x, 120 - height * 114]));
    // The axis ends at 3: web has 1.5 in this frame, then jobs 1.
    assert.deepEqual(found.map((pixel) => pixel.slice(0, 3)), [rgb(COLOURS.groups[0]), rgb(COLOURS.groups[1])]);
    assert.deepEqual(await page.locator('.classes .swatch').evaluateAll((all) => all.map((one) => one.style.background)),
        COLOURS.groups.slice(0, 4).map((hex) => `rgb(${rgb(hex).join(', ')})`));
    const dark = await opener.report(stream(FRAMES), { dark: true });
    await by(dark, 'label:application');
    assert.equal(await dark.locator('.classes .swatch').first().evaluate((one) => one.style.background), `rgb(${rgb(COLOURS.groups_dark[0]).join(', ')})`);
    assert.notDeepEqual(rgb(COLOURS.groups[0]), light('cpu'));
});

test('ribbon by label: a press on a value shows its rows by class in all views, and another ends that', async (opener) => {
    const page = await opener.report(stream(FRAMES));
    await by(page, 'label:application');
    await page.locator('.classes button', { hasText: 'jobs' }).click();
    await still(page);
    assert.equal(await page.inputValue('#ribbon-by'), 'none');
    assert.deepEqual(await legend(page), ['CPU']);
    assert.deepEqual(await told(page, 1), { CPU: 1 });
    assert.deepEqual(await told(page, 2), {});
    assert.equal(await chosenOf(page), '1 of 4');
    // By user, and within jobs.
    await by(page, 'label:user');
    assert.deepEqual(await legend(page), ['app 0.50']);
    await page.locator('.classes button').click();
    await still(page);
    assert.deepEqual(await page.locator('.ribbon button[aria-label^="No longer only"]').allInnerTexts(), ['jobs ×', 'app ×']);
    await page.click('.ribbon button[aria-label="No longer only jobs"]');
    await still(page);
    assert.equal(await page.inputValue('#ribbon-by'), 'label:application');
    // Sessions 0 and 2 are of the user app.
    assert.deepEqual(await legend(page), means(FRAMES.map((sessions) => [sessions[0], sessions[2]])).map(([name, mean]) => `${name} ${mean.toFixed(2)}`));
    assert.equal(await chosenOf(page), '2 of 4');
    await page.click('.ribbon button[aria-label="No longer only app"]');
    await still(page);
    assert.equal(await page.locator('.ribbon button[aria-label^="No longer only"]').count(), 0);
    assert.equal(await chosenOf(page), 'all');
    await by(page, 'none');
    assert.deepEqual(await legend(page), ['CPU', 'run queue', 'lock']);
});

test('ribbon by label: the keyboard chooses a value and comes back, and a screen reader is told', async (opener) => {
    const page = await opener.report(stream(FRAMES));
    await by(page, 'label:application');
    await page.locator('.classes button', { hasText: 'web' }).focus();
    await press(page, 'Enter');
    assert.match(await said(page), /^Only web, by class\./);
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'No longer only web');
    await press(page, 'Enter');
    assert.match(await said(page), /^No longer only web\./);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'ribbon-by');
    await press(page, 'ArrowUp');
    assert.match(await said(page), /^The ribbon by user\./);
});

test('ribbon by label: a reload shows the same', async (opener) => {
    const page = await opener.report(stream(FRAMES));
    await by(page, 'label:application');
    await page.locator('.classes button', { hasText: 'web' }).click();
    await by(page, 'label:user');
    const before = await legend(page);
    await page.waitForFunction(() => /ribbon=label/.test(location.hash) && /only=/.test(location.hash));
    await page.reload();
    await page.waitForFunction(() => document.querySelector('#ribbon-by').value === 'label:user');
    await still(page);
    assert.deepEqual(await legend(page), before);
    assert.equal(await chosenOf(page), '1 of 4'); // the other one is no longer of this application
    await page.click('.ribbon button[aria-label="No longer only web"]');
    await by(page, 'none');
    await page.waitForFunction(() => location.hash === '');
});

test('ribbon by label: an address that was changed by hand disturbs nothing', async (opener) => {
    const page = await opener.report(stream(FRAMES));
    for (const hash of ['only=[[1,2]]', 'only={', 'only=[["label:nothing","x"]]', 'only=[["none","x"]]', 'ribbon=label:nothing', 'only=[["label:application"]]']) {
        await page.evaluate((to) => void (location.hash = to), `${hash}&tab=table`);
        await page.reload();
        await page.waitForFunction(() => document.querySelectorAll('.classes .key').length > 0);
        await still(page);
        assert.deepEqual(await legend(page), ['CPU', 'run queue', 'lock'], hash);
    }
});

test('ribbon by name: six values are layers, the others one, and unaccounted time is on top', async (opener) => {
    const frames = Array.from({ length: 4 }, () => Array.from({ length: 9 }, (_, n) => session(`app ${'abcdefghi'[n]}`, 0.0625 * (n + 1), 0, 0, n === 0 ? 0.5 : 1 - 0.0625 * (n + 1))));
    const page = await opener.report(stream(frames));
    await by(page, 'label:application');
    assert.deepEqual(await legend(page), [...'ihgfed'].map((letter) => `app ${letter} ${(0.0625 * (letter.charCodeAt(0) - 96)).toFixed(2)}`)
        .concat(['3 others 0.38', 'unaccounted 0.44']));
    assert.equal(await page.locator('.classes button').count(), 6);
});

test('ribbon by label: a value that is met after many others, and becomes the largest, has a layer', async (opener) => {
    const count = 100, late = (n) => `app ${String.fromCharCode(97 + (n % 26))}${String.fromCharCode(97 + Math.floor(n / 26))}`;
    const frames = Array.from({ length: 30 }, (_, t) => Array.from({ length: count }, (_, n) =>
        session(late(n), n === count - 1 ? (t > 4 ? 1 : 0) : 1 / 64, 0, 0, n === count - 1 ? (t > 4 ? 0 : 1) : 63 / 64)));
    const page = await opener.report(stream(frames));
    await by(page, 'label:application');
    await page.waitForFunction((name) => document.querySelector('.classes .key')?.textContent.startsWith(name), late(count - 1));
    const [first, ...rest] = await legend(page);
    assert.equal(first, `${late(count - 1)} ${(25 / 30).toFixed(2)}`);
    assert.equal(rest.at(-1), `94 others ${(94 / 64).toFixed(2)}`);
});

test('ribbon by label: live, new frames and new entities of a chosen value are added', async (opener) => {
    const named = (n, application) => entities([{ name: 'root@shop', pid: 0, labels: { application } }], n);
    let send;
    const page = await opener.page(), html = readFileSync(new URL('../../web/dist/page.html', import.meta.url));
    const server = createServer((request, response) => {
        if (request.url !== '/stream') return response.end(request.url === '/' ? html : '');
        send = (...blocks) => response.write(Buffer.concat(blocks));
        send(head({ states: STATES, kind: 'sessions', labels: ['application'], live: true }), named(0, 'web'), named(1, 'jobs'),
            frame(4, [{ n: 0, shares: [0.5, 0, 0, 0.5] }, { n: 1, shares: [1, 0, 0, 0] }], { index: 0 }));
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    try {
        await page.goto(`http://127.0.0.1:${server.address().port}/`);
        await page.waitForFunction(() => /^1 \/ 1 /.test(document.querySelector('.odometer')?.textContent));
        await by(page, 'label:application');
        assert.deepEqual(await legend(page), ['jobs 1.00', 'web 0.50']);
        // jobs keeps its place at the bottom, and its colour, while web becomes larger.
        send(frame(4, [{ n: 0, shares: [1, 0, 0, 0] }, { n: 1, shares: [0, 0, 0, 1] }], { index: 1 }));
        await page.waitForFunction(() => /^jobs ?0.50,web ?0.75$/.test([...document.querySelectorAll('.classes .key')].map((one) => one.textContent).join()));
        await page.locator('.classes button', { hasText: 'web' }).click();
        await still(page);
        assert.equal(await chosenOf(page), '1 of 2');
        send(named(2, 'web'), frame(4, [{ n: 0, shares: [1, 0, 0, 0] }, { n: 1, shares: [0, 0, 0, 1] }, { n: 2, shares: [0, 0.5, 0, 0.5] }], { index: 2 }));
        await page.waitForFunction(() => /2 of 3 chosen/.test(document.querySelector('.legend').textContent));
        assert.deepEqual(await legend(page), ['CPU', 'run queue']);
        await page.waitForFunction(() => / CPU 1.0, run queue 0.50$/.test(document.querySelector('.track').getAttribute('aria-valuetext')));
    } finally {
        server.closeAllConnections();
        await new Promise((done) => server.close(done));
    }
});

test('ribbon: the line of CPUs that other programs share is drawn, and the sentence does not call them busy', async (opener) => {
    const frames = Array.from({ length: 4 }, () => [session('web', 1, 0, 0, 0), session('web', 0, 1, 0, 0)]);
    const page = await opener.report(stream(frames, { cpus: { cpus: 2, others: true } }));
    assert.doesNotMatch(await text(page, '.summary .headline'), /CPUs/);
    assert.doesNotMatch(await text(page, '.about'), /above the picture/);
    const many = await opener.report(stream(frames, { cpus: { cpus: 64, others: true } }));
    assert.match(await text(many, '.about'), /^idle is left out · 64 CPUs, above the picture · /);
    await by(many, 'label:application');
    assert.deepEqual(await legend(many), ['web 2.00']);
});
