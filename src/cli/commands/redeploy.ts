import { CommandRefused, type ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { changeOptions, followRevision } from './follow-revision.ts';
import { type Invocation, withDeployment } from './service-session.ts';

/** Deploys the build of the live revision, or of another one, again, with the secrets that it had. */
export function redeploy(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  return withDeployment(invocation, terminal, async (session, deployment) => {
    const { active_revision_id, latest_revision_id } = deployment;
    const source = invocation.options['revision'] ?? active_revision_id ?? latest_revision_id;
    if (source === null) {
      throw new CommandRefused(`Deployment ${deployment.name} has no revision.`, 'Make one with landfall deploy.');
    }
    const options = { ...(await changeOptions(deployment, session.control)), signal: session.signal };
    const changed = await session.control.redeployRevision(deployment.id, source, options);
    return followRevision(changed, session, invocation);
  });
}
