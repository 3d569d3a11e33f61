import { randomUUID } from 'node:crypto';
import type { Deployment } from '../../contract/control/deployment.ts';
import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import type { ChangeOptions, ControlService } from '../../contract/control/service.ts';
import { asLine } from '../../deploy/words/sanitize.ts';
import { systemClock as clock } from '../../kit/clock.ts';
import { exitCodes, type ExitCode } from '../problems.ts';
import type { Invocation, ServiceSession } from './service-session.ts';

const pollMs = 1000;
/** How long a revision is followed. */
const maxWaitMs = 30 * 60_000;

/** The conditions of a change: it is refused if there is a newer revision, and takes effect once. */
export async function changeOptions(
  { latest_revision_id }: Deployment,
  control: Pick<ControlService, 'features'>,
): Promise<ChangeOptions> {
  const { idempotencyKeys } = await control.features();
  return {
    ...(latest_revision_id === null ? {} : { ifLatest: latest_revision_id }),
    ...(idempotencyKeys ? { idempotencyKey: randomUUID() } : {}),
  };
}

/** Says that a revision was made, and follows it until it is live or has ended, unless `--wait false` was given. */
export async function followRevision(
  { name, id: deploymentId, latest_revision_id: revisionId }: Deployment,
  { control, terminal, signal }: ServiceSession,
  { options }: Invocation,
): Promise<ExitCode> {
  if (revisionId === null) throw new Error('a deployment that was changed has a revision');
  const conclude = (status: string, message: string | null, passes: boolean): ExitCode => {
    terminal.conclude({ deployment_id: deploymentId, revision_id: revisionId, status, message, passes });
    return passes ? exitCodes.passes : exitCodes.fails;
  };
  terminal.print(`Revision ${revisionId} of ${name} is made.`);
  if (options['wait'] === 'false') return conclude('CREATING', null, true);
  const deadline = clock.now() + maxWaitMs;
  const goesOn = `It goes on by itself: landfall status ${name} shows it.`;
  let shown = '';
  try {
    for (;;) {
      const { status, status_message } = await control.getRevision(deploymentId, revisionId, { signal });
      const message = status_message ? asLine(status_message) : null;
      if (status !== shown) terminal.print(`  ${status}${message === null ? '' : `: ${message}`}`);
      shown = status;
      const known = classOfRevisionStatus(status);
      if (known === 'live') {
        terminal.print(`Revision ${revisionId} of ${name} is live.`);
        return conclude(status, message, true);
      }
      if (known !== 'in-progress' && known !== 'unknown') {
        terminal.complain(
          `Revision ${revisionId} of ${name} did not become live. landfall logs ${name} --build says more.`,
        );
        return conclude(status, message, false);
      }
      if (clock.now() > deadline) {
        terminal.complain(`Revision ${revisionId} of ${name} is not live after 30 minutes. ${goesOn}`);
        return conclude(status, message, false);
      }
      await clock.sleep(pollMs, signal);
    }
  } catch (error) {
    if (signal.aborted) terminal.complain(`Revision ${revisionId} of ${name} is no longer followed. ${goesOn}`);
    throw error;
  }
}
