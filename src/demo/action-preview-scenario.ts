import { allEntriesOf } from '../contract/control/pages.ts';
import { shortCommit } from '../contract/control/repo-ref.ts';
import { ask, commitChange } from './app-scenarios.ts';
import { deploymentOf, quoteLines, type Scenario } from './scenarios.ts';
import type { StepResult } from './runner.ts';

/** A workflow's preview of a pull request, from its opening to its close. Runs while there is no App. */
export const actionPreviewScenario: Scenario = {
  title: 'mode: preview, by a workflow without the App',
  async play(environment, screen, completed) {
    const { github, repository, fullName, control } = environment;
    const { id, address } = deploymentOf(completed);
    const before = await ask(environment, address);
    // The commit of the second scenario, which is live after the rollback.
    await repository.goBackTo(completed[1]?.outputs?.['commit'] ?? '');
    const revisions = await environment.countRevisions(id);
    await repository.edit(
      '.github/landfall.yml',
      '    on-failure: rollback\n',
      '    on-failure: rollback\n    preview: { idle-after: 10m }\n',
    );
    const commit = await commitChange(environment, '?!');
    await repository.push('proposal');
    const pull = { title: 'Wonder', head: 'proposal', base: 'main', by: 'mona' };
    const number = await github.openPullRequest(fullName, pull);
    screen.line(`   pull request ${number} with commit ${shortCommit(commit)} is opened, and its workflow runs`);
    const stepOn = async (eventName: string, action: string): Promise<StepResult> => {
      const read = await fetch(`${github.url}/repos/${fullName}/pulls/${number}`);
      const pullRequest: unknown = await read.json();
      const run = {
        GITHUB_REPOSITORY: fullName,
        GITHUB_REF: `refs/pull/${number}/merge`,
        GITHUB_SHA: commit,
        GITHUB_EVENT_NAME: eventName,
        GITHUB_ACTOR: 'mona',
      };
      const event = { action, number, pull_request: pullRequest };
      const inputs = { mode: 'preview', deployment: 'echo-agent' };
      return environment.step(repository.folder, inputs, run, quoteLines(environment, screen), {}, event);
    };
    const previews = async () =>
      (await allEntriesOf((page) => control.listDeployments(page))).filter(({ name }) =>
        name.includes(`-pr-${number}-`),
      );
    const opened = await stepOn('pull_request', 'opened');
    const [preview, ...more] = await previews();
    const [said, production] = [await ask(environment, preview?.url ?? ''), await ask(environment, address)];
    screen.line(`   ${preview?.name} says "${said}", while production says "${production}"`);
    await github.changePullRequest(fullName, number, 'closed');
    const closed = await stepOn('pull_request_target', 'closed');
    const isGone = (await previews()).length === 0;
    const outcomes = [opened, closed].map(({ outputs }) => outputs['outcome'] ?? 'none');
    const isApart =
      said.endsWith('?!') && production === before && (await environment.countRevisions(id)) === revisions;
    const sleeps = preview?.idle_after_seconds === 600;
    return {
      isProven: outcomes.join() === 'deployed,deleted' && isApart && sleeps && isGone && more.length === 0,
      summary: `${outcomes.join(', then ')}; it says "${said}"`,
    };
  },
};
