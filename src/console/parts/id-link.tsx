import { shortId } from './revision-status.ts';
import { shownText } from './untrusted.tsx';

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
