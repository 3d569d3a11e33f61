import { systemClock } from '../kit/clock.ts';
import { shortCommit } from '../contract/control/repo-ref.ts';
import { deploymentOf, graph, requestsTo, until, type Scenario } from './scenarios.ts';
import type { ShownRun } from './github/people.ts';
import type { Renderer } from './renderer.ts';
import type { DemoEnvironment } from './environment.ts';

/** The App from a push to a verified revision, with failures in between. Runs after the scenarios of the Action. */
export const appScenarios: readonly Scenario[] = [
  {
    title: 'a push to GitHub: the check goes green',
    async play(environment, screen, completed) {
      const deployment = deploymentOf(completed);
      const { github, repository } = environment;
      // Reset the branch to the commit of the second scenario, which is live after the rollback.
      await repository.goBackTo(completed[1]?.outputs?.['commit'] ?? '');
      await repository.push();
      const app = await environment.startApp();
      github.sendWebhooksTo(app.webhookUrl);
      await github.install('acme');
      screen.line(`   the App listens at ${app.url}, and is installed for acme`);
      const revisions = await environment.countRevisions(deployment.id);
      const commit = await commitChange(environment, '!!');
      await repository.push();
      screen.line(`   git push: commit ${shortCommit(commit)}`);
      const run = await waitForCheck(environment, screen, commit);
      const reply = await ask(environment, deployment.address);
      const newRevisions = (await environment.countRevisions(deployment.id)) - revisions;
      const isProven = run?.conclusion === 'success' && newRevisions === 1 && reply === 'hello world!!';
      return { isProven, summary: `${run?.conclusion ?? 'no end'}, ${newRevisions} revision, it says "${reply}"` };
    },
  },
  {
    title: 'the same delivery three times is one',
    async play(environment, screen, completed) {
      const { id } = deploymentOf(completed);
      const revisions = await environment.countRevisions(id);
      const push = environment.github.deliveries().findLast(({ event }) => event === 'push');
      const answers: (number | undefined)[] = [];
      for (const guid of push ? [push.guid, push.guid, push.guid] : []) {
        answers.push((await environment.github.deliver(guid)).response?.statusCode);
      }
      screen.line(`   delivery ${push?.guid.slice(0, 8)} again, three times: answered ${answers.join(', ')}`);
      // Any effect of the deliveries would begin within this time.
      await systemClock.sleep(3_000);
      const newRevisions = (await environment.countRevisions(id)) - revisions;
      const [run] = await environment.github.checkRuns(environment.fullName, await environment.repository.head());
      const isAccepted = answers.length === 3 && answers.every((each) => each === 202) && newRevisions === 0;
      return {
        isProven: isAccepted && run?.conclusion === 'success',
        summary: `${newRevisions} revisions; ${run?.conclusion ?? 'no check'}`,
      };
    },
  },
  {
    title: 'of five commits at once two are built',
    async play(environment, screen, completed) {
      const { id, address } = deploymentOf(completed);
      const { repository } = environment;
      const revisions = await environment.countRevisions(id);
      const commits: string[] = [];
      for (const number of [1, 2, 3, 4, 5]) {
        commits.push(await commitChange(environment, ` ${number}`));
        await repository.push();
        // The first build must have started before the others are pushed, or it would be superseded with them.
        if (number === 1) await until(async () => (await environment.countRevisions(id)) > revisions);
      }
      screen.line(`   git push, five times: ${commits.map(shortCommit).join(' ')}`);
      const runs = new Map<string, ShownRun | undefined>();
      const superseded = new Set<string>();
      await until(async () => {
        for (const commit of commits) {
          const [run] = await environment.github.checkRuns(environment.fullName, commit);
          runs.set(commit, run);
          if (run?.conclusion === 'neutral') superseded.add(commit);
        }
        return [...runs.values()].every((run) => run?.status === 'completed' && run.conclusion === 'success');
      });
      for (const [commit, run] of runs) screen.quote(`| ${shortCommit(commit)}  ${describeCheck(run)}`);
      const reply = await ask(environment, address);
      const newRevisions = (await environment.countRevisions(id)) - revisions;
      const green = [...runs.values()].filter((run) => run?.conclusion === 'success').length;
      const isProven = newRevisions === 2 && green === 5 && reply === 'hello world 5';
      return { isProven, summary: `${newRevisions} revisions, ${superseded.size} superseded, all ${green} live` };
    },
  },
  {
    title: 'killed in the middle, the App goes on',
    async play(environment, screen, completed) {
      const { id, address } = deploymentOf(completed);
      const revisions = await environment.countRevisions(id);
      const commit = await commitChange(environment, ' again');
      await environment.repository.push();
      screen.line(`   git push: commit ${shortCommit(commit)}`);
      await until(async () => (await environment.countRevisions(id)) > revisions);
      const app = await environment.killApp();
      screen.line(`   killed: process ${app?.pid}, while the revision is on its way`);
      await systemClock.sleep(1_000);
      const next = await environment.startApp();
      screen.line(`   started again: process ${next.pid}`);
      const run = await waitForCheck(environment, screen, commit);
      const reply = await ask(environment, address);
      const newRevisions = (await environment.countRevisions(id)) - revisions;
      const isProven = run?.conclusion === 'success' && newRevisions === 1 && reply === 'hello world again';
      return { isProven, summary: `${run?.conclusion ?? 'no end'}, ${newRevisions} revision, it says "${reply}"` };
    },
  },
];

/** Changes the end of the example's answers, and commits that. */
export async function commitChange({ repository }: DemoEnvironment, suffix: string): Promise<string> {
  await repository.edit(graph, /(\$\{input\})[^`$]*`/, `$1${suffix}\``);
  return repository.commit(`End with "${suffix.trim()}"`);
}

export const ask = (environment: DemoEnvironment, address: string): Promise<string> =>
  requestsTo(address, environment.service).echo('world');

/** Shows the states of a commit's check until it is completed; returns undefined after the time limit. */
async function waitForCheck(
  environment: DemoEnvironment,
  screen: Renderer,
  commit: string,
): Promise<ShownRun | undefined> {
  const started = performance.now();
  let last = '';
  let run: ShownRun | undefined;
  const isEnded = await until(async () => {
    [run] = await environment.github.checkRuns(environment.fullName, commit);
    const description = describeCheck(run);
    if (run && description !== last) screen.quote(`| ${seconds(performance.now() - started)}  ${description}`);
    last = run ? description : '';
    return run?.status === 'completed';
  });
  return isEnded ? run : undefined;
}

const describeCheck = (run: ShownRun | undefined): string =>
  run === undefined ? 'no check' : `${run.name}: ${run.conclusion ?? run.status}, ${run.title}`;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1).padStart(5)} s`;
