import { testsOfCommand } from '../../src/deploy/commands/repeated-tests.ts';
import { findRevision } from '../../src/deploy/machine/steps/read-deployment.ts';
import type { IntentFields } from '../reconcile/intent.ts';
import type { DeployTerms } from '../reconcile/deploy-request.ts';
import { outcomeOf } from './carried-out.ts';
import { refused, type CommandOutcome } from '../../src/deploy/commands/outcomes.ts';
import { causeOf, decideOnce, requestOf, type Performance } from './performance.ts';

/** How long one call of the service may take with all its repetitions (ms). */
const callMs = 20_000;

/** How many of a deployment's intents are searched for the one that made the live revision. */
const maxSearchedIntents = 100;

/** Requests the smoke tests of the revision that is live when the command is taken. Nothing is built or rolled back. */
export async function runTests(performance: Performance): Promise<CommandOutcome> {
  const { command, stored, candidate, context } = performance;
  const { control, clock, store } = context;
  const { deploymentId, terms } = candidate.target;
  const { deploymentName: deployment } = terms;
  const repeated = testsOfCommand(terms.smokeTests, command, deployment);
  if (!repeated.ok) return refused(repeated.refusal);
  const { smokeTests } = repeated;
  const options = () => ({ deadline: clock.now() + callMs });
  const decided = await decideOnce(performance, 'test', async () => {
    const { active_revision_id: revisionId } = await control.getDeployment(deploymentId, options());
    if (!revisionId) return { ok: false, outcome: refused({ code: 'nothing-live', deployment }) };
    const revision = await findRevision(deploymentId, revisionId, { control, options });
    const made = await store.lastWithRevision(deploymentId, maxSearchedIntents);
    const maker = made.find((intent: IntentFields) => intent.revisionId === revisionId);
    const commit = revision?.source_revision_config.repo_commit_sha ?? maker?.commit;
    if (!commit) return { ok: false, outcome: refused({ code: 'commit-unknown', deployment, revisionId }) };
    const action = { kind: 'test', deploymentId, deployment, revisionId, commit, tests: smokeTests.length } as const;
    return { ok: true, action };
  });
  if (!decided.ok) return decided.outcome;
  const { revisionId, commit } = decided.action;
  const { conversations: _, ...rest } = terms;
  const request = requestOf(performance, {
    commit,
    cause: causeOf('rerun', stored),
    sending: { kind: 'test', revisionId },
  });
  await store.request({ ...request, terms: { ...rest, smokeTests, onFailure: 'keep' } satisfies DeployTerms });
  return outcomeOf(decided.action);
}
