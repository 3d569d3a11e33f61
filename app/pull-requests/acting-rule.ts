import { allEntriesOf } from '../../src/contract/control/pages.ts';
import type { Deployment } from '../../src/contract/control/deployment.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { ServiceError } from '../../src/contract/service-error.ts';
import type { Ownership } from '../targets/ownership.ts';
import type { ActingRule } from './examine.ts';

type RuleQuery = { name?: string; deploymentId?: string };

/**
 * The rule that pushes go by, for forecasts: a repository's own deployments, and those that the operator bound to it.
 */
export const actingRule =
  (ownership: Ownership, control: Pick<ControlService, 'getDeployment' | 'listDeployments'>): ActingRule =>
  (repository) => {
    const refusal = (deployment: Deployment) =>
      ownership.refusal(repository, deployment) === undefined ? undefined : notYours;
    return {
      async find({ name, deploymentId }: RuleQuery) {
        if (deploymentId !== undefined) return byId(control, deploymentId);
        const named = await byName(control, name ?? '');
        // Of several with one name the refused one counts: a plan would report it.
        return named.find((each) => refusal(each) !== undefined) ?? named[0];
      },
      refusal,
      isOwn: (repoUrl) => ownership.isOwn(repository, repoUrl),
    };
  };

/** Reveals neither its owner nor its contents. */
const notYours = 'it is not a deployment of this repository, and the operator of the App did not bind it';

async function byId(control: Pick<ControlService, 'getDeployment'>, id: string): Promise<Deployment | undefined> {
  try {
    return await control.getDeployment(id);
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'missing') return undefined;
    throw error;
  }
}

/** The deployments of exactly this name; a service may match names loosely. */
async function byName(
  control: Pick<ControlService, 'getDeployment' | 'listDeployments'>,
  name: string,
): Promise<Deployment[]> {
  const listed = await allEntriesOf((page) => control.listDeployments({ name_contains: name, ...page }));
  return Promise.all(listed.filter((each) => each.name === name).map(({ id }) => control.getDeployment(id)));
}
