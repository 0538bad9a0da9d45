// The colour of a composition: the colours of its parts, mixed by their shares in OKLab, where
// equal steps look equal (Björn Ottosson, "A perceptual color space for image processing", 2020).
//
// Time in none of the parts mixes towards the background: a pale cell has time in no state.
// Shares are not normalised, unless they add up to more than 1: such a cell has the colour of its
// proportions, and its mark.

import { currentTheme } from './theme';

type Lab = [lightness: number, a: number, b: number];

/** A colour of 8 bits a channel: 0xRRGGBB. */
export function parseColour(hex: string): number {
  return parseInt(hex.slice(1), 16);
}

function toLinear(byte: number): number {
  const c = byte / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

function toByte(linear: number): number {
  const c = Math.min(1, Math.max(0, linear));
  return Math.round(255 * (c <= 0.0031308 ? c * 12.92 : 1.055 * c ** (1 / 2.4) - 0.055));
}

const STEPS = 8191;
/** toByte() of 0 to 1 in STEPS steps: computing a power for each cell of a barymap is too slow. */
const BYTES = Uint8Array.from({ length: STEPS + 1 }, (_, i) => toByte(i / STEPS));

function toLab(hex: string): Lab {
  const rgb = parseColour(hex);
  const r = toLinear(rgb >> 16), g = toLinear((rgb >> 8) & 255), b = toLinear(rgb & 255);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
  ];
}

/** Converts OKLab to 0xRRGGBB; colours out of gamut are clipped. */
function fromLab(lightness: number, a: number, b: number): number {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const byte = (linear: number) => BYTES[Math.min(STEPS, Math.max(0, Math.round(linear * STEPS)))]!;
  return (byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s) << 16)
    | (byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s) << 8)
    | byte(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s);
}

/** Mixes the colours of parts. */
export class Mixer {
  private readonly parts: Lab[];
  private readonly background: Lab;

  constructor(colours: string[], background: string) {
    this.parts = colours.map(toLab);
    this.background = toLab(background);
  }

  /** Returns the colour (0xRRGGBB) where the share of part i is `shares[at + i] * unit`. */
  mix(shares: ArrayLike<number>, at = 0, unit = 1): number {
    let lightness = 0, a = 0, b = 0, sum = 0;
    for (let i = 0; i < this.parts.length; i++) {
      const share = shares[at + i]! * unit, part = this.parts[i]!;
      lightness += share * part[0];
      a += share * part[1];
      b += share * part[2];
      sum += share;
    }
    if (sum > 1) return fromLab(lightness / sum, a / sum, b / sum);
    const rest = 1 - sum, ground = this.background;
    return fromLab(lightness + rest * ground[0], a + rest * ground[1], b + rest * ground[2]);
  }
}

/** Relative luminance of WCAG. */
function luminance(hex: string): number {
  const rgb = parseColour(hex);
  return 0.2126 * toLinear(rgb >> 16) + 0.7152 * toLinear((rgb >> 8) & 255) + 0.0722 * toLinear(rgb & 255);
}

export function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Black or white, whichever is easier to read on a colour. */
export const inkOn = (colour: string): string => (contrast(colour, '#000000') > contrast(colour, '#ffffff') ? '#000000' : '#ffffff');

const READABLE = 4.5;
/** The least contrast of a line. */
export const VISIBLE = 3;

/** Returns the colour, mixed with black or white until a text of it can be read on the paper. */
export function readable(hex: string, least = READABLE, paper = currentTheme().paper): string {
  const mixer = new Mixer([hex], luminance(paper) > 0.18 ? '#000000' : '#ffffff');
  for (let share = 1; share > 0; share -= 0.05) {
    const mixed = `#${mixer.mix([share]).toString(16).padStart(6, '0')}`;
    if (contrast(mixed, paper) >= least) return mixed;
  }
  return currentTheme().ink;
}
