/** Control characters without a look of their own, and marks that change the direction of the text around them. */
const invisible = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/g;

/** Text that others wrote, with invisible characters replaced by `�`, and cut at `longest` characters. */
export function shownText(text: string, longest = 500): string {
  const cut =
    text.length > longest ? `${text.slice(0, longest)} … (${text.length.toLocaleString('en')} characters)` : text;
  return cut.replace(invisible, '\uFFFD');
}

/** Text that others wrote: shown as text, in a direction of its own. */
export function Untrusted({ text, longest }: { text: string; longest?: number }) {
  return <bdi class="untrusted">{shownText(text, longest)}</bdi>;
}
