import { useState, useEffect, useRef } from 'preact/hooks';
import type { Deployment as DeploymentData } from '../../../contract/control/deployment.ts';
import { paths } from '../../paths.ts';
import { DeploymentPage } from '../../parts/deployment-page.tsx';
import { List, Empty } from '../../parts/notices.tsx';
import { type LoadedList, useList } from '../../api/use-list.ts';
import { Untrusted } from '../../parts/untrusted.tsx';
import { classOfRevisionStatus } from '../../../contract/control/revision-status.ts';
import { ActionDialog, type Action } from './actions.tsx';
import { isWithoutSource } from './cause.ts';
import { Serving } from './serving.tsx';
import { TimelineEntry } from './timeline-entry.tsx';
import { VerdictHistory } from './verdict-history.tsx';
import { type HistoryEntry, revisionHistory } from '../../../contract/control/revision-history.ts';
import { Button } from '../../parts/button.tsx';
import { call } from '../../api/http.ts';
import { isInProgress, shortId } from '../../parts/words.ts';
import { announce } from '../../parts/toasts.tsx';
import { statusLabel } from './revision-state.ts';

/** A deployment: its live revision, and the timeline of all revisions. */
export default function Deployment({ deploymentId }: { deploymentId: string }) {
  const history = useHistory(deploymentId);
  const [action, setAction] = useState<Action>();
  return (
    <DeploymentPage
      key={deploymentId}
      deploymentId={deploymentId}
      current="Revisions"
      actions={(deployment) => <Actions deployment={deployment} history={history} onAction={setAction} />}
    >
      {(deployment, reload) => (
        <>
          {isDeleting(deployment) && (
            <p class="notice" role="status">
              This deployment is being deleted. Its agent stops, and everything that belongs to it is removed.
            </p>
          )}
          {deployment.status_message && (
            <div class="notice">
              <Untrusted text={deployment.status_message} />
            </div>
          )}
          {hasNoSource(deployment) && !isDeleting(deployment) && (
            <p class="notice">
              This deployment has no source yet: its upload was stopped, or has not ended.{' '}
              <a href={paths.upload(deployment.id)}>Upload a folder or an archive</a>, or delete the deployment if you
              do not need it.
            </p>
          )}
          {!isDeleting(deployment) && <Serving deployment={deployment} entries={history.entries ?? []} />}
          <VerdictHistory deploymentId={deployment.id} entries={history.entries ?? []} />
          <Timeline deployment={deployment} history={history} onAction={setAction} />
          {action && (
            <ActionDialog
              action={action}
              deployment={deployment}
              onClose={() => setAction(undefined)}
              onDone={() => Promise.all([reload(), history.reload()])}
            />
          )}
        </>
      )}
    </DeploymentPage>
  );
}

/** Whether the first upload is missing. */
const hasNoSource = ({ source, source_revision_config }: DeploymentData): boolean =>
  source === 'internal_source' && !source_revision_config.source_tarball_path;

const isDeleting = ({ status }: DeploymentData): boolean => status === 'AWAITING_DELETE';

/** Hides the revision that was created with the deployment after the first upload: it never had anything to build. */
const isShown = (entry: HistoryEntry): boolean =>
  !isWithoutSource(entry) || classOfRevisionStatus(entry.revision.status) !== 'superseded';

interface PartProps {
  deployment: DeploymentData;
  history: LoadedList<HistoryEntry>;
  onAction: (action: Action) => void;
}

function Actions({ deployment, history, onAction }: PartProps) {
  const newest = history.entries?.find(({ can_redeploy }) => can_redeploy);
  if (isDeleting(deployment)) return null;
  return (
    <>
      {deployment.source === 'internal_source' && (
        <a class="button" href={paths.upload(deployment.id)}>
          {hasNoSource(deployment) ? 'Upload the first version' : 'Upload a new version'}
        </a>
      )}
      <Button
        disabled={newest === undefined}
        title={newest === undefined ? 'No revision has a build that could be deployed again.' : undefined}
        onClick={() => newest && onAction({ kind: 'redeploy', entry: newest })}
      >
        Redeploy
      </Button>
      <Button kind="danger" onClick={() => onAction({ kind: 'delete' })}>
        Delete
      </Button>
    </>
  );
}

function Timeline({ deployment, history, onAction }: PartProps) {
  return (
    <section aria-labelledby="deployment-timeline">
      <h2 id="deployment-timeline" class="deployment-heading">
        Revisions
      </h2>
      <List
        list={history}
        what="the revisions"
        empty={
          <Empty title="No revision yet">
            <p>A push, a change of the settings or a redeploy creates one.</p>
          </Empty>
        }
      >
        {(entries) => (
          <ol class="deployment-timeline">
            {entries.filter(isShown).map((entry, index) => (
              <TimelineEntry
                key={entry.revision.id}
                deploymentId={deployment.id}
                entry={entry}
                isLatest={index === 0}
                canAct={!isDeleting(deployment)}
                onAction={onAction}
              />
            ))}
          </ol>
        )}
      </List>
    </section>
  );
}

const isRunning = ({ revision }: HistoryEntry): boolean => isInProgress(revision.status);

/** The newest revisions of a deployment. They are polled more often while one is in progress. */
function useHistory(deploymentId: string): LoadedList<HistoryEntry> {
  const list = useList(
    deploymentId,
    ({ revision }: HistoryEntry) => revision.id,
    async ({ limit, offset }, signal) => {
      const path = `v2/deployments/${deploymentId}/revision-history`;
      return (await call('GET', path, revisionHistory, { query: { limit, offset }, signal })).resources;
    },
    {
      everyMs: (entries = []) => (entries.some(isRunning) ? 2_000 : 8_000),
      pageSize: 20,
      maxLimit: 100,
      maxPages: Infinity,
    },
  );
  const inProgress = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const entries = list.entries ?? [];
    announceEnds(entries, inProgress.current);
    inProgress.current = new Set(entries.filter(isRunning).map(({ revision }) => revision.id));
  }, [list.entries]);
  return list;
}

/** Announces the outcome of revisions that were in progress. */
function announceEnds(entries: readonly HistoryEntry[], inProgressBefore: ReadonlySet<string>): void {
  for (const entry of entries) {
    const { revision } = entry;
    if (!inProgressBefore.has(revision.id) || isInProgress(revision.status)) continue;
    const isGood = classOfRevisionStatus(revision.status) === 'live';
    announce(
      isGood
        ? `Revision ${shortId(revision.id)} is live.`
        : `Revision ${shortId(revision.id)} ended: ${statusLabel(entry).toLowerCase()}.`,
      classOfRevisionStatus(revision.status) === 'failed' ? 'failed' : 'done',
    );
  }
}
