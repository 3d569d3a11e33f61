import { shortId } from './words.ts';

/** Invisible control characters, and marks that change the direction of the surrounding text. */
const invisible = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/g;

/**
 * Untrusted text for display: invisible characters are replaced by `�`, and it is truncated to `longest` characters.
 */
export function shownText(text: string, longest = 500): string {
  const cut =
    text.length > longest ? `${text.slice(0, longest)} … (${text.length.toLocaleString('en')} characters)` : text;
  return cut.replace(invisible, '\uFFFD');
}

/** Shows untrusted text as plain text, in its own direction. */
export function Untrusted({ text, longest }: { text: string; longest?: number }) {
  return <bdi class="untrusted">{shownText(text, longest)}</bdi>;
}

interface IdLinkProps {
  /** The address of its page, such as `paths.run`. */
  to: (deploymentId: string, id: string) => string;
  deploymentId: string;
  id: string;
}

/**
 * A link to a run or a revision, with the start of its id as text. The id may come from an agent, so it is untrusted.
 */
export const IdLink = ({ to, deploymentId, id }: IdLinkProps) => (
  <a class="mono" href={to(deploymentId, encodeURIComponent(id))}>
    {shownText(shortId(id))}
  </a>
);
