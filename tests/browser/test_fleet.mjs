// Hosts of a fleet: the page names the command that shows the groups of a host.
import { strict as assert } from 'node:assert';
import { press, still, test, text } from './harness.mjs';
import { stream } from './stream.mjs';
import { show } from './views.mjs';

const HOSTS = [{ name: 'db1:12267' }, { name: "it's \x60evil\x60 $(x)" }];
const data = (others = {}) => stream({
    states: ['user', 'iowait', 'idle'], names: HOSTS, ...others, frames: [HOSTS.map((_, n) => ({ n, shares: [0.5, 0.25, 0.25] }))],
});
const BELOW = 'camp view --from prometheus:http://p:9090 --host';

test('fleet: the page names the command that shows the groups of a pinned host', async (opener) => {
    const page = await opener.report(data({ below: BELOW }));
    assert.equal(await page.locator('.below').isVisible(), false);
    await show(page, 'stage');
    await press(page, 'n');
    await press(page, 'p');
    await still(page);
    assert.equal(await text(page, '.below code'), `${BELOW} db1:12267`);
    await press(page, 'n');
    await press(page, 'p');
    await still(page);
    assert.equal(await text(page, '.below code'), `${BELOW} 'it'\\''s \x60evil\x60 $(x)'`);
    await press(page, 'u');
    await still(page);
    assert.equal(await page.locator('.below').isVisible(), false);
});

test('fleet: the page names no command for a pinned entity of another source', async (opener) => {
    const page = await opener.report(data());
    await press(page, 'n');
    await press(page, 'p');
    await still(page);
    assert.equal(await page.locator('.below').isVisible(), false);
});
