import { useState } from 'preact/hooks';
import type { Deployment } from '../../../contract/control/deployment.ts';
import { revisionHistory, type HistoryEntry } from '../../../contract/control/revision-history.ts';
import { ApiError, call } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { paths } from '../../paths.ts';
import { Badge } from '../../parts/badge.tsx';
import { DeploymentPage } from '../../parts/deployment-page.tsx';
import { WhenLoaded } from '../../parts/notices.tsx';
import { isInProgress, revisionStatusTone, shortId } from '../../parts/words.ts';
import { TimeAgo } from '../../parts/time.tsx';
import { Untrusted, shownText } from '../../parts/untrusted.tsx';
import { ActionDialog, type Action } from '../deployment/actions.tsx';
import { hasServed, isWithoutSource } from '../deployment/cause.ts';
import { HoldNotice } from '../deployment/hold-notice.tsx';
import { holdOf, statusLabel } from '../deployment/revision-state.ts';
import { CauseText } from '../deployment/sentence.tsx';
import { VerdictEvidence } from '../deployment/verdict-evidence.tsx';
import { adviceFor } from './outcome-advice.ts';
import { Logs } from './logs.tsx';
import { Waterfall } from './waterfall.tsx';
import { AgentAddress } from '../deployment/serving.tsx';
import { Button } from '../../parts/button.tsx';
import { revisionPackages } from '../../../contract/control/revision.ts';
import { Table } from '../../parts/table.tsx';

interface RevisionProps {
  deploymentId: string;
  revisionId: string;
}

/** Interval for loading the revision. */
const everyMs = 2_000;
/** Minimum interval for loading it because of new lines in its log. */
const minPollMs = 1_000;

/** The page of a revision: its cause, the durations of its stages, its smoke tests and its logs. */
export default function Revision({ deploymentId, revisionId }: RevisionProps) {
  const loaded = useLoaded(`${deploymentId} ${revisionId}`, (signal) => loadEntry(deploymentId, revisionId, signal), {
    everyMs,
  });
  const { reload, poll } = loaded;
  const [action, setAction] = useState<Action>();
  return (
    <DeploymentPage
      key={revisionId}
      deploymentId={deploymentId}
      current="Revisions"
      part={`Revision ${shortId(revisionId)}`}
    >
      {(deployment, reloadDeployment) => (
        <>
          <WhenLoaded loaded={loaded} what="the revision">
            {(data) => (
              <>
                <Head deployment={deployment} entry={data} onAction={setAction} />
                <HoldNotice deploymentId={deploymentId} entry={data} onAction={setAction} />
                <EndingNotice deployment={deployment} entry={data} />
                {data.is_live && <NextStep deployment={deployment} />}
                <Waterfall statuses={data.statuses} />
                <Packages deploymentId={deploymentId} revisionId={revisionId} status={data.revision.status} />
                {data.verdict && (
                  <section class="panel" aria-label="Smoke tests">
                    <VerdictEvidence verdict={data.verdict} />
                  </section>
                )}
                <Logs
                  deploymentId={deploymentId}
                  revisionId={revisionId}
                  status={data.revision.status}
                  onNews={() => {
                    if (isInProgress(data.revision.status)) poll(minPollMs);
                  }}
                  onEnd={() => void reload()}
                />
              </>
            )}
          </WhenLoaded>
          {action && (
            <ActionDialog
              action={action}
              deployment={deployment}
              onClose={() => setAction(undefined)}
              onDone={() => Promise.all([reload(), reloadDeployment()])}
            />
          )}
        </>
      )}
    </DeploymentPage>
  );
}

async function loadEntry(deploymentId: string, revisionId: string, signal: AbortSignal): Promise<HistoryEntry> {
  const path = `v2/deployments/${deploymentId}/revision-history`;
  const { resources } = await call('GET', path, revisionHistory, { query: { revision_id: revisionId }, signal });
  const [entry] = resources;
  if (!entry) throw new ApiError(404, 'There is no such revision. Open the deployment to see those that it has.');
  return entry;
}

interface HeadProps {
  deployment: Deployment;
  entry: HistoryEntry;
  onAction: (action: Action) => void;
}

