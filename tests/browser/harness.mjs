// Functions for tests of the page. They open a report in a browser without a network, and read the
// canvases and texts of the page. A test also fails if the page logs an error or violates its
// security policy.
import { strict as assert } from 'node:assert';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CLASSES, report } from './stream.mjs';

export const tests = [];

/** If `headed` is set, the test also runs in a browser with a window (under Xvfb, without a GPU). */
export function test(name, run, { headed = false } = {}) {
    tests.push({ name, run, headed });
}

/** A test throws this error to be skipped. The message is the reason. */
export class Skip extends Error {}

/** Opens pages for one test. */
export class Opener {
    constructor(browser, folder) {
        this.browser = browser;
        this.folder = folder;
        this.contexts = [];
        this.faults = [];
    }

    /** Opens a page with this data (a Buffer) as camp report writes it, or a page with this HTML (a string). */
    async report(data, options = {}) {
        const page = await this.page({ offline: true, ...options });
        await page.goto(this.write(data));
        await page.waitForFunction(() => !/Reading/.test(document.querySelector('.status')?.textContent ?? 'Reading'));
        await still(page);
        return page;
    }

    /** Writes the page for report() to a file, and returns the URL of the file. */
    write(data) {
        const file = join(this.folder, `report-${Math.random().toString(36).slice(2)}.html`);
        writeFileSync(file, typeof data === 'string' ? data : report(data));
        return pathToFileURL(file).href;
    }

    async page({ width = 1280, height = 900, dark = false, ratio = 1, stillness = false, touch = false, offline = false, faults = true } = {}) {
        const context = await this.browser.newContext({
            viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', deviceScaleFactor: ratio,
            reducedMotion: stillness ? 'reduce' : 'no-preference', hasTouch: touch, offline,
        });
        this.contexts.push(context);
        const page = await context.newPage();
        page.setDefaultTimeout(20000);
        if (faults) {
            page.on('pageerror', (error) => this.faults.push(error.stack ?? String(error)));
            page.on('console', (message) => message.type() === 'error' && this.faults.push(message.text()));
        }
        return page;
    }

    complain() {
        assert.deepEqual(this.faults, [], 'the page logged errors');
    }

    async close() {
        for (const context of this.contexts) await context.close();
    }
}

/** Waits until all requested changes have been drawn, and the views of time have read all frames. */
export async function still(page) {
    await page.evaluate(async () => {
        const picture = () => new Promise((done) => requestAnimationFrame(done));
        for (let i = 0; i < 3; i++) await picture();
        for (const end = performance.now() + 10000; document.body.hasAttribute('data-reading') && performance.now() < end;) await picture();
    });
}

export async function press(page, ...keys) {
    for (const key of keys) await page.keyboard.press(key);
    await still(page);
}

export const text = (page, selector) => page.locator(selector).innerText();
export const said = (page) => page.locator('#live').textContent();

/** Returns the colours of dots on the stage: of all classes but idle. */
export async function dotColours(page) {
    const dark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
    return CLASSES.filter(({ name }) => name !== 'idle').map((one) => rgb(dark ? one.dark : one.light));
}

/** Returns a colour of style.css as [red, green, blue]. 'pin' is the name of the variable --pin. 'dot'
 *  gives the colours of dots, which spots() and pixelsNear() take, too. */
export async function colour(page, name) {
    if (name === 'dot') return dotColours(page);
    const value = await page.evaluate((of) => getComputedStyle(document.documentElement).getPropertyValue(`--${of}`).trim(), name);
    return rgb(value);
}

export const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** Finds the spots of one colour, or of any of several, on a canvas of a view. Layer 0 has the dots, and layer 1 everything
 *  that is drawn above the dots. Returns the middle and size of each spot, in pixels of the page from
 *  the corner of the stage. `near` is the largest difference from the colour in each channel. */
