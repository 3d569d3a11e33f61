// Build logs, answers of agents and messages of services are other people's text. These functions make them safe to
// show where text can act: in Markdown, on a terminal, and on a runner, which takes commands from standard output.

const controls =
  /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const bidirectional = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** One line without control sequences, of at most `limit` characters. */
export function asLine(text: string, limit = 500): string {
  const line = text
    .replace(controls, '')
    .replace(bidirectional, '')
    .replace(/\s*\r?\n\s*/g, ' ')
    .replace(/\t/g, ' ');
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
}

/**
 * A line of somebody else's for a log. A runner acts on `::name::` at a line's start and on `##[name]` anywhere in it,
 * so the first is indented behind a bar and the second is broken up.
 */
export const asLogLine = (text: string): string => `  | ${asLine(text, 2000).replaceAll('##[', '## [')}`;

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

/** A fenced block; its fence is longer than any run of backticks inside. */
export function asCodeBlock(lines: readonly string[]): string {
  const shown = lines.map((line) => asLine(line, 2000));
  const longest = Math.max(2, ...shown.flatMap((line) => [...line.matchAll(/`+/g)].map(([run]) => run.length)));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${shown.join('\n')}\n${fence}`;
}
