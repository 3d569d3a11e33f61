import { graphLocations } from './graph-path.ts';
import { graphLanguage } from './language.ts';
import type { GraphConfig } from './schema.ts';
import type { UnsupportedKey } from './unsupported-keys.ts';

/** The public agent server's own images, which hold nothing that an agent may miss. */
const publicImage = /^(?:docker\.io\/)?langchain\/langgraph(?:js)?-(?:api|server)(?:[:@].*)?$/;

/** A line that changes nothing or that sets variables, which the agent server does too. */
const harmlessLine = /^(?:$|#|ENV\s)/i;

/**
 * What of a configuration with graphs in Python only the build of an image does. A process would start without it, and
 * fail later at what is missing.
 */
export function findImageOnlyKeys(config: GraphConfig): UnsupportedKey[] {
  if (!graphLocations(config).some(({ file }) => graphLanguage(file) === 'python')) return [];
  const lines = (config.dockerfile_lines ?? []).flatMap((line, index) =>
    harmlessLine.test(line.trim()) ? [] : [{ path: ['dockerfile_lines', index], message: ofLine }],
  );
  const image = config.base_image;
  const isOther = typeof image === 'string' && image !== '' && !publicImage.test(image);
  return isOther ? [...lines, { path: ['base_image'], message: ofImage }] : lines;
}

const ofLine =
  'needs an image, and this agent runs as a process. Install on the machine what the line installs and remove the line, or deploy an image';
const ofImage =
  'needs an image, and this agent runs as a process. Install on the machine what that image holds and remove the key, or deploy an image';

/**
 * The variables that lines `ENV NAME=value` and `ENV NAME value` of a Dockerfile set. References to other variables
 * stay as they are written.
 */
export function dockerfileVariables(lines: readonly string[]): Record<string, string> {
  const found: [string, string][] = [];
  for (const line of lines) {
    const text = line.replaceAll('\\\r\n', ' ').replaceAll('\\\n', ' ').trim();
    if (!/^ENV\s/i.test(text)) continue;
    const words = wordsOf(text.slice(4).trim());
    const [name = ''] = words;
    if (!name.includes('=')) found.push([name, words.slice(1).join(' ')]);
    else for (const word of words) found.push([word.split('=', 1)[0] ?? '', word.slice(word.indexOf('=') + 1)]);
  }
  return Object.fromEntries(found.filter(([name]) => /^[A-Za-z_]\w*$/.test(name)));
}

/** The words of a line as a Dockerfile parts them: quotes keep a word together, a backslash its next character. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const each = text[at] ?? '';
    if (each === '\\' && quote !== "'") {
      at += 1;
      word = `${word ?? ''}${text[at] ?? ''}`;
    } else if (quote === undefined ? each === '"' || each === "'" : each === quote) {
      quote = quote === undefined ? each : undefined;
      word ??= '';
    } else if (quote === undefined && /\s/.test(each)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ''}${each}`;
  }
  return word === undefined ? words : [...words, word];
}
