import { createAnsiSequenceParser, type Color, type ParseToken } from 'ansi-sequence-parser';

/** Text of one style. */
export interface Span {
  text: string;
  /** Names of styles in the style sheet: `red`, `on-green`, `bold`. */
  styles: readonly string[];
}

/** Escape sequences: CSI, terminated strings (titles, links), short ones, and a lone escape. */
const escapeSequences =
  /(?:\x1B\[|\x9B)[0-?]*[ -/]*[@-~]|(?:\x1B[\]PX^_])[^\x07\x1B]*(?:\x07|\x1B\\)|\x1B(?:[ -/]+[0-~]|[0-Z\\^-~])|\x1B/g;
const colourSequence = /^\x1B\[[\d;]*m$/;
const hasEscape = /[\x1B\x9B]/;

/** Removes all escape sequences. */
export const withoutAnsi = (text: string): string => (hasEscape.test(text) ? text.replace(escapeSequences, '') : text);

/** Splits a text into spans of one style each: colours and weights. Joined, they are `withoutAnsi(text)`. */
export function toSpans(text: string): Span[] {
  if (!hasEscape.test(text)) return [{ text, styles: [] }];
  const coloured = text.replace(escapeSequences, (sequence) => (colourSequence.test(sequence) ? sequence : ''));
  return createAnsiSequenceParser()
    .parse(coloured)
    .filter(({ value }) => value !== '')
    .map((token) => ({ text: valueOf(token), styles: stylesOf(token) }));
}

const valueOf = (token: ParseToken): string => token.value;

/** The supported decorations. Hidden and blinking text is not, because a log must be readable. */
const decorations = new Set(['bold', 'dim', 'italic', 'underline', 'strikethrough']);

function stylesOf({ foreground, background, decorations: found }: ParseToken): string[] {
  const isReversed = found.has('reverse');
  const [front, back] = isReversed ? [background, foreground ?? white] : [foreground, background];
  return [
    // With a background, the foreground is ignored, because few pairs of colours are readable.
    ...(back ? [`on-${hueOf(back)}`] : front ? [hueOf(front)] : []),
    ...[...found].filter((decoration) => decorations.has(decoration)),
  ];
}

const white: Color = { type: 'named', name: 'white' };
const hues = ['red', 'yellow', 'green', 'cyan', 'blue', 'magenta'] as const;

/** The nearest of eight colours: each has a readable shade in each theme. */
function hueOf(color: Color): string {
  if (color.type === 'named') return color.name.replace('bright', '').toLowerCase();
  const [red, green, blue] = color.type === 'rgb' ? color.rgb : rgbOf(color.index);
  const max = Math.max(red, green, blue);
  const range = max - Math.min(red, green, blue);
  if (range < 32) return max < 128 ? 'black' : 'white';
  const hueIndex =
    max === red
      ? ((green - blue) / range + 6) % 6
      : max === green
        ? (blue - red) / range + 2
        : (red - green) / range + 4;
  return hues[Math.round(hueIndex) % 6] ?? 'white';
}

/** A colour of the table of 256: https://en.wikipedia.org/wiki/ANSI_escape_code#8-bit */
function rgbOf(index: number): readonly [number, number, number] {
  if (index >= 232) return [(index - 232) * 10 + 8, (index - 232) * 10 + 8, (index - 232) * 10 + 8];
  const level = (step: number): number => (step === 0 ? 0 : step * 40 + 55);
  const at = index - 16;
  return [level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6)];
}
