import { paths } from '../../paths.ts';
import { Untrusted } from '../../parts/untrusted.tsx';
import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { causeOf, type CausePart } from './cause.ts';
import { IdLink } from '../../parts/id-link.tsx';

/** Words with text that others wrote, and links to revisions, among them. */
export function Sentence({ parts, deploymentId }: { parts: readonly CausePart[]; deploymentId: string }) {
  return (
    <>
      {parts.map((part, index) => {
        if (typeof part === 'string') return part;
        if ('text' in part) return <Untrusted key={index} text={part.text} longest={200} />;
        return <IdLink key={index} to={paths.revision} deploymentId={deploymentId} id={part.revisionId} />;
      })}
    </>
  );
}

/** What caused a revision: a headline, and what else is known below it. */
export function CauseText({ entry, deploymentId }: { entry: HistoryEntry; deploymentId: string }) {
  const { headline, details } = causeOf(entry);
  return (
    <>
      <p class="deployment-cause">
        <Sentence parts={headline} deploymentId={deploymentId} />
      </p>
      {details.length > 0 && (
        <p class="muted">
          <Sentence parts={details} deploymentId={deploymentId} />
        </p>
      )}
    </>
  );
}
