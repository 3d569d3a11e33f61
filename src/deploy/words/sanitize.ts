import { withoutControls } from '../../kit/plain-text.ts';

// Build logs, answers of agents and messages of services are other people's text. These functions make them safe to
// show where text can act: in Markdown, on a terminal, and on a runner, which takes commands from standard output.

const bidirectional = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Of a longer text the rest is not looked at: escape sequences and white space that go may be this much of it. */
const readPerShown = 16;

/** One line without control sequences, of at most `limit` characters. */
export function asLine(text: string, limit = 500): string {
  const read = text.slice(0, limit * readPerShown);
  const lines = withoutControls(read)
    .replace(bidirectional, '')
    .split(/[\n\u2028\u2029]/);
  const line = lines.length === 1 ? (lines[0] ?? '') : joined(lines);
  const shown = line.replaceAll('\t', ' ');
  return shown.length > limit || read.length < text.length ? `${shown.slice(0, limit - 1)}…` : shown;
}

const joined = (lines: readonly string[]): string =>
  lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');

/**
 * An untrusted line for a log. A runner executes `::name::` at a line's start and `##[name]` anywhere in it, so the
 * first is indented behind a bar and the second is broken up.
 */
export const asLogLine = (text: string): string => withoutCommands(`  | ${asLine(text, 2000)}`);

/** Between the signs of a command may stand what a runner, comparing them, passes over. */
const oldCommand = /#(\p{Default_Ignorable_Code_Point}*#\p{Default_Ignorable_Code_Point}*\[)/gu;
const passedOver = /[\s\u0085\p{Default_Ignorable_Code_Point}\p{Cc}]/u;

/** Text for standard output in which a runner finds no workflow commands of GitHub Actions. */
export const withoutCommands = (text: string): string =>
  text
    .split(/\r\n|[\r\n\u0085\u2028\u2029]/)
    .map((line) => {
      const broken = line.replace(oldCommand, '# $1');
      return beginsWithColon(broken) ? `| ${broken}` : broken;
    })
    .join('\n');

function beginsWithColon(line: string): boolean {
  let at = 0;
  while (at < line.length && passedOver.test(String.fromCodePoint(line.codePointAt(at) ?? 0))) {
    at += (line.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return line.startsWith(':', at);
}

/** One line of JSON with the same value, in which a runner finds no workflow commands. */
export const jsonWithoutCommands = (json: string): string =>
  json.replace(oldCommand, (command) => `\\u0023${command.slice(1)}`);

/** What GitHub takes for a commit becomes a link, half of an id too. */
const idsAndCommits = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{7,40}\b/gi;

/** Text inside a Markdown sentence or table cell: no markup, no HTML, no mention, no link, no reference to an issue. */
export function asMarkdown(text: string, limit = 500): string {
  return asLine(text, limit)
    .replace(/[\\`*_{}[\]()<>#+|~!$:&]/g, (sign) => `&#${sign.codePointAt(0)};`)
    .replace(/@/g, '@\u200b')
    .replace(/\b(www)\./gi, '$1\u200b.')
    .replace(idsAndCommits, '<code>$&</code>');
}

/** A code span that shows the text as it is: longer fences than any inside, no line break, no pipe that ends a cell. */
export function asCode(text: string, limit = 200): string {
  const shown = asLine(text, limit);
  const quoted = shown.replace(/[&<>`|*_~[\]@\\:#$]/g, (sign) => `&#${sign.codePointAt(0)};`);
  return `<code>${quoted.replace(/\bwww\./gi, (start) => `${start.slice(0, -1)}&#46;`)}</code>`;
}

/** A web address as a link that shows it, and nothing of it is markup; code where it is no web address. */
export function asLink(address: string, limit = 200): string {
  const url = URL.parse(asLine(address, 2000));
  const isWeb = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (!isWeb) return asCode(address, limit);
  // What ends a link's target, or acts in a table, is percent-encoded; the parser encodes space, quotes and <>.
  const target = url.href
    .replace(/[()[\]\\|*_~`$]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('&', '&amp;');
  return `[${asCode(address, limit)}](${target})`;
}

/** A fenced block; its fence is longer than any run of backticks inside. */
export function asCodeBlock(lines: readonly string[]): string {
  const shown = lines.map((line) => asLine(line, 2000));
  const longest = Math.max(2, ...shown.flatMap((line) => [...line.matchAll(/`+/g)].map(([run]) => run.length)));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${shown.join('\n')}\n${fence}`;
}
