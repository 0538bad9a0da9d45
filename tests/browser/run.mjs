// Runs the tests of all files test_*.mjs here, several at a time, and prints TAP.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { Opener, Skip, tests } from './harness.mjs';

const AT_A_TIME = { headless: 2, headed: 1 }; // only one window of a screen gets keys and pointer events
const LIMIT_MS = 60000; // of each test

const words = process.argv.slice(2).map((word) => word.replace(/ \(headed\)$/, ''));
const folder = mkdtempSync(join(tmpdir(), 'camp-page-'));

function launch(headless) {
    const root = process.getuid?.() === 0;
    return chromium.launch({
        executablePath: headless ? process.env.CHROMIUM_HEADLESS : process.env.CHROMIUM,
        args: [...(root ? ['--no-sandbox'] : []), '--disable-background-networking', ...(headless ? ['--disable-gpu'] : [])],
        headless,
    });
}

function within(ms, promise) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no end within ${ms / 1000} s`)), ms);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function one({ name, run }, browser) {
    const opener = new Opener(browser, folder);
    try {
        await within(LIMIT_MS, run(opener));
        opener.complain();
        return { name, result: 'ok' };
    } catch (error) {
        if (error instanceof Skip) return { name, result: 'skip', text: error.message };
        return { name, result: 'not ok', text: error.stack ?? String(error) };
    } finally {
        await opener.close().catch(() => undefined);
    }
}

/** Runs each test without a window. Tests that are marked as headed also run with a window. */
async function all() {
    const chosen = tests.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
    const browsers = { headless: await launch(true), headed: await launch(false) };
    const turns = {
        headless: [...chosen],
        headed: chosen.filter(({ headed }) => headed).map((test) => ({ ...test, name: `${test.name} (headed)` })),
    };
    console.log(`1..${turns.headless.length + turns.headed.length}`);
    let number = 0, failed = 0;
    const worker = async (mode) => {
        for (let test = turns[mode].shift(); test; test = turns[mode].shift()) {
            const { name, result, text } = await one(test, browsers[mode]);
            number++;
            console.log(result === 'skip' ? `ok ${number} ${name} # skip ${text}` : `${result} ${number} ${name}`);
            if (result !== 'not ok') continue;
            failed++;
            console.log(text.replace(/^/gm, '# '));
        }
    };
    await Promise.all(Object.entries(AT_A_TIME).flatMap(([mode, count]) => Array.from({ length: count }, () => worker(mode))));
    await Promise.all(Object.values(browsers).map((browser) => browser.close()));
    return failed;
}

try {
    for (const file of readdirSync(new URL('.', import.meta.url)).filter((name) => /^test_.*\.mjs$/.test(name)).sort())
        await import(`./${file}`);
    process.exitCode = await all() > 0 ? 1 : 0;
} finally {
    rmSync(folder, { recursive: true, force: true });
}
