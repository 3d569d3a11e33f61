import type { Deployment } from '../contract/control/deployment.ts';
import { allEntriesOf } from '../contract/control/pages.ts';
import type { ControlService } from '../contract/control/service.ts';
import { holdStateOf, isOpenHold } from '../planning/hold-state.ts';

/** The revision to discard, or why there is none, in two sentences. */
export async function heldRevision(
  { id: deploymentId, name }: Pick<Deployment, 'id' | 'name'>,
  requested: string | undefined,
  control: Pick<ControlService, 'listRevisions'>,
): Promise<{ ok: true; id: string } | { ok: false; problem: string }> {
  const revisions = await allEntriesOf((page) => control.listRevisions(deploymentId, page));
  const held = revisions.filter((each) => isOpenHold(holdStateOf(each))).map(({ id }) => id);
  if (requested !== undefined) {
    if (held.includes(requested)) return { ok: true, id: requested };
    const problem = `Revision ${requested} of ${name} is not held. Give the id of one that is, or none for the only one.`;
    return { ok: false, problem };
  }
  const [oldest] = held.toReversed();
  if (oldest !== undefined) return { ok: true, id: oldest };
  return { ok: false, problem: `Deployment ${name} has no held revision. Nothing waits for a decision.` };
}
