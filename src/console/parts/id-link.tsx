import { shortId } from './revision-status.ts';
import { shownText } from './untrusted.tsx';

interface IdLinkProps {
  /** The address of its page, such as `paths.run`. */
  to: (deploymentId: string, id: string) => string;
  deploymentId: string;
  id: string;
}

/** The way to a run or a revision by the start of its id, which may be what an agent reports. */
export const IdLink = ({ to, deploymentId, id }: IdLinkProps) => (
  <a class="mono" href={to(deploymentId, encodeURIComponent(id))}>
    {shownText(shortId(id))}
  </a>
);
