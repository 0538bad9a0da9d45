// The layout of the page: stage beside ranking, tabs, pins, the effect of the search on charts, print,
// and the contrast of texts.
import { strict as assert } from 'node:assert';
import { press, still, test, text } from './harness.mjs';
import { made } from './made.mjs';
import { COLOURS, stream } from './stream.mjs';
import { show } from './views.mjs';

const data = made({ count: 60, frames: 8 });
const box = (page, selector) => page.locator(selector).boundingBox();

test('layout: the ranking is beside the stage on wide pages, and before it on a phone', async (opener) => {
    for (const width of [1100, 1440, 2560]) {
        const page = await opener.report(data, { width });
        await still(page);
        const stage = await box(page, '#stage'), ranking = await box(page, '#ranking'), map = await box(page, '#barymap');
        assert.ok(ranking.x > stage.x + stage.width && Math.abs(ranking.y - stage.y) < 2, `${width}`);
        assert.ok(Math.abs(ranking.width / (map.width) - 0.4) < 0.02, `${width}`);
        assert.ok(map.y >= ranking.y + ranking.height);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width);
    }
    const phone = await opener.report(data, { width: 360, height: 760, touch: true });
    assert.ok((await box(phone, '#ranking')).y < (await box(phone, '#stage')).y);
    assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth) <= 360);
});

test('layout: the first screen holds the stage with its shelf, and as many lines of the ranking as fit', async (opener) => {
    for (const [width, height, lines, note] of [[1280, 800, 11, ''], [1440, 900, 15, ''], [1440, 900, 14, 'a note'], [2560, 1440, 30, '']]) {
        const page = await opener.report(made({ count: 60, frames: 8, note }), { width, height });
        await page.selectOption('#ranking select', 'none');
        await still(page);
        const player = await box(page, '.player'), shelf = await box(page, '.shelf');
        assert.ok(shelf.y + shelf.height <= player.y, `${width}: the shelf ends at ${shelf.y + shelf.height}, the player begins at ${player.y}`);
        assert.ok((await box(page, '.stage')).height >= 300, `${width}`);
        const found = await page.locator('#ranking .ranking-scroll tbody tr:not(.space, .rest)').count();
        assert.ok(found >= lines, `${width}: ${found} lines`);
        const more = await box(page, '#ranking .more');
        assert.ok(more.y + more.height <= player.y, `${width}: the button ends at ${more.y + more.height}, the player begins at ${player.y}`);
    }
});

test('tabs: one view is shown at a time, chosen by a click, by arrow keys, or by its number', async (opener) => {
    const page = await opener.report(data);
    const shown = () => page.locator('[role=tabpanel] > *').evaluateAll((views) => views.filter((view) => view.checkVisibility()).map(({ id }) => id));
    assert.deepEqual(await shown(), ['table']);
    await page.locator('[role=tab]', { hasText: 'Lines' }).click();
    assert.deepEqual(await shown(), ['lines']);
    await press(page, 'Home', 'ArrowRight');
    assert.deepEqual(await shown(), ['multiples']);
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-selected')), 'true');
    await press(page, '4');
    assert.deepEqual(await shown(), ['table']);
    assert.equal(await page.evaluate(() => document.activeElement.className), 'table-scroll');
    assert.equal(await page.locator('[role=tab][tabindex="0"]').count(), 1);
});

test('tabs: a view in a closed tab is not drawn', async (opener) => {
    const page = await opener.report(data);
    await page.locator('#tabs').scrollIntoViewIfNeeded();
    await press(page, 'ArrowRight');
    assert.equal(await page.locator('#lines canvas').count(), 0);
    await show(page, 'lines');
    assert.equal(await page.locator('#lines canvas').count(), 1);
});

const shares = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
const three = () => stream({ states: ['user', 'sleep', 'disk'], names: ['aa', 'bb', 'cc'],
    frames: [0, 1, 2, 3].map(() => shares.map((own, n) => ({ n, shares: own }))) });

test('search: charts and the barymap show the entities that it finds', async (opener) => {
    const page = await opener.report(three());
    await page.fill('#search', 'bb');
    await show(page, 'stack');
    await page.waitForFunction(() => /sleep\s*100 %/.test(document.querySelector('#stack .values').innerText));
    assert.match(await text(page, '#stack .caption'), /bb 1001/);
    await page.fill('#search', 'bb|cc');
    await show(page, 'lines');
    await page.waitForFunction(() => /sleep\s*50 %/.test(document.querySelector('#lines .values').innerText));
    await show(page, 'barymap');
    assert.match(await text(page, '#barymap .caption'), /^2 entities/);
    await page.fill('#search', 'nothing');
    await show(page, 'stack');
    assert.match(await text(page, '#stack .caption'), /no entity matches/);
});

test('pins: eight pins are counted, can be removed at once, and move nothing', async (opener) => {
    const page = await opener.report(made({ count: 60, frames: 8 }));
    await show(page, 'barymap');
    const cells = () => page.locator('#barymap canvas').first().evaluate((canvas) => ({ left: canvas.getBoundingClientRect().left, width: canvas.clientWidth, top: canvas.getBoundingClientRect().top + scrollY }));
    const before = await cells();
    await press(page, ...Array(8).fill(['n', 'p']).flat());
    await page.waitForTimeout(200);
    assert.deepEqual(await cells(), before);
    assert.match(await text(page, '.legend'), /and 4 more/);
    assert.ok(await page.locator('.legend').evaluate((legend) => legend.scrollWidth <= legend.clientWidth));
    await page.locator('button', { hasText: 'Unpin all 8' }).click();
    await still(page);
    assert.equal(await text(page, '.legend'), '');
    assert.deepEqual(await cells(), before);
});

