import type { InstallationRepository } from '../../../app/context.ts';
import type { Terms } from '../../../app/reconcile/intent.ts';
import type { SmokeTest } from '../../../src/config/smoke-test.ts';

/** The one repository of every history. */
export const repository: InstallationRepository = { installationId: 1, repositoryId: 1, owner: 'acme', name: 'agent' };
/** The branch that is deployed. */
export const branch = 'main';
export const deploymentIds = ['d1000000-0000-4000-8000-000000000000', 'd2000000-0000-4000-8000-000000000000'] as const;

const greets: SmokeTest = {
  name: 'greets',
  assistant: 'agent',
  thread: false,
  input: {},
  streamModes: ['values'],
  expect: [],
  attempts: 1,
  timeoutMs: 30_000,
};

/** What may differ from one history to the next. */
export type VaryingTerms = Pick<Terms, 'builder' | 'onFailure'> & {
  afterRollback: Terms['rules']['afterRollback'];
  smokeTests: boolean;
};

/** The second deployment has a path filter, and skips commits with a skip marker. */
export function termsOf(deploymentId: string, { builder, onFailure, afterRollback, smokeTests }: VaryingTerms): Terms {
  const strict = deploymentId === deploymentIds[1];
  return {
    deploymentName: deploymentId.slice(0, 2),
    builder,
    rules: {
      skipWords: strict ? ['[skip deploy]'] : [],
      afterRollback,
      ...(strict ? { paths: { include: ['**/*.py'], exclude: [] } } : {}),
    },
    smokeTests: smokeTests ? [greets] : [],
    onFailure,
    environment: { name: 'production', production: true, transient: false },
    differences: [],
    timeoutMs: 30 * 60_000,
    notes: [],
  };
}
