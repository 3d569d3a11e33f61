import { shortCommit } from '../contract/control/repo-ref.ts';
import { ask, commitChange } from './app-scenarios.ts';
import { deploymentOf, until, type Scenario } from './scenarios.ts';

/** A push waits for a check of its commit. Runs while the App is there. */
export const afterChecksScenario: Scenario = {
  title: 'deploy-after: a push waits for its checks',
  async play(environment, screen, completed) {
    const { github, repository, fullName } = environment;
    const { id, address } = deploymentOf(completed);
    const base = await repository.head();
    const [before, revisions] = [await ask(environment, address), await environment.countRevisions(id)];
    await repository.edit(
      '.github/landfall.yml',
      '    on-failure: rollback\n',
      '    on-failure: rollback\n    deploy-after: { checks: [unit], timeout: 5m }\n',
    );
    const commit = await commitChange(environment, ' in time');
    await repository.push();
    const check = async () =>
      (await github.checkRuns(fullName, commit)).find(({ name }) => name === 'Landfall: echo-agent');
    const hasWaited = await until(async () => /^Waits for .*unit/.test((await check())?.title ?? ''));
    const title = (await check())?.title;
    screen.line(`   git push: commit ${shortCommit(commit)}; its check says "${title}"`);
    const isStill =
      (await environment.countRevisions(id)) === revisions && (await ask(environment, address)) === before;
    await github.setStatus(fullName, commit, 'unit', 'success');
    screen.line('   the check unit passes');
    const isLive = await until(async () => (await check())?.conclusion === 'success');
    const said = await ask(environment, address);
    const newRevisions = (await environment.countRevisions(id)) - revisions;
    await repository.goBackTo(base);
    return {
      isProven: hasWaited && isStill && isLive && newRevisions === 1 && said.endsWith(' in time'),
      summary: `"${title}"; then ${newRevisions} revision, it says "${said}"`,
    };
  },
};
