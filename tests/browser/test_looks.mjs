// Light, dark and narrow pages. Everything fits, and the page complies with its own security policy.
import { strict as assert } from 'node:assert';
import { colour, press, rgb, spots, test } from './harness.mjs';
import { made } from './made.mjs';

const data = made({ count: 120, frames: 8 });

test('looks: the page is dark if the system prefers a dark colour scheme', async (opener) => {
    const page = await opener.report(data, { dark: true });
    assert.deepEqual(await colour(page, 'paper'), rgb('#15181c'));
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), 'rgb(21, 24, 28)');
    assert.ok((await spots(page, '.barry3', rgb('#15181c'), { near: 3 })).some(({ size }) => size > 1e4));
});

test('looks: the pictures become dark when the system changes to a dark colour scheme', async (opener) => {
    const page = await opener.report(data);
    await page.emulateMedia({ colorScheme: 'dark' });
    await press(page, 'ArrowRight', 'b');
    assert.ok((await spots(page, '.barry4', rgb('#15181c'), { near: 3 })).some(({ size }) => size > 1e4));
});

for (const width of [320, 360, 400, 768])
    test(`looks: the page fits into ${width} pixels`, async (opener) => {
        const page = await opener.report(data, { width, height: 760, touch: true });
        await press(page, 'a', 'Escape', 'g', 'n', 'p');
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width);
        const { width: stage } = await page.locator('.barry3 .stage').boundingBox();
        assert.ok(stage > width * 0.4 && stage <= width);
    });

test('looks: pinning and searching do not move the pictures', async (opener) => {
    const page = await opener.report(data);
    const before = await page.locator('.barry3 .stage').boundingBox();
    await press(page, 'g', 'n', 'p', 'n', 'p', '/');
    await page.keyboard.type('a');
    await press(page, 'Enter');
    assert.deepEqual(await page.locator('.barry3 .stage').boundingBox(), before);
});

test('looks: the browser enforces the security policy of the page', async (opener) => {
    const page = await opener.report(data);
    const shown = await page.evaluate(() => new Promise((done) => {
        document.addEventListener('securitypolicyviolation', (event) => done(event.violatedDirective));
        const script = document.createElement('script');
        script.textContent = 'window.wasRun = true';
        document.body.append(script);
        setTimeout(() => done('nothing was refused'), 2000);
    }));
    assert.match(shown, /^script-src/);
    assert.equal(await page.evaluate(() => window.wasRun), undefined);
    opener.faults.length = 0; // the page has logged the refusal that this test provoked
});
