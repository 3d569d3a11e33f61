import type { PushedDeployment, Desired } from '../../src/config/desired.ts';
import { defaultSkipWords, type NamedEnvironment } from '../../src/config/push-fields.ts';
import type { Terms } from '../reconcile/intent.ts';
import type { ListedDeployment } from './listed-deployments.ts';
import { requestedFields, heldAt, sameField, shown } from '../../src/planning/plan-fields.ts';

/** What the operator decides for every deployment. */
export interface CommonTerms {
  builder: Terms['builder'];
  /** How long a revision is waited for (ms). */
  timeoutMs: number;
}

/**
 * The terms of a deployment from the file, with defaults for what it omits.
 *
 * @param isShared whether another deployment goes to the environment of this name, too
 */
export function termsOf(
  deployment: ListedDeployment,
  requested: PushedDeployment | undefined,
  notes: readonly string[],
  common: CommonTerms,
  isShared: (environment: string) => boolean = () => false,
): Terms {
  const differences = requested ? differencesOf(requested.desired, deployment) : [];
  const { environment, ...rules } = requested?.push ?? {
    skipWords: defaultSkipWords,
    afterRollback: 'continue' as const,
  };
  return {
    deploymentName: deployment.name,
    ...common,
    rules,
    smokeTests: requested?.smokeTests ?? [],
    ...(requested === undefined && notes.length > 0 ? { unread: true } : {}),
    onFailure: requested?.onFailure ?? 'keep',
    environment: environmentOf(deployment, environment, isShared),
    differences,
    notes,
  };
}

/** By default each deployment has its own environment, so that none deactivates another's. */
function environmentOf(
  deployment: ListedDeployment,
  named: NamedEnvironment | undefined,
  isShared: (environment: string) => boolean,
): Terms['environment'] {
  const name = named?.name ?? deployment.name;
  const isProduction = deployment.source_config.deployment_type === 'prod' || name.toLowerCase() === 'production';
  const production = named?.production ?? isProduction;
  return { name, production, transient: named?.transient ?? false, ...(isShared(name) ? { shared: true } : {}) };
}

/** What a person does about fields in which the file and the deployment differ. */
export const howToApply =
  'the App triggers and reconfigures nothing: run the Action, or `npx landfall deploy`, to apply the file';

/** The plain fields whose values in the file and at the service differ, by their API names. */
function differencesOf(desired: Desired, deployment: ListedDeployment): Terms['differences'] {
  const { source } = deployment;
  const ofSource = desired.source === source ? [] : [{ field: 'source', from: source, to: desired.source }];
  const ofFields = requestedFields(desired)
    .map(({ path, value }) => ({ path, value, held: heldAt(deployment, path) }))
    .filter(({ path, value, held }) => !sameField(path, value, held))
    .map(({ path, value, held }) => ({ field: path, from: shown(path, held), to: shown(path, value) }));
  return [...ofSource, ...ofFields];
}