function Head({ deployment, entry, onAction }: HeadProps) {
  const { revision, is_live } = entry;
  const isCurrent = is_live || deployment.latest_revision_id === revision.id;
  return (
    <section class="stack tight revision-head" aria-labelledby="revision-title">
      <div class="row">
        <h2 id="revision-title">
          Revision <span class="mono">{shortId(revision.id)}</span>
        </h2>
        <span role="status">
          <Badge tone={revisionStatusTone(revision.status)}>{statusLabel(entry)}</Badge>
        </span>
        {is_live && <span class="tag deployment-live tone-good">Live</span>}
        {revision.created_at !== undefined && (
          <span class="muted">
            <TimeAgo at={revision.created_at} />
          </span>
        )}
        <span class="actions end">
          <a href={paths.deployment(deployment.id)}>All revisions</a>
          {isInProgress(revision.status) && holdOf(entry)?.kind !== 'held' && (
            <Button onClick={() => onAction({ kind: 'interrupt', entry })}>Interrupt</Button>
          )}
          {entry.can_redeploy && (isCurrent || hasServed(entry)) && (
            <Button onClick={() => onAction({ kind: isCurrent ? 'redeploy' : 'rollback', entry })}>
              {isCurrent ? 'Redeploy' : 'Roll back to this'}
            </Button>
          )}
        </span>
      </div>
      <CauseText entry={entry} deploymentId={deployment.id} />
    </section>
  );
}

/** The outcome of the revision with its reason, and advice. */
function EndingNotice({ deployment, entry }: { deployment: Deployment; entry: HistoryEntry }) {
  const { id, active_revision_id } = deployment;
  const { revision, is_live, verdict } = entry;
  const outcome = adviceFor({
    status: revision.status,
    source: deployment.source,
    isLive: is_live,
    isOtherLive: active_revision_id !== null && active_revision_id !== revision.id,
    verdict: verdict?.kind,
    isWithoutSource: isWithoutSource(entry),
    isDiscarded: holdOf(entry)?.kind === 'discarded',
  });
  // The service's message about a revision without a source looks like a failure.
  const reason = isWithoutSource(entry) ? undefined : revision.status_message;
  if (!outcome) {
    return reason ? (
      <p class="notice">
        <Untrusted text={reason} longest={2_000} />
      </p>
    ) : null;
  }
  return (
    <section class={`notice stack tight revision-outcome tone-${outcome.tone}`} aria-labelledby="revision-outcome">
      <h2 id="revision-outcome">{outcome.title}</h2>
      {reason && (
        <p class="sunken revision-reason">
          <Untrusted text={reason} longest={4_000} />
        </p>
      )}
      <ul>
        {outcome.advice.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
      {!isInProgress(revision.status) && (
        <p class="actions">
          {deployment.source === 'internal_source' && (
            <a class="button" href={paths.upload(id)}>
              Upload a new version
            </a>
          )}
          <a class="button" href={paths.deployment(id)}>
            Redeploy or roll back
          </a>
          <a class="button" href={paths.settings(id)}>
            Open the settings
          </a>
        </p>
      )}
    </section>
  );
}

/** The URL of the live agent, and a link to the playground. */
function NextStep({ deployment }: { deployment: Deployment }) {
  return (
    <section class="panel row row-split" aria-label="The agent">
      <p>
        This revision answers the requests to the agent.
        <AgentAddress deployment={deployment} />
      </p>
      <a class="button button-primary" href={paths.playground(deployment.id)}>
        Open the playground
      </a>
    </section>
  );
}

interface PackagesProps {
  deploymentId: string;
  revisionId: string;
  /** The packages are available after the build, so a new status loads them again. */
  status: string;
}

/** The interpreter of graphs in Python, and the packages that the build installed; nothing for other agents. */
function Packages({ deploymentId, revisionId, status }: PackagesProps) {
  const path = `v2/deployments/${deploymentId}/revisions/${revisionId}/packages`;
  const { data } = useLoaded(`${revisionId} ${status}`, (signal) => call('GET', path, revisionPackages, { signal }));
  if (!data || data.packages.length === 0) return null;
  const { python, packages } = data;
  const countText = `${packages.length.toLocaleString('en')} ${packages.length === 1 ? 'package' : 'packages'}`;
  return (
    <details class="panel revision-packages">
      <summary>
        <h2>{python === null ? 'Python' : `Python ${shownText(python, 100)}`}</h2>{' '}
        <span class="muted">{countText}</span>
      </summary>
      <Table label="Packages" columns={['Package', 'Version']}>
        {packages.map(({ name, version, address }) => (
          <tr key={name}>
            <th scope="row">{shownText(name, 200)}</th>
            <td class="mono">{shownText(version ?? address ?? '', 500)}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
}
