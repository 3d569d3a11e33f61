import { agentAddress, type Deployment } from '../../../contract/control/deployment.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { shownText, Untrusted } from '../../parts/untrusted.tsx';

/** The address of a deployment's agent, to copy; nothing where it has none. */
export function AgentAddress({ deployment }: { deployment: Deployment }) {
  const address = agentAddress(deployment);
  if (address === undefined) return null;
  return (
    <span class="deployment-address">
      <code>
        <Untrusted text={address} />
      </code>
      <CopyButton text={address} label={`Copy the address ${shownText(address, 100)}`} />
    </span>
  );
}
