import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { TimeAgo } from '../../parts/time.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';

const mostNames = 3;

/** Warns before traffic goes to a revision whose smoke tests failed or proved nothing; nothing where they passed. */
export function FailedTestsWarning({ entry: { verdict } }: { entry: Pick<HistoryEntry, 'verdict'> }) {
  if (verdict === null || verdict.kind === 'passed') return null;
  const isFailed = verdict.kind === 'failed';
  const missed = verdict.tests.filter(({ kind }) => kind === verdict.kind);
  const rest = missed.length - mostNames;
  return (
    <div class="notice notice-error deployment-warning" role="note">
      <p>
        <strong>{isFailed ? 'Its smoke tests failed' : 'Its smoke tests proved nothing'}</strong>{' '}
        <TimeAgo at={verdict.created_at} />
        {missed.length > 0 && ': '}
        {missed.slice(0, mostNames).map(({ name }, index) => (
          <>
            {index > 0 && ', '}
            <Untrusted key={index} text={name} longest={80} />
          </>
        ))}
        {rest > 0 && ` and ${rest} more`}.
      </p>
    </div>
  );
}
