import { graphLocations } from './graph-path.ts';
import { graphLanguage } from './language.ts';
import type { GraphConfig } from './schema.ts';
import type { UnsupportedKey } from './unsupported-keys.ts';

/** The public agent server's own images, which contain nothing else that an agent may need. */
const publicImage = /^(?:docker\.io\/)?langchain\/langgraph(?:js)?-(?:api|server)(?:[:@].*)?$/;

/** An empty line, a comment, or a line that sets variables, which the agent server does too. */
const harmlessLine = /^(?:$|#|ENV\s)/i;

/**
 * Finds the keys of a configuration with graphs in Python that only an image build can carry out. A process would start
 * without them and fail later.
 */
export function findImageOnlyKeys(config: GraphConfig): UnsupportedKey[] {
  if (!graphLocations(config).some(({ file }) => graphLanguage(file) === 'python')) return [];
  const lines = (config.dockerfile_lines ?? []).flatMap((line, index) =>
    harmlessLine.test(line.trim()) ? [] : [{ path: ['dockerfile_lines', index], message: lineMessage }],
  );
  const image = config.base_image;
  const isOther = typeof image === 'string' && image !== '' && !publicImage.test(image);
  return isOther ? [...lines, { path: ['base_image'], message: imageMessage }] : lines;
}

const lineMessage =
  'needs an image, and this agent runs as a process. Install on the machine what the line installs and remove the line, or deploy an image';
const imageMessage =
  'needs an image, and this agent runs as a process. Install on the machine what that image holds and remove the key, or deploy an image';

/**
 * The variables that the lines `ENV NAME=value` and `ENV NAME value` of a Dockerfile set. References to other variables
 * are not expanded.
 */
export function dockerfileVariables(lines: readonly string[]): Record<string, string> {
  const variables: [string, string][] = [];
  for (const line of lines) {
    const text = line.replaceAll('\\\r\n', ' ').replaceAll('\\\n', ' ').trim();
    if (!/^ENV\s/i.test(text)) continue;
    const words = splitWords(text.slice(4).trim());
    const [name = ''] = words;
    if (!name.includes('=')) variables.push([name, words.slice(1).join(' ')]);
    else for (const word of words) variables.push([word.split('=', 1)[0] ?? '', word.slice(word.indexOf('=') + 1)]);
  }
  return Object.fromEntries(variables.filter(([name]) => /^[A-Za-z_]\w*$/.test(name)));
}

/** Splits a line into words as a Dockerfile does: quotes group, a backslash escapes. */
function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '\\' && quote !== "'") {
      at += 1;
      word = `${word ?? ''}${text[at] ?? ''}`;
    } else if (quote === undefined ? character === '"' || character === "'" : character === quote) {
      quote = quote === undefined ? character : undefined;
      word ??= '';
    } else if (quote === undefined && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ''}${character}`;
  }
  return word === undefined ? words : [...words, word];
}
