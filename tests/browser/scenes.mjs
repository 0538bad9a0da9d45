// Takes the screenshots of one scene. tests/browser/scenes calls it:
//
//   CAMP=build/gcc/src/camp CHROMIUM_HEADLESS=... node tests/browser/scenes.mjs FOLDER SCENE
//
// The page is FOLDER/SCENE.html, except that this script makes the pages of entities and empty, and starts the server
// of waiting, stopped and killed. A page is shown as it opens: no key is pressed. FOLDER/pictures/SCENE-SIZE-THEME.png is
// what the window shows. SCENE-SIZE-whole.png is the whole page in light colours. Exits with 1 if the page logged an error.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { still } from './harness.mjs';
import { AXES3, AXES4, STATES, made } from './made.mjs';
import { CLASSES, COLOURS, END, head, json, report } from './stream.mjs';

const SIZES = {
    1440: { viewport: { width: 1440, height: 900 } },
    2560: { viewport: { width: 2560, height: 1440 } },
    phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
};
const THEMES = ['light', 'dark'];
const [folder, scene] = process.argv.slice(2);
const file = resolve(folder, `${scene}.html`);
/** The colours of vertices as camp has them: stream.mjs has others, which tests find among dots. */
const of = (theme, ...names) => names.map((name) => CLASSES.find((one) => one.name === name)[theme]);
const colours = { ...COLOURS, ...Object.fromEntries(THEMES.flatMap((theme) => [
    [theme === 'dark' ? 'axes3_dark' : 'axes3', of(theme, 'cpu', 'idle', 'run_queue')],
    [theme === 'dark' ? 'axes4_dark' : 'axes4', of(theme, 'cpu', 'idle', 'disk', 'run_queue')],
])) };
const MADE = {
    entities: () => made({ count: 10000, frames: 30, colours }),
    empty: () => Buffer.concat([
        head({ states: STATES, axes3: AXES3, axes4: AXES4, host: 'db1', source: 'threads', tier: 'bpf', colours }),
        json(END, { reason: 'the recording has no more' }),
    ]),
};
const SHORT = ['--from', 'processes', '--interval', '500ms'];
const LIVE = { waiting: ['--interval', '1m'], stopped: SHORT, killed: SHORT };
const SIGNALS = { stopped: 'SIGTERM', killed: 'SIGKILL' }; // end the server before the screenshots

/** Starts `camp view`, and returns its process and its address. */
async function serve(options) {
    const server = spawn(process.env.CAMP ?? 'camp', ['view', ...options], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [url] = await once(createInterface({ input: server.stdout }), 'line');
    return { server, url };
}

async function stop(server, signal = 'SIGTERM') {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill(signal);
    await once(server, 'exit');
}

/** Waits until a page with data has read it. A page without data is shown as it is after two seconds. */
async function settle(page) {
    const has = () => !/Reading/.test(document.querySelector('.status')?.textContent ?? 'Reading');
    await page.waitForFunction(has, undefined, { timeout: scene === 'entities' ? 60000 : 10000 }).catch(() => undefined);
    await still(page);
    await page.waitForTimeout(SIGNALS[scene] ? 4000 : 1500);
}

let faults = 0;
async function opened(browser, size, colorScheme, url) {
    const context = await browser.newContext({ ...SIZES[size], colorScheme });
    const page = await context.newPage();
    const complain = (text) => {
        if (SIGNALS[scene] && /ERR_(CONNECTION|INCOMPLETE)/.test(text)) return; // its server is gone
        faults++;
        console.error(`scenes: ${scene} ${size} ${colorScheme}: ${text}`);
    };
    page.on('pageerror', (error) => complain(error.stack ?? String(error)));
    page.on('console', (message) => message.type() === 'error' && complain(message.text()));
    await page.goto(url);
    await settle(page);
    return page;
}

async function shoot(page, size, theme) {
    await page.screenshot({ path: join(folder, 'pictures', `${scene}-${size}-${theme}.png`) });
    if (theme !== 'light') return;
    // Views below the window are drawn when they come into it, so the window becomes as high as the page, which grows
    // when they are drawn.
    const { width } = SIZES[size].viewport;
    for (let turn = 0; turn < 3; turn++) {
        const height = await page.evaluate(() => document.documentElement.scrollHeight);
        await page.setViewportSize({ width, height: Math.min(4000, height) });
        await still(page);
        await page.waitForTimeout(500);
    }
    await page.screenshot({ path: join(folder, 'pictures', `${scene}-${size}-whole.png`), fullPage: true });
}

if (MADE[scene]) writeFileSync(file, report(MADE[scene]()));
if (!LIVE[scene] && !existsSync(file)) throw new Error(`${file} does not exist`);
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_HEADLESS ?? '/usr/bin/chromium-headless-shell',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
let live;
try {
    live = LIVE[scene] && await serve(LIVE[scene]);
    const all = Object.keys(SIZES).flatMap((size) => THEMES.map((theme) => [size, theme]));
    const pages = [];
    for (const [size, theme] of all) {
        const page = await opened(browser, size, theme, live?.url ?? pathToFileURL(file).href);
        if (SIGNALS[scene]) pages.push([page, size, theme]);
        else {
            await shoot(page, size, theme);
            await page.context().close();
        }
    }
    if (SIGNALS[scene]) {
        await stop(live.server, SIGNALS[scene]);
        await pages[0][0].waitForTimeout(3000);
        for (const each of pages) await shoot(...each);
    }
} finally {
    if (live) await stop(live.server);
    await browser.close();
}
process.exitCode = faults > 0 ? 1 : 0;
