import type { Deployment } from '../../contract/control/deployment.ts';
import type { HoldDecision } from '../../contract/control/revision.ts';
import type { ControlService } from '../../contract/control/service.ts';
import { decideHold, openHolds } from '../../deploy/machine/decide-hold.ts';
import { CommandRefused, exitCodes, type ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { type Invocation, withDeployment } from './service-session.ts';

/** Promotes or discards the revision that is held before traffic. */
export function decideHeld(decision: HoldDecision, invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  return withDeployment(invocation, terminal, async ({ control }, deployment) => {
    const held = await heldRevision(deployment, invocation.options['revision'], control);
    if (!held.ok) throw new CommandRefused(held.problem);
    const { id: revisionId } = held;
    const why = `a person ${decision} it by the command line`;
    const hold = { deploymentId: deployment.id, revisionId, decision, why, control, options: () => ({}) } as const;
    const { kind } = await decideHold(hold);
    if (kind === 'pending') {
      const advice = `landfall status ${deployment.name} shows when it is held.`;
      throw new CommandRefused(`Revision ${revisionId} is not healthy yet, so that nothing can be decided.`, advice);
    }
    if (kind !== decision && (decision === 'promoted' || kind === 'promoted')) {
      const [happened, advice] = refusals[decision];
      throw new CommandRefused(`Revision ${revisionId} ${happened} in the meantime.`, advice);
    }
    terminal.print(`Revision ${revisionId} of ${deployment.name} is ${decision}; ${effects[decision]}.`);
    terminal.conclude({ outcome: decision, passes: true, deployment_id: deployment.id, revision_id: revisionId });
    return exitCodes.passes;
  });
}

/** What follows from a decision. */
const effects: Record<HoldDecision, string> = {
  promoted: 'it takes the traffic',
  discarded: 'revisions that wait for it go on',
};

/** What was decided instead, and what to do. */
const refusals: Record<HoldDecision, readonly [happened: string, advice: string]> = {
  promoted: ['ended', 'Deploy it again with landfall redeploy --revision.'],
  discarded: ['was promoted', 'Roll back to replace it: landfall rollback.'],
};

/** The revision to decide about, or why there is none, in two sentences. */
export async function heldRevision(
  { id: deploymentId, name }: Pick<Deployment, 'id' | 'name'>,
  requested: string | undefined,
  control: Pick<ControlService, 'listRevisions'>,
): Promise<{ ok: true; id: string } | { ok: false; problem: string }> {
  const held = await openHolds(deploymentId, control);
  if (requested !== undefined) {
    if (held.includes(requested)) return { ok: true, id: requested };
    const problem = `Revision ${requested} of ${name} is not held. Give the id of one that is, or none for the one held for longest.`;
    return { ok: false, problem };
  }
  const [oldest] = held.toReversed();
  if (oldest !== undefined) return { ok: true, id: oldest };
  return { ok: false, problem: `Deployment ${name} has no held revision. Nothing waits for a decision.` };
}
