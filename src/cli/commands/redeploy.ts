import type { Deployment } from '../../contract/control/deployment.ts';
import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import { ifFound } from '../../contract/service-error.ts';
import { CommandRefused, type ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { changeOptions, followRevision } from './follow-revision.ts';
import { type Invocation, type ServiceSession, withDeployment } from './service-session.ts';

/** Deploys the build of the live revision, or of another one, again, with the secrets that it had. */
export function redeploy(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  return withDeployment(invocation, terminal, async (session, deployment) => {
    const { active_revision_id, latest_revision_id } = deployment;
    const source = invocation.options['revision'] ?? active_revision_id ?? latest_revision_id;
    if (source === null) {
      throw new CommandRefused(`Deployment ${deployment.name} has no revision.`, 'Make one with landfall deploy.');
    }
    await checkSource(invocation.options['revision'], deployment, session);
    terminal.print(`Deploying the build of revision ${source} again, with the secrets that it had.`);
    const options = { ...(await changeOptions(deployment, session.control)), signal: session.signal };
    const changed = await session.control.redeployRevision(deployment.id, source, options);
    return followRevision(changed, session, invocation);
  });
}

/** Refuses a revision that is not there, and one that nobody chose while a newer one is on its way. @throws CommandRefused */
async function checkSource(
  chosen: string | undefined,
  { id, name, latest_revision_id: latest, active_revision_id: live }: Deployment,
  { control, signal }: ServiceSession,
): Promise<void> {
  if (chosen !== undefined) {
    if (await ifFound(control.getRevision(id, chosen, { signal }))) return;
    throw new CommandRefused(`Deployment ${name} has no revision ${chosen}.`, `landfall revisions ${name} lists them.`);
  }
  if (latest === null || latest === live) return;
  const { status } = await control.getRevision(id, latest, { signal });
  if (classOfRevisionStatus(status) !== 'in-progress') return;
  throw new CommandRefused(
    `Revision ${latest} is on its way, and would be replaced with all that it changes.`,
    `Wait until landfall status ${name} shows it live, or name the revision to deploy with --revision.`,
  );
}
