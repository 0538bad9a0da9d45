// Functions for tests of the views below the two Barries.
import { still } from './harness.mjs';

/** Opens the tab of a view, if it is in one, and scrolls to the view, because a view is drawn only while
 *  it is visible. Waits until it has read the frames.
 *  A view above it that was not drawn before may then grow, and move it away, so this is done twice. */
export async function show(page, id) {
    const tab = page.locator(`#tab-${id}[aria-selected=false]`);
    if (await tab.count() > 0) await tab.click();
    for (let time = 0; time < 2; time++) {
        await page.locator(`#${id}`).evaluate((view) => view.scrollIntoView({ block: 'center' }));
        await page.waitForTimeout(150);
        await still(page);
    }
}

/** Returns [red, green, blue, alpha] of a canvas at each spot. Spots are in pixels of the page from the
 *  corner of the canvas. */
export async function pixels(page, selector, spots, layer = 0) {
    return page.evaluate(({ selector, spots, layer }) => {
        const canvas = document.querySelectorAll(`${selector} canvas`)[layer];
        const ratio = canvas.width / canvas.getBoundingClientRect().width;
        const context = canvas.getContext('2d');
        return spots.map(([x, y]) => [...context.getImageData(Math.floor(x * ratio), Math.floor(y * ratio), 1, 1).data]);
    }, { selector, spots, layer });
}

/** Mixes colours by the published formula of OKLab, without tables. colour.ts must give the same colours. */
export function mixed(parts) {
    const linear = (byte) => (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
    const lab = (hex) => {
        const [r, g, b] = [1, 3, 5].map((at) => linear(parseInt(hex.slice(at, at + 2), 16)));
        const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
        const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
        const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
        return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
    };
    const [L, a, b] = parts.map(([hex, share]) => lab(hex).map((value) => value * share))
        .reduce((sum, part) => sum.map((value, i) => value + part[i]));
    const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
    return [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s].map((value) => {
        const c = Math.min(1, Math.max(0, value));
        return Math.round(255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055));
    });
}

/** Returns the spot of the ribbon, in pixels of the page, at a time in frames (2.5: the middle of the third one). */
export async function ribbonSpot(page, time, y = 70) {
    const track = page.locator('.track');
    await track.scrollIntoViewIfNeeded();
    const box = await track.boundingBox();
    const frames = Number(await track.getAttribute('aria-valuemax')) + 1;
    const left = box.width < 520 ? 46 : 112;
    return [box.x + left + (time / frames) * (box.width - left - 10), box.y + y];
}

/** Drags on the ribbon between two times, in frames. */
export async function dragRibbon(page, from, to, { shift = false, y = 70 } = {}) {
    const [start, end] = [await ribbonSpot(page, from, y), await ribbonSpot(page, to, y)];
    if (shift) await page.keyboard.down('Shift');
    await page.mouse.move(...start);
    await page.mouse.down();
    await page.mouse.move((start[0] + end[0]) / 2, start[1]);
    await page.mouse.move(...end);
    await page.mouse.up();
    if (shift) await page.keyboard.up('Shift');
    await still(page);
}
