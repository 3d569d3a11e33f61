import { createAnsiSequenceParser, type Color, type ParseToken } from 'ansi-sequence-parser';

/** Text of one style. */
export interface Span {
  text: string;
  /** Names of styles, which the style sheet makes readable in each theme: `red`, `on-green`, `bold`. */
  styles: readonly string[];
}

/** Escape sequences: CSI, then strings (titles, links) that are terminated, then short ones, and an escape alone. */
const escapes =
  /(?:\x1B\[|\x9B)[0-?]*[ -/]*[@-~]|(?:\x1B[\]PX^_])[^\x07\x1B]*(?:\x07|\x1B\\)|\x1B(?:[ -/]+[0-~]|[0-Z\\^-~])|\x1B/g;
const colourSequence = /^\x1B\[[\d;]*m$/;
const hasEscape = /[\x1B\x9B]/;

/** Removes all escape sequences. */
export const withoutAnsi = (text: string): string => (hasEscape.test(text) ? text.replace(escapes, '') : text);

/** The text by its styles, in which only colours and weights count; together the spans are `withoutAnsi(text)`. */
export function toSpans(text: string): Span[] {
  if (!hasEscape.test(text)) return [{ text, styles: [] }];
  const coloured = text.replace(escapes, (sequence) => (colourSequence.test(sequence) ? sequence : ''));
  return createAnsiSequenceParser()
    .parse(coloured)
    .filter(({ value }) => value !== '')
    .map((token) => ({ text: value(token), styles: stylesOf(token) }));
}

const value = (token: ParseToken): string => token.value;

/** Text can't be hidden or blink: a log must be readable. */
const decorations = new Set(['bold', 'dim', 'italic', 'underline', 'strikethrough']);

function stylesOf({ foreground, background, decorations: found }: ParseToken): string[] {
  const isReversed = found.has('reverse');
  const [front, back] = isReversed ? [background, foreground ?? namedWhite] : [foreground, background];
  return [
    // On a background the text keeps its own colour: few pairs of colours are readable.
    ...(back ? [`on-${hueOf(back)}`] : front ? [hueOf(front)] : []),
    ...[...found].filter((decoration) => decorations.has(decoration)),
  ];
}

const namedWhite: Color = { type: 'named', name: 'white' };
const hues = ['red', 'yellow', 'green', 'cyan', 'blue', 'magenta'] as const;

/** The nearest of eight colours: each has a readable shade in each theme. */
function hueOf(color: Color): string {
  if (color.type === 'named') return color.name.replace('bright', '').toLowerCase();
  const [red, green, blue] = color.type === 'rgb' ? color.rgb : rgbOf(color.index);
  const most = Math.max(red, green, blue);
  const range = most - Math.min(red, green, blue);
  if (range < 32) return most < 128 ? 'black' : 'white';
  const turn =
    most === red
      ? ((green - blue) / range + 6) % 6
      : most === green
        ? (blue - red) / range + 2
        : (red - green) / range + 4;
  return hues[Math.round(turn) % 6] ?? 'white';
}

/** A colour of the table of 256: https://en.wikipedia.org/wiki/ANSI_escape_code#8-bit */
function rgbOf(index: number): readonly [number, number, number] {
  if (index >= 232) return [(index - 232) * 10 + 8, (index - 232) * 10 + 8, (index - 232) * 10 + 8];
  const level = (step: number): number => (step === 0 ? 0 : step * 40 + 55);
  const at = index - 16;
  return [level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6)];
}
