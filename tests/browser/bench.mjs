// Measures the speed of the page in a browser with a window and without a GPU, and prints one JSON
// object per line. bench/page.py runs it:
//
//   xvfb-run -a -s '-screen 0 1600x1200x24' node bench.mjs fps COUNT...
//   ...                                     node bench.mjs live URL SECONDS
//   ...                                     node bench.mjs open URL INTERVALS
//   ...                                     node bench.mjs stall URL SECONDS
//
// fps: opens a report of 20 frames of COUNT moving entities, and plays it at 60 frames a second while
//   Barry4 turns. It prints the time until the first frame is painted, the median interval between
//   pictures over 5 s, and the CPU time of the page's script for each picture. This CPU time does not
//   depend on other load. It also prints the memory of the script before these 5 s and after them.
// live: prints the time from the end of a frame of the stream until the frame is painted.
// open: prints the time until the first frame of a recording is painted, and until all are read.
// stall: prints the longest time without a new picture, while Barry4 turns and frames arrive.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { Opener, still } from './harness.mjs';
import { made } from './made.mjs';

const SECONDS = 5;
const folder = mkdtempSync(join(tmpdir(), 'camp-bench-'));
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [], headless: false,
});

const print = (record) => console.log(JSON.stringify(record));
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Returns the intervals between animation frames, in ms. */
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
    const page = await opener.page({ offline: true, width: 1280, height: 800 });
    const url = opener.write(made({ count, frames: 20 })), begin = performance.now();
    await page.goto(url);
    await painted(page);
    const first = performance.now() - begin;
    await still(page);
    await page.selectOption('[aria-label=Speed]', '60');
    await page.evaluate(() => { // plays again from the first frame after the last frame
        const play = document.querySelector('.play');
        setInterval(() => play.getAttribute('aria-label') === 'Play' && play.click(), 4);
    });
    await page.keyboard.press('b');
    await page.click('.barry4 [aria-label="Turn slowly"]');
    await page.waitForTimeout(1500);
    const client = await page.context().newCDPSession(page);
    await client.send('Performance.enable', { timeDomain: 'threadTicks' });
    const metric = async (name) => (await client.send('Performance.getMetrics')).metrics.find((one) => one.name === name).value;
    const megabytes = async () => {
        await client.send('HeapProfiler.collectGarbage');
        return await metric('JSHeapUsedSize') / 1e6;
    };
    const memory = await megabytes(), before = await metric('ScriptDuration');
    const intervals = await page.evaluate(measure, SECONDS);
    const script = (1000 * (await metric('ScriptDuration') - before)) / intervals.length;
    print({ entities: count, first_ms: first, frame_ms: median(intervals), script_ms: script, memory_mb: memory, later_mb: await megabytes() });
    await opener.close();
}

/** Returns the ages in ms of the painted frames. The odometer shows the time of each frame. */
function ages(seconds) {
    const odometer = document.querySelector('.odometer');
    const found = [];
    new MutationObserver(() => {
        const [, h, m, s] = odometer.textContent.match(/(\d\d):(\d\d):(\d\d\.\d+)/).map(Number);
        // The timeout runs after the next paint.
        requestAnimationFrame(() => setTimeout(() => {
            const now = new Date();
            const of = new Date(now).setHours(h, m, Math.floor(s), Math.round(1000 * (s % 1)));
            found.push(now.getTime() - of);
        }));
    }).observe(odometer, { childList: true, characterData: true, subtree: true });
    return new Promise((done) => setTimeout(() => done(found), 1000 * seconds));
}

async function live(url, seconds) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(url);
    await page.waitForFunction(() => /\.\d/.test(document.querySelector('.odometer')?.textContent ?? ''));
    await page.waitForTimeout(2000);
    const found = (await page.evaluate(ages, seconds)).sort((a, b) => a - b);
    print({ painted: found.length, p50_ms: median(found), p95_ms: found[Math.floor(0.95 * found.length)] });
}

/** Waits until a frame is painted. */
async function painted(page) {
    await page.waitForFunction(() => /\d:\d/.test(document.querySelector('.odometer')?.textContent ?? ''));
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
}

async function open(url, intervals) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const begin = performance.now();
    await page.goto(url);
    await painted(page);
    const first = performance.now() - begin;
    await page.waitForFunction((all) => Number(document.querySelector('.track').getAttribute('aria-valuemax')) >= all - 1, intervals, { timeout: 120000 });
    print({ first_ms: first, all_ms: performance.now() - begin });
}

async function stall(url, seconds) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(url);
    await painted(page);
    await page.keyboard.press('b');
    await page.click('.barry4 [aria-label="Turn slowly"]');
    await page.waitForTimeout(2000);
    const frames = page.evaluate(ages, seconds);
    const intervals = await page.evaluate(measure, seconds);
    print({ shown: await page.locator('#stage .readout').textContent(), frames: (await frames).length,
            median_ms: median(intervals), longest_ms: Math.max(...intervals) });
}

const [what, ...rest] = process.argv.slice(2);
try {
    if (what === 'live') await live(rest[0], Number(rest[1]));
    else if (what === 'open') await open(rest[0], Number(rest[1]));
    else if (what === 'stall') await stall(rest[0], Number(rest[1]));
    else for (const count of rest) await one(Number(count));
} finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
}
