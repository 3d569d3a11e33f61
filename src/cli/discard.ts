import { version } from '../kit/version.ts';
import { connectControlService } from '../client/control.ts';
import type { Inputs } from '../deploy/file/input-table.ts';
import type { Deployment } from '../contract/control/deployment.ts';
import type { ControlService } from '../contract/control/service.ts';
import { decideHold, openHolds } from '../deploy/machine/decide-hold.ts';
import { notFoundByName } from '../deploy/words/outcomes.ts';
import { findDeployment } from '../deploy/machine/find-deployments.ts';
import { keyOf } from './issue-key.ts';
import { readDiscardRequest } from './compare-input.ts';
import { exitCodes, refuseFailure, refuseFor, refuseInput, type ExitCode } from './problems.ts';
import type { Terminal } from './terminal.ts';

/** The whole command: discards the revision that is held before traffic, so that waiting revisions continue. */
export async function discardCommand(inputs: Inputs, terminal: Terminal): Promise<ExitCode> {
  terminal.hide(inputs['api-key'] ?? '');
  const read = readDiscardRequest(inputs);
  if (!read.ok) return refuseInput(read.problems, exitCodes.wrongUsage, terminal);
  const { request } = read;
  const key = await keyOf({ ...request, timeoutMs: 0 }, terminal);
  if (typeof key === 'number') return key;
  const control = connectControlService({ ...request, apiKey: key.apiKey, userAgent: `landfall-cli/${version}` });
  const refuse = (reason: string): ExitCode => refuseFor(reason, undefined, terminal);
  try {
    const found = await findDeployment(request.deployment, control);
    if (!found.ok) return refuse(notFoundByName(request.deployment.name, found.matches));
    const { deployment } = found;
    const held = await heldRevision(deployment, request.revision, control);
    if (!held.ok) return refuse(held.problem);
    const hold = { deploymentId: deployment.id, revisionId: held.id, decision: 'discarded', control } as const;
    const why = 'a person discarded it by the command line';
    const { kind } = await decideHold({ ...hold, why, options: () => ({}) });
    if (kind === 'promoted') {
      return refuse(`Revision ${held.id} was promoted in the meantime. Roll back to replace it: landfall rollback.`);
    }
    terminal.print(`Revision ${held.id} of ${deployment.name} is discarded; revisions that wait for it go on.`);
    terminal.conclude({ outcome: 'discarded', passes: true, deployment_id: deployment.id, revision_id: held.id });
    return exitCodes.passes;
  } catch (error) {
    return refuseFailure(error, terminal);
  } finally {
    await control.close();
  }
}

/** The revision to discard, or why there is none, in two sentences. */
export async function heldRevision(
  { id: deploymentId, name }: Pick<Deployment, 'id' | 'name'>,
  requested: string | undefined,
  control: Pick<ControlService, 'listRevisions'>,
): Promise<{ ok: true; id: string } | { ok: false; problem: string }> {
  const held = await openHolds(deploymentId, control);
  if (requested !== undefined) {
    if (held.includes(requested)) return { ok: true, id: requested };
    const problem = `Revision ${requested} of ${name} is not held. Give the id of one that is, or none for the only one.`;
    return { ok: false, problem };
  }
  const [oldest] = held.toReversed();
  if (oldest !== undefined) return { ok: true, id: oldest };
  return { ok: false, problem: `Deployment ${name} has no held revision. Nothing waits for a decision.` };
}
