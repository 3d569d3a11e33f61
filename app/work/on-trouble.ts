import { ServiceError } from '../../src/contract/service-error.ts';
import { attempt } from '../../src/deploy/attempt.ts';
import { checkName } from './report.ts';
import { ended, type End } from './end-words.ts';
import type { Intent } from './intent.ts';
import { isWishForHead, type Step } from './next-step.ts';
import { adviceOn, later, mayPass, refusal, type Trouble } from './trouble.ts';
import { keep, moved, reading, reportsOf, type Came, type Work } from './work.ts';

/** How long after its time a revision that nobody can be asked about is given up (ms). */
const overdueMs = 60 * 60_000;

/** Another party failed in a step: it is taken again later, or what cannot come to pass is ended. */
export async function onTrouble(
  work: Work,
  step: Exclude<Step, { kind: 'rest' }>,
  open: readonly Intent[],
  error: Trouble,
): Promise<Came> {
  const concerned = step.kind === 'wishes' ? open.filter(isWishForHead) : [step.intent];
  const first = concerned[0];
  if (!first) return later(work, error, work.world.clock.now());
  const now = work.world.clock.now();
  const end =
    step.kind === 'wishes' || step.kind === 'go-back'
      ? refusal(error, now - Math.max(...concerned.map(({ createdAt }) => createdAt)))
      : await endOfWatching(work, first, error);
  work.world.log(`${step.kind} of deployment ${work.lease.deploymentId}: ${error.message}`);
  if (end) {
    await keep(
      work,
      concerned.map((intent) => ended(intent, end, now)),
    );
    return moved;
  }
  await tellAtLeast(work, concerned);
  return later(work, error, step.kind === 'wishes' ? newestOf(concerned) : first.updatedAt);
}

const newestOf = (intents: readonly Intent[]): number => Math.max(...intents.map(({ createdAt }) => createdAt));

/** How watching a revision ends where the service says no for good: the deployment is gone, or the time is over. */
async function endOfWatching(work: Work, intent: Intent, error: Trouble): Promise<End | undefined> {
  if (!(error instanceof ServiceError)) return undefined;
  const { control, clock } = work.world;
  if (error.kind === 'missing') {
    const deployment = await attempt(control.getDeployment(intent.deploymentId, reading(work)));
    if (!deployment.ok && deployment.error.status === 404) {
      return {
        kind: 'refused',
        reason: `The deployment is gone: ${deployment.error.message}.`,
        advice: 'Create the deployment again, or take it out of the deploy file.',
      };
    }
  }
  const deadline = intent.deadline ?? intent.updatedAt + intent.terms.timeoutMs;
  if (clock.now() < deadline + (mayPass(error) ? overdueMs : 0)) return undefined;
  if (!mayPass(error))
    return { kind: 'refused', reason: `The service refused: ${error.message}.`, advice: adviceOn(error) };
  if (intent.state === 'sending') return undefined;
  return {
    kind: 'timed-out',
    reason: `What became of revision ${intent.revisionId ?? 'of this commit'} could not be seen: ${error.message}.`,
    advice: 'Look at the revision at the service; press Re-run to follow it or to build again.',
  };
}

/** A commit that waits for a party to come back has a check all the same. */
async function tellAtLeast(work: Work, intents: readonly Intent[]): Promise<void> {
  const { store } = work.world;
  for (const intent of intents) {
    const { repository, commit, terms, state } = intent;
    if (state !== 'wished') continue;
    const told = await store.reportOf(repository.repositoryId, commit, checkName(terms.deploymentName));
    if (!told) await store.save(work.lease, { reports: reportsOf(work, intent) });
  }
}
