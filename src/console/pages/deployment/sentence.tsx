import { paths } from '../../paths.ts';
import { IdLink, Untrusted } from '../../parts/untrusted.tsx';
import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { causeOf, type CausePart } from './cause.ts';

/** A sentence of our own text, untrusted text and links to revisions. */
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

/** The cause of a revision: a headline, and details below it. */
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
