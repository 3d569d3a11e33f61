import { systemClock } from '../kit/clock.ts';
import { shortCommit } from '../contract/control/repo-ref.ts';
import { deployed, graph, requestsTo, until, type Scenario } from './scenarios.ts';
import type { ShownRun } from './github/people.ts';
import type { Renderer } from './renderer.ts';
import type { DemoEnvironment } from './environment.ts';

/** The App from a push to a verified revision, with failures in between. Runs after the scenarios of the Action. */
export const appScenarios: readonly Scenario[] = [
  {
    title: 'a push to GitHub: the check goes green',
    async play(environment, screen, before) {
      const deployment = deployed(before);
      const { github, repository } = environment;
      // What was rolled back is taken from the branch as well: it stands at the second act's commit, which serves.
      await repository.goBackTo(before[1]?.outputs?.['commit'] ?? '');
      await repository.push();
      const app = await environment.startApp();
      github.sendWebhooksTo(app.webhookUrl);
      await github.install('acme');
      screen.line(`   the App listens at ${app.url}, and is installed for acme`);
      const revisions = await environment.countRevisions(deployment.id);
      const commit = await change(environment, '!!');
      await repository.push();
      screen.line(`   git push: commit ${shortCommit(commit)}`);
      const run = await waitForCheck(environment, screen, commit);
      const said = await ask(environment, deployment.address);
      const made = (await environment.countRevisions(deployment.id)) - revisions;
      const held = run?.conclusion === 'success' && made === 1 && said === 'hello world!!';
      return { held, seen: `${run?.conclusion ?? 'no end'}, ${made} revision, it says "${said}"` };
    },
  },
  {
    title: 'the same delivery three times is one',
    async play(environment, screen, before) {
      const { id } = deployed(before);
      const revisions = await environment.countRevisions(id);
      const push = environment.github.deliveries().findLast(({ event }) => event === 'push');
      const answers: (number | undefined)[] = [];
      for (const guid of push ? [push.guid, push.guid, push.guid] : []) {
        answers.push((await environment.github.deliver(guid)).response?.statusCode);
      }
      screen.line(`   delivery ${push?.guid.slice(0, 8)} again, three times: answered ${answers.join(', ')}`);
      // What the deliveries might bring about would begin within this time.
      await systemClock.sleep(3_000);
      const made = (await environment.countRevisions(id)) - revisions;
      const [run] = await environment.github.checkRuns(environment.fullName, await environment.repository.head());
      const held = answers.length === 3 && answers.every((each) => each === 202) && made === 0;
      return {
        held: held && run?.conclusion === 'success',
        seen: `${made} revisions; ${run?.conclusion ?? 'no check'}`,
      };
    },
  },
  {
    title: 'of five commits at once two are built',
    async play(environment, screen, before) {
      const { id, address } = deployed(before);
      const { repository } = environment;
      const revisions = await environment.countRevisions(id);
      const commits: string[] = [];
      for (const number of [1, 2, 3, 4, 5]) {
        commits.push(await change(environment, ` ${number}`));
        await repository.push();
        // The first one has to be on its way before the others come, or it would be none of their business.
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
      for (const [commit, run] of runs) screen.quote(`| ${shortCommit(commit)}  ${wordsOf(run)}`);
      const said = await ask(environment, address);
      const made = (await environment.countRevisions(id)) - revisions;
      const green = [...runs.values()].filter((run) => run?.conclusion === 'success').length;
      const held = made === 2 && green === 5 && said === 'hello world 5';
      return { held, seen: `${made} revisions, ${superseded.size} superseded, all ${green} live` };
    },
  },
  {
    title: 'killed in the middle, the App goes on',
    async play(environment, screen, before) {
      const { id, address } = deployed(before);
      const revisions = await environment.countRevisions(id);
      const commit = await change(environment, ' again');
      await environment.repository.push();
      screen.line(`   git push: commit ${shortCommit(commit)}`);
      await until(async () => (await environment.countRevisions(id)) > revisions);
      const app = await environment.killApp();
      screen.line(`   killed: process ${app?.pid}, while the revision is on its way`);
      await systemClock.sleep(1_000);
      const next = await environment.startApp();
      screen.line(`   started again: process ${next.pid}`);
      const run = await waitForCheck(environment, screen, commit);
      const said = await ask(environment, address);
      const made = (await environment.countRevisions(id)) - revisions;
      const held = run?.conclusion === 'success' && made === 1 && said === 'hello world again';
      return { held, seen: `${run?.conclusion ?? 'no end'}, ${made} revision, it says "${said}"` };
    },
  },
];

/** Has the example end its answers in other words, and commits that. */
async function change({ repository }: DemoEnvironment, ending: string): Promise<string> {
  await repository.edit(graph, /(\$\{input\})[^`$]*`/, `$1${ending}\``);
  return repository.commit(`End with "${ending.trim()}"`);
}

const ask = (environment: DemoEnvironment, address: string): Promise<string> =>
  requestsTo(address, environment.service).echo('world');

/** Shows how the check of a commit gets on, until it has ended; undefined where it does not in time. */
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
    const words = wordsOf(run);
    if (run && words !== last) screen.quote(`| ${seconds(performance.now() - started)}  ${words}`);
    last = run ? words : '';
    return run?.status === 'completed';
  });
  return isEnded ? run : undefined;
}

const wordsOf = (run: ShownRun | undefined): string =>
  run === undefined ? 'no check' : `${run.name}: ${run.conclusion ?? run.status}, ${run.title}`;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1).padStart(5)} s`;
