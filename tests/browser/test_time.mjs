// Showing frames: scrubbing, playing, and streams whose frames contain only changes.
import { strict as assert } from 'node:assert';
import { assertSpot, colour, cornersOf, pixelsNear, press, said, spots, still, test, text } from './harness.mjs';
import { ribbonSpot } from './views.mjs';
import { ENDED, NEW, stream } from './stream.mjs';

const STATES = ['user', 'sleep', 'disk'];
const ANCHORS = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((shares, n) => ({ n, shares }));
const walk = (t, frames) => ({ n: 3, shares: [0.1 + (0.6 * t) / frames, 0.2, 0.7 - (0.6 * t) / frames] });

/** Makes a stream in which only the walker moves. The first frame and every 64th frame after it have all
 *  rows. */
function wandering(frames, others = {}) {
    return stream({
        states: STATES, idle: false, names: ['top', 'left', 'right', 'walker'], ...others,
        frames: Array.from({ length: frames }, (_, t) => {
            const key = t % 64 === 0;
            return { key, rows: [...(key ? ANCHORS : []), walk(t, frames)] };
        }),
    });
}

async function assertWalker(page, t, frames) {
    const found = await spots(page, '.barry3', await colour(page, 'dot'));
    const { top, left } = cornersOf(found);
    const height = left.y - top.y;
    const [a, , c] = walk(t, frames).shares;
    assert.equal(found.length, 4);
    assertSpot(found, { x: left.x + (height * (a + 2 * c)) / Math.sqrt(3), y: left.y - height * a });
}

const odometer = (page) => text(page, '.odometer');
const scrub = async (page, value) => {
    await page.mouse.click(...await ribbonSpot(page, value + 0.5));
    await page.mouse.move(1, 1);
    await still(page);
};

test('time: every frame of a recording can be selected', async (opener) => {
    const page = await opener.report(wandering(150));
    for (const t of [0, 100, 63, 64, 149, 3]) {
        await scrub(page, t);
        assert.match(await odometer(page), new RegExp(`^${t + 1} / 150 `));
        await assertWalker(page, t, 150);
    }
}, { headed: true });

test('time: keys show the first, last, next and previous frame', async (opener) => {
    const page = await opener.report(wandering(20));
    await press(page, 'End');
    await assertWalker(page, 19, 20);
    await press(page, 'ArrowLeft', 'ArrowLeft', ',');
    await assertWalker(page, 16, 20);
    assert.match(await said(page), /^Frame 17 of 20, .*, 4 entities\.$/);
    await press(page, 'Home', 'ArrowRight', '.');
    await assertWalker(page, 2, 20);
});

test('time: playing stops at the last frame', async (opener) => {
    const page = await opener.report(wandering(12, { interval_ms: 50 }));
    await page.selectOption('[aria-label=Speed]', '2');
    await page.evaluate(() => { // records the labels, because playing may be over before the test looks
        const play = document.querySelector('.play');
        window.labels = ['Play'];
        new MutationObserver(() => {
            const label = play.getAttribute('aria-label');
            if (label !== window.labels.at(-1)) window.labels.push(label);
        }).observe(play, { attributeFilter: ['aria-label'] });
    });
    await page.locator('.play').press('Space');
    await page.waitForFunction(() => window.labels.length > 2);
    assert.deepEqual(await page.evaluate(() => window.labels), ['Play', 'Pause', 'Play']);
    await assertWalker(page, 11, 12);
    await page.selectOption('[aria-label=Speed]', '0.1'); // slow enough for a test on a busy machine
    await page.locator('.play').press('Space'); // plays again from the first frame
    await page.waitForFunction(() => !/^12 /.test(document.querySelector('.odometer').textContent));
});

test('time: an entity stays until it is listed as gone', async (opener) => {
    const page = await opener.report(stream({
        states: STATES, idle: false, names: ['top', 'left', 'right', 'a', 'b', 'c'],
        frames: [
            [...ANCHORS, { n: 3, shares: [0.5, 0.5, 0] }, { n: 4, shares: [0.5, 0, 0.5], flags: NEW }],
            { key: false, rows: [{ n: 5, shares: [0.2, 0.4, 0.4], flags: NEW | ENDED }], gone: [3] },
            { key: false, rows: [{ n: 4, shares: [0, 0.5, 0.5] }] }, // entity 5 ended, so it disappears
            { key: false, rows: [{ n: 3, shares: [0.5, 0.5, 0] }], gone: [4] }, // entity 3 returns
            { key: true, rows: [...ANCHORS, { n: 5, shares: [0.2, 0.4, 0.4] }] }, // a key frame has all rows
        ],
    }));
    const { top, left } = cornersOf(await spots(page, '.barry3', await colour(page, 'dot')));
    const height = left.y - top.y;
    const at = ([a, , c]) => ({ x: left.x + (height * (a + 2 * c)) / Math.sqrt(3), y: left.y - height * a });
    const there = [
        [[0.5, 0.5, 0], [0.5, 0, 0.5]], [[0.5, 0, 0.5], [0.2, 0.4, 0.4]], [[0, 0.5, 0.5]], [[0.5, 0.5, 0]],
        [[0.2, 0.4, 0.4]],
    ];
    for (const order of [[0, 1, 2, 3, 4], [2, 4, 1, 3, 0]])
        for (const t of order) {
            await scrub(page, t);
            const found = await spots(page, '.barry3', await colour(page, 'dot'));
            assert.equal(found.length, 3 + there[t].length, `frame ${t}`);
            for (const shares of there[t]) assertSpot(found, at(shares));
        }
});

test('time: a pinned entity has a label and a trail', async (opener) => {
    const page = await opener.report(wandering(20));
    await press(page, 'N', 'p', 'End');
    assert.match(await text(page, '.legend'), /walker 1003/);
    const pin = await colour(page, 'pin');
    const { top, left } = cornersOf(await spots(page, '.barry3', await colour(page, 'dot')));
    const height = left.y - top.y;
    const at = ([a, , c]) => ({ x: left.x + (height * (a + 2 * c)) / Math.sqrt(3), y: left.y - height * a });
    assertSpot(await spots(page, '.barry3', pin), at(walk(19, 20).shares));
    const trail = { layer: 1, near: 70 };
    assert.ok(await pixelsNear(page, '.barry3', pin, at(walk(16, 20).shares), 4, trail) > 2, 'a trail behind it');
    await press(page, 'u');
    assert.equal(await pixelsNear(page, '.barry3', pin, at(walk(16, 20).shares), 4, trail), 0);
    assert.equal(await text(page, '.legend'), '');
});

test('time: the button of pause has two bars', async (opener) => {
    const page = await opener.report(wandering(150, { interval_ms: 1000 }));
    await page.selectOption('[aria-label=Speed]', '0.1');
    await page.locator('.play').press('Space');
    await still(page);
    assert.equal(await page.getAttribute('.play', 'aria-label'), 'Pause');
    const picture = (await page.locator('.play').screenshot()).toString('base64');
    const row = await page.evaluate(async (data) => { // the brightness along the middle of the button
        const image = new Image();
        image.src = `data:image/png;base64,${data}`;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        const { data: bytes } = context.getImageData(0, image.height / 2, image.width, 1);
        return Array.from({ length: image.width }, (_, i) => bytes[4 * i + 1]);
    }, picture);
    const inner = row.slice(4, -4).map((value) => (value < 128 ? '#' : ' ')).join('').trim();
    assert.match(inner, /^#{3,6} {2,6}#{3,6}$/);
});
