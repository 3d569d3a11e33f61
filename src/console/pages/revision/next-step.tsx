import type { Deployment } from '../../../contract/control/deployment.ts';
import { paths } from '../../paths.ts';
import { AgentAddress } from '../deployment/agent-address.tsx';

/** Where a revision that serves can be reached, and tried. */
export function NextStep({ deployment }: { deployment: Deployment }) {
  return (
    <section class="panel revision-next" aria-label="The agent">
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