export async function spots(page, view, wanted, { layer = 0, near = 30, least = 8 } = {}) {
    return page.evaluate(({ view, wanted, layer, near, least }) => {
        const colours = Array.isArray(wanted[0]) ? wanted : [wanted];
        const canvas = document.querySelectorAll(`${view} .stage canvas`)[layer];
        const { width, height } = canvas;
        const ratio = width / canvas.getBoundingClientRect().width;
        const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
        const weigh = (at) => {
            if (data[4 * at + 3] < 128) return 0;
            const off = Math.min(...colours.map((one) => Math.max(...one.map((value, i) => Math.abs(value - data[4 * at + i])))));
            return off < near ? 1 - off / near : 0;
        };
        const seen = new Uint8Array(width * height);
        const found = [];
        for (let start = 0; start < seen.length; start++) {
            if (seen[start] || !weigh(start)) continue;
            const open = [start];
            seen[start] = 1;
            let x = 0, y = 0, sum = 0, size = 0;
            while (open.length) {
                const at = open.pop(), w = weigh(at);
                x += w * (at % width);
                y += w * Math.floor(at / width);
                sum += w;
                size++;
                for (const to of [at - 1, at + 1, at - width, at + width, at - width - 1, at - width + 1, at + width - 1, at + width + 1])
                    if (to >= 0 && to < seen.length && !seen[to] && weigh(to)) {
                        seen[to] = 1;
                        open.push(to);
                    }
            }
            // The page centres its dots on corners of pixels. Pixel n covers n to n + 1.
            if (size >= least) found.push({ x: x / sum / ratio, y: y / sum / ratio, size: size / ratio / ratio });
        }
        return found;
    }, { view, wanted, layer, near, least });
}

/** Counts the pixels of a colour on a layer, within a box around a spot. */
export async function pixelsNear(page, view, wanted, { x, y }, reach, { layer = 0, near = 60 } = {}) {
    return page.evaluate(({ view, wanted, x, y, reach, layer, near }) => {
        const canvas = document.querySelectorAll(`${view} .stage canvas`)[layer];
        const ratio = canvas.width / canvas.getBoundingClientRect().width;
        const { data } = canvas.getContext('2d').getImageData((x - reach) * ratio, (y - reach) * ratio, 2 * reach * ratio, 2 * reach * ratio);
        const colours = Array.isArray(wanted[0]) ? wanted : [wanted];
        let count = 0;
        for (let at = 0; at < data.length; at += 4)
            if (data[at + 3] > 127 && colours.some((one) => one.every((value, i) => Math.abs(value - data[at + i]) < near))) count++;
        return count;
    }, { view, wanted, x, y, reach, layer, near });
}

/** Returns the spots at the corners of the triangle. Three entities with one state each must be there. */
export function cornersOf(found) {
    const [top] = [...found].sort((a, b) => a.y - b.y);
    const [left] = [...found].sort((a, b) => a.x - b.x);
    const [right] = [...found].sort((a, b) => b.x - a.x);
    return { top, left, right };
}

/** Converts a spot to the coordinates of the CAMP paper: x to the right and y upwards, in a triangle of
 *  height 1. */
export function inTriangle({ top, left }, spot) {
    const height = left.y - top.y;
    return { x: (spot.x - left.x) / height, y: (left.y - spot.y) / height };
}

export function assertNear(value, expected, room, what = '') {
    assert.ok(Math.abs(value - expected) <= room, `${what} ${value} is not ${expected} (room ${room})`);
}

/** Fails unless one of the spots is at x, y. */
export function assertSpot(found, { x, y }, room = 1.2) {
    const distances = found.map((spot) => Math.hypot(spot.x - x, spot.y - y));
    assert.ok(Math.min(...distances) <= room,
        `nothing stands at ${x.toFixed(1)}, ${y.toFixed(1)}; there is ${JSON.stringify(found.map((s) => [+s.x.toFixed(1), +s.y.toFixed(1)]))}`);
}

/** Scrolls to a stage that is not wholly visible: the mouse reaches only what is visible. */
export async function stageBox(page, view) {
    await page.locator(`${view} .stage`).evaluate((stage) => {
        const { top, bottom } = stage.getBoundingClientRect();
        const free = document.querySelector('.player').getBoundingClientRect().top;
        if (top < 0 || bottom > free) stage.scrollIntoView({ block: bottom - top > free ? 'start' : 'nearest' });
        if (stage.getBoundingClientRect().bottom > free && bottom - top <= free) scrollBy(0, stage.getBoundingClientRect().bottom - free);
    });
    return page.locator(`${view} .stage`).boundingBox();
}

/** Moves the mouse to a spot of a stage. */
export async function point(page, view, { x, y }) {
    const box = await stageBox(page, view);
    await page.mouse.move(box.x + x, box.y + y);
    await still(page);
}
