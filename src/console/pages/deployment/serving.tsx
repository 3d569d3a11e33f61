import { agentAddress, type Deployment } from '../../../contract/control/deployment.ts';
import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { paths } from '../../paths.ts';
import { TimeAgo } from '../../parts/time.tsx';
import { duration } from '../../parts/words.ts';
import { commitParts } from './cause.ts';
import { Sentence } from './sentence.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { IdLink, Untrusted, shownText } from '../../parts/untrusted.tsx';

/** The live revision and the agent's address. */
export function Serving({ deployment, entries }: { deployment: Deployment; entries: readonly HistoryEntry[] }) {
  const { id, active_revision_id } = deployment;
  const live = entries.find(({ revision }) => revision.id === active_revision_id);
  const liveSince = live?.statuses.findLast(({ status }) => status === 'DEPLOYED')?.at;
  return (
    <section class="panel row row-split deployment-serving" aria-labelledby="deployment-serving">
      <div>
        <h2 id="deployment-serving">Live</h2>
        {active_revision_id === null ? (
          <p class="muted">Nothing is live yet. The first successful revision goes live.</p>
        ) : (
          <p>
            <IdLink to={paths.revision} deploymentId={id} id={active_revision_id} />
            {liveSince !== undefined && (
              <span class="muted">
                {' '}
                deployed <TimeAgo at={liveSince} />
              </span>
            )}
            {live?.commit && (
              <>
                {' · '}
                <Sentence parts={commitParts(live.commit)} deploymentId={id} />
              </>
            )}
          </p>
        )}
        <AgentAddress deployment={deployment} />
        {deployment.idle_after_seconds !== undefined && (
          <p class="muted">
            Its agent stops after {duration(deployment.idle_after_seconds * 1_000)} without a request, and starts again
            at the next one.
          </p>
        )}
      </div>
      {active_revision_id !== null && (
        <a class="button" href={paths.playground(id)}>
          Open the playground
        </a>
      )}
    </section>
  );
}

/** The address of a deployment's agent, to copy; nothing if it has none. */
export function AgentAddress({ deployment }: { deployment: Deployment }) {
  const address = agentAddress(deployment);
  return address === undefined ? null : <Address text={address} />;
}

/** An address of an agent, to copy. */
export const Address = ({ text }: { text: string }) => (
  <span class="line deployment-address">
    <code>
      <Untrusted text={text} />
    </code>
    <CopyButton text={text} label={`Copy the address ${shownText(text, 150)}`} />
  </span>
);
