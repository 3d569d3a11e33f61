import { allEntriesOf } from '../contract/control/pages.ts';
import { shortCommit } from '../contract/control/repo-ref.ts';
import { ask, commitChange } from './app-scenarios.ts';
import { deploymentOf, until, type Scenario } from './scenarios.ts';

/** The App's preview of a pull request, from its opening to its close. Runs while the App is there. */
export const appPreviewScenario: Scenario = {
  title: 'a pull request gets an agent that ends with it',
  async play(environment, screen, completed) {
    const { github, repository, fullName, control } = environment;
    const { id, address } = deploymentOf(completed);
    const before = await ask(environment, address);
    await repository.edit(
      '.github/landfall.yml',
      '    on-failure: rollback\n',
      '    on-failure: rollback\n    preview: true\n',
    );
    const base = await repository.commit('Give pull requests previews');
    await repository.push();
    const checkOf = async (commit: string, name: string) =>
      (await github.checkRuns(fullName, commit)).find((run) => run.name === name);
    const isGreen = async (commit: string, name: string) => (await checkOf(commit, name))?.conclusion === 'success';
    await until(() => isGreen(base, 'Landfall: echo-agent'));
    const revisions = await environment.countRevisions(id);

    const commit = await commitChange(environment, '??');
    await repository.push('question');
    const pull = { title: 'Ask back', head: 'question', base: 'main', by: 'mona' };
    const number = await github.openPullRequest(fullName, pull);
    screen.line(`   pull request ${number} with commit ${shortCommit(commit)} is opened`);
    const isProven = await until(() => isGreen(commit, `Landfall preview: echo-agent (#${number})`));
    const previews = async () =>
      (await allEntriesOf((page) => control.listDeployments(page))).filter(({ name }) =>
        name.includes(`-pr-${number}-`),
      );
    const [preview, ...more] = await previews();
    const [said, production] = [await ask(environment, preview?.url ?? ''), await ask(environment, address)];
    screen.line(`   ${preview?.name} says "${said}", while production says "${production}"`);
    await github.changePullRequest(fullName, number, 'closed');
    const isGone = await until(async () => (await previews()).length === 0);
    screen.line(`   the pull request is closed, and its agent ${isGone ? 'is gone' : 'is still there'}`);
    await repository.goBackTo(base);
    const isApart =
      said.endsWith('??') && production === before && (await environment.countRevisions(id)) === revisions;
    return {
      isProven: isProven && isGone && isApart && more.length === 0,
      summary: `proven, it says "${said}"; ${isGone ? 'gone' : 'there'} after the close`,
    };
  },
};