test('comparison: its list names the chosen preset, or the ranges when they were moved', async (opener) => {
    const page = await opener.report(data);
    await show(page, 'compare');
    const chosen = () => page.locator('#compare .choices select').evaluate((select) => select.selectedOptions[0].textContent);
    assert.equal(await chosen(), 'choose…');
    await page.selectOption('#compare .choices select', 'halves');
    await still(page);
    assert.equal(await chosen(), 'first half, second half');
    await page.locator('.bar.before .end.to').focus();
    await press(page, 'ArrowLeft');
    assert.match(await chosen(), /, 3 frames \/ .*, 4 frames$/);
    await page.locator('#compare button', { hasText: 'End' }).click();
    await still(page);
    assert.equal(await chosen(), 'choose…');
});

test('print: a dark page is printed in light colours, without controls, and nothing is cut', async (opener) => {
    const page = await opener.report(data, { dark: true });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), 'rgb(255, 255, 255)');
    const corner = await page.locator('.stage canvas').first().evaluate((canvas) =>
        [...canvas.getContext('2d').getImageData(2, 2, 1, 1).data]);
    assert.deepEqual(corner, [255, 255, 255, 255]);
    assert.notEqual(await page.locator('.player').evaluate((player) => getComputedStyle(player).position), 'sticky');
    assert.equal(await page.locator('.tools, .tab-list').filter({ visible: true }).count(), 0);
    await page.setViewportSize({ width: 720, height: 1000 }); // of paper
    await still(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 720);
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    await page.emulateMedia({ media: 'screen', colorScheme: 'dark' });
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), 'rgb(21, 24, 28)');
});

/** The contrast of WCAG of two colours "rgb(1, 2, 3)" or "#010203". */
const contrast = (a, b) => {
    const light = (colour) => {
        const rgb = colour.startsWith('#') ? [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)) : colour.match(/\d+/g).slice(0, 3).map(Number);
        const [red, green, blue] = rgb.map((byte) => (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
};

/** CPU, idle and waiting as in src/views/pictures/palette.h. */
const pale = { ...COLOURS, axes3: ['#2a71b1', '#d9dee5', '#c7590a'], axes3_dark: ['#159ee3', '#39414b', '#f78366'] };

for (const dark of [false, true])
    test(`looks: the colours of groups can be seen on a ${dark ? 'dark' : 'light'} page`, async (opener) => {
        const names = Array.from({ length: 6 }, (_, i) => String.fromCharCode(97 + i));
        const page = await opener.report(stream({ states: ['user', 'sleep', 'disk'], names, colours: { ...COLOURS, groups: ['#004c89', '#be8703', '#5f9f86', '#6b6903', '#2b3137', '#1a7eae'] },
            frames: [names.map((_, n) => ({ n, shares: [0.5, 0.5, 0] }))] }), { dark });
        await page.selectOption('#group-by', 'name');
        await still(page);
        const fills = await page.locator('.legend .marker.disc').evaluateAll((markers) => markers.map((one) => getComputedStyle(one).backgroundColor));
        assert.equal(new Set(fills).size, 6);
        for (const fill of fills) assert.ok(contrast(fill, dark ? '#15181c' : '#ffffff') >= 3, fill);
    });

for (const dark of [false, true])
    test(`looks: texts have enough contrast on a ${dark ? 'dark' : 'light'} page`, async (opener) => {
        const page = await opener.report(made({ count: 60, frames: 8, colours: pale }), { dark });
        const values = await page.evaluate(() => Object.fromEntries(['paper', 'field', 'ink', 'quiet', 'warn', 'missing', 'left-out', 'over', 'pin', 'up', 'down', 'accent']
            .map((name) => [name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()])));
        for (const name of ['ink', 'quiet', 'warn', 'missing', 'left-out', 'over', 'pin', 'up', 'down', 'accent'])
            assert.ok(contrast(values[name], values.paper) >= 4.5, `${name} on paper`);
        for (const name of ['ink', 'quiet', 'up', 'down']) assert.ok(contrast(values[name], values.field) >= 4.5, `${name} on a field`);
        for (const ink of await page.locator('.stage-sums dt').evaluateAll((texts) => texts.map((one) => getComputedStyle(one).color)))
            assert.ok(contrast(ink, values.paper) >= 4.5, `${ink} on paper`);
        await show(page, 'compare');
        await page.selectOption('#compare .choices select', 'halves');
        await page.waitForSelector('.compared text', { state: 'attached' });
        for (const fill of await page.locator('.compared text').evaluateAll((texts) => texts.map((one) => getComputedStyle(one).fill)))
            assert.ok(contrast(fill, values.paper) >= 4.5, `${fill} on paper`);
        for (const ink of await page.locator('.compared th').evaluateAll((texts) => texts.map((one) => getComputedStyle(one).color)))
            assert.ok(contrast(ink, values.paper) >= 4.5, `${ink} on paper`);
    });
