import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { Button } from '../../parts/button.tsx';
import { shortId } from '../../parts/words.ts';
import { TimeAgo } from '../../parts/time.tsx';
import { paths } from '../../paths.ts';
import { Address } from './serving.tsx';
import type { Action } from './actions.tsx';
import { holdOf } from './revision-state.ts';

interface HoldNoticeProps {
  deploymentId: string;
  entry: HistoryEntry;
  onAction: (action: Action) => void;
}

/** The notice about a revision that is held before traffic: its address, the end of the hold, and the decisions. */
export function HoldNotice({ deploymentId, entry, onAction }: HoldNoticeProps) {
  const hold = holdOf(entry);
  const { id } = entry.revision;
  const short = shortId(id);
  if (hold?.kind === 'coming') {
    return (
      <p class="muted">It will be held before it gets traffic: it can be tried first, then promoted or discarded.</p>
    );
  }
  if (hold?.kind !== 'held') return null;
  return (
    <section class="notice stack tight deployment-hold" aria-label={`Hold of revision ${short}`}>
      <p>
        It runs and gets no traffic. The hold ends <TimeAgo at={hold.endsAt} />: it is discarded then, unless it is
        promoted. Newer revisions wait for it: discard it to go on with the next one at once.
      </p>
      <Address text={hold.address} />
      <p class="actions">
        <a
          class="button"
          href={paths.heldPlayground(deploymentId, id)}
          aria-label={`Open the playground of revision ${short}`}
        >
          Open the playground
        </a>
        <Button kind="primary" label={`Promote revision ${short}`} onClick={() => onAction({ kind: 'promote', entry })}>
          Promote
        </Button>
        <Button kind="danger" label={`Discard revision ${short}`} onClick={() => onAction({ kind: 'discard', entry })}>
          Discard
        </Button>
      </p>
    </section>
  );
}
