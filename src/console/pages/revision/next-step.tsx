import { agentAddress, type Deployment } from '../../../contract/control/deployment.ts';
import { paths } from '../../paths.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { shownText, Untrusted } from '../../parts/untrusted.tsx';

/** Where a revision that serves can be reached, and tried. */
export function NextStep({ deployment }: { deployment: Deployment }) {
  const address = agentAddress(deployment);
  return (
    <section class="panel revision-next" aria-label="The agent">
      <p>
        This revision answers the requests to the agent.
        {address !== undefined && (
          <span class="revision-address">
            <code>
              <Untrusted text={address} />
            </code>
            <CopyButton text={address} label={`Copy the address ${shownText(address, 100)}`} />
          </span>
        )}
      </p>
      <a class="button button-primary" href={paths.playground(deployment.id)}>
        Open the playground
      </a>
    </section>
  );
}
