// Frames a second of the page: 10,000 and 30,000 entities that all move, played at 60 frames a
// second while Barry4 turns. In a browser with a head and without a GPU:
//
//   xvfb-run -a -s '-screen 0 1600x1200x24' node bench.mjs [COUNT...]
//
// Prints the median over 5 s, and the CPU time that the page's script takes for a frame: that one
// does not depend on what else runs.
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { Opener } from './harness.mjs';
import { made } from './made.mjs';

const SECONDS = 5;
const folder = mkdtempSync(join(tmpdir(), 'camp-bench-'));
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [], headless: false,
});

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Intervals between animation frames, in ms. */
function measure(seconds) {
    return new Promise((done) => {
        const intervals = [];
        const begin = performance.now();
        let last = 0;
        const turn = (now) => {
            if (last > 0) intervals.push(now - last);
            last = now;
            if (now - begin < seconds * 1000) requestAnimationFrame(turn);
            else done(intervals);
        };
        requestAnimationFrame(turn);
    });
}

async function one(count) {
    const opener = new Opener(browser, folder);
    const page = await opener.report(made({ count, frames: 20 }), { width: 1280, height: 800 });
    await page.selectOption('[aria-label=Speed]', '60');
    await page.evaluate(() => { // from the last frame on to the first again
        const play = document.querySelector('.play');
        setInterval(() => play.getAttribute('aria-label') === 'Play' && play.click(), 4);
    });
    await page.click('.barry4 [aria-label="Turn slowly"]');
    await page.waitForTimeout(1500);
    const client = await page.context().newCDPSession(page);
    await client.send('Performance.enable', { timeDomain: 'threadTicks' });
    const cpu = async () => (await client.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'ScriptDuration').value;
    const before = await cpu();
    const intervals = await page.evaluate(measure, SECONDS);
    const script = (1000 * (await cpu() - before)) / intervals.length;
    console.log(`${count} entities: ${(1000 / median(intervals)).toFixed(1)} frames a second (median of ${intervals.length}), ` +
        `script ${script.toFixed(1)} ms of CPU a frame; load average ${loadavg()[0].toFixed(1)}`);
    await opener.close();
}

const counts = process.argv.slice(2).map(Number);
try {
    for (const count of counts.length ? counts : [10000, 30000]) await one(count);
} finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
}
