import type { Desired } from '../../src/config/desired.ts';
import { requestedFields, heldAt, sameField, shown } from '../../src/planning/plan-fields.ts';
import type { Terms } from '../reconcile/intent.ts';
import type { ListedDeployment } from './listed-deployments.ts';

/** What a person does about fields in which the file and the deployment differ. */
export const howToApply =
  'the App triggers and reconfigures nothing: run the Action, or `npx landfall deploy`, to apply the file';

/** The plain fields whose values in the file and at the service differ, by their API names. */
export function differencesOf(desired: Desired, deployment: ListedDeployment): Terms['differences'] {
  const { source } = deployment;
  const ofSource = desired.source === source ? [] : [{ field: 'source', from: source, to: desired.source }];
  const ofFields = requestedFields(desired)
    .map(({ path, value }) => ({ path, value, held: heldAt(deployment, path) }))
    .filter(({ path, value, held }) => !sameField(path, value, held))
    .map(({ path, value, held }) => ({ field: path, from: shown(path, held), to: shown(path, value) }));
  return [...ofSource, ...ofFields];
}
