import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { startTestPostgres } from '../../kit/postgres/postgres.ts';
import { comparingSteps, heldSteps } from './kill-steps.ts';
import { sendWebhook, startChildApp } from './child-app.ts';
import { ModelControl } from './model-control.ts';
import { ModelGit } from './model-git.ts';
import { ModelHub, type ShownCheck } from './model-hub.ts';
import { openPartyLine } from './party-line.ts';
import { branch, deploymentIds, repository } from './terms.ts';
import { hurriedTimer } from './timer.ts';

/** How a push fared during which the App was killed. */
export interface Fared {
  /** The signal that ended the first process. */
  died: NodeJS.Signals | null;
  /** Deliveries that were answered 202 before it died, of all that were sent. */
  acknowledged: string;
  /** Revisions of the pushed commit that the App requested. */
  revisions: number;
  serves: boolean;
  check: string;
  /** Check runs of the commit, and how many of all check runs are not completed. */
  checks: number;
  open: number;
}

const faster = 10;
const maxWaitMs = 45_000;

/**
 * A push is delivered `copies` times (with one GUID), and once more as another delivery where there are several; the
 * App kills itself when it reaches `step`, and is started again. What was not acknowledged is delivered again.
 *
 * @param promotes it is the promotion of the pushed commit that reaches the step, and how that fared is returned.
 */
export async function killedAt(step: string, copies: number, promotes = false): Promise<Fared> {
  const timer = hurriedTimer(faster);
  const git = new ModelGit(() => timer.now());
  git.commit(branch, { message: 'Begin', paths: ['agent.py'], fate: 'good' });
  const control = new ModelControl(timer, git, () => 0.05, {
    idempotencyKeys: true,
    ifMatch: true,
    lists: true,
    holds: heldSteps.includes(step),
    pinsCommits: promotes,
    copiesBuilds: promotes,
  });
  const first = control.add(deploymentIds[0], branch);
  const held = promotes ? control.add(deploymentIds[1], branch) : first;
  const checkOf = (sha: string) => githubApi.check(sha, promotes ? 'Landfall: d2' : 'Landfall: d1');
  const githubApi = new ModelHub(git);
  const postgres = await startTestPostgres();
  const line = await openPartyLine({ githubApi, control });
  const secret = randomBytes(16).toString('hex');
  const fixture = {
    databaseUrl: postgres.url,
    line: line.url,
    webhookSecret: secret,
    faster,
    compares: comparingSteps.includes(step),
    promotes,
  };
  try {
    await until(() => first.active !== undefined && held.active !== undefined);
    const killed = await startChildApp({ ...fixture, dieAt: step });
    const before = git.branches.get(branch);
    const after = git.commit(branch, { message: 'Change', paths: ['agent.py'], fate: 'good' });
    const payload = pushOf(before, after);
    const one = randomUUID();
    const guids = copies === 1 ? [one] : [...Array.from({ length: copies }, () => one), randomUUID()];
    const sent = await Promise.all(
      guids.map(async (guid) => ({
        guid,
        taken: await sendWebhook(killed.url, secret, { guid, event: 'push', payload }),
      })),
    );
    const died = await Promise.race([killed.ended, pause(maxWaitMs, null, { ref: false })]);
    await killed.stop();
    const second = await startChildApp(fixture);
    try {
      // GitHub holds what was not acknowledged, for a later redelivery.
      for (const { guid, taken } of sent) {
        if (!taken) await sendWebhook(second.url, secret, { guid, event: 'push', payload });
      }
      await until(() => isQuiet(githubApi, checkOf(after)) && !held.isBusy);
      // Whatever would be done twice is done by then.
      await pause(1_500);
    } finally {
      await second.stop();
    }
    const mistakes = [...control.mistaken, ...[...control.threads].map((id) => `thread ${id} is left`)];
    if (mistakes.length > 0) throw new Error(mistakes.join('\n'));
    const check = checkOf(after);
    const taken = sent.filter((each) => each.taken).length;
    return {
      died,
      acknowledged: `${taken} of ${sent.length}`,
      revisions: held.all.filter(({ madeBy, commit }) => madeBy.who === 'app' && commit === after).length,
      serves: held.active?.commit === after,
      check: check?.content.conclusion ?? check?.content.status ?? 'none',
      checks: githubApi.checks.filter(({ headSha, name }) => headSha === after && (!promotes || name === check?.name))
        .length,
      open: githubApi.checks.filter(({ content }) => content.status !== 'completed').length,
    };
  } finally {
    await line.close();
    await postgres.stop();
  }
}

const isQuiet = (githubApi: ModelHub, check: ShownCheck | undefined): boolean =>
  check?.content.status === 'completed' &&
  githubApi.checks.every(({ content }) => content.status === 'completed') &&
  githubApi.deployments.every(({ states }) => states.at(-1) === 'success');

/** Waits for it up to a limit; the assertions then see the current state. */
async function until(done: () => boolean): Promise<void> {
  for (let waited = 0; waited < maxWaitMs && !done(); waited += 50) await pause(50);
}

const pushOf = (before: string | undefined, after: string) => ({
  ref: `refs/heads/${branch}`,
  before: before ?? '0'.repeat(40),
  after,
  created: false,
  deleted: false,
  forced: false,
  repository: { id: repository.repositoryId, full_name: `${repository.owner}/${repository.name}`, fork: false },
  installation: { id: repository.installationId },
});
