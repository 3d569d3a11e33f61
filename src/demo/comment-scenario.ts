import { shortCommit } from '../contract/control/repo-ref.ts';
import { ask, commitChange } from './app-scenarios.ts';
import { deploymentOf, until, type Scenario } from './scenarios.ts';

/** A person rolls back by a comment on a pull request. Runs while the App is there. */
export const commentScenario: Scenario = {
  title: '/rollback by comment: the former one serves',
  async play(environment, screen, completed) {
    const { github, repository, fullName } = environment;
    const { id, address } = deploymentOf(completed);
    const former = await ask(environment, address);
    const commit = await commitChange(environment, ' by mistake');
    await repository.push();
    await until(async () =>
      (await github.checkRuns(fullName, commit)).some(({ conclusion }) => conclusion === 'success'),
    );
    const [mistaken, revisions] = [await ask(environment, address), await environment.countRevisions(id)];
    await repository.push('idea');
    const number = await github.openPullRequest(fullName, { title: 'An idea', head: 'idea', base: 'main', by: 'mona' });
    const comment = await github.comment(fullName, number, '/rollback');
    screen.line(`   commit ${shortCommit(commit)} says "${mistaken}"; mona comments "/rollback"`);
    let answers: string[] = [];
    await until(async () => {
      answers = await github.commentsOf(fullName, number);
      return answers.some((each) => each.includes('/rollback')) && github.reactionsTo(comment).length === 2;
    });
    const [answer = ''] = answers;
    const lines = answer.slice(Math.max(0, answer.indexOf('### ✅'))).split('\n');
    for (const line of lines) if (line !== '') screen.quote(`| ${line}`);
    let reply = mistaken;
    await until(async () => {
      reply = await ask(environment, address);
      return reply !== mistaken;
    });
    await github.changePullRequest(fullName, number, 'closed');
    const reactions = github.reactionsTo(comment).join(' ');
    const newRevisions = (await environment.countRevisions(id)) - revisions;
    const isAnswered = answers.length === 1 && reactions === 'eyes +1';
    return {
      isProven: isAnswered && newRevisions === 1 && mistaken !== former && reply === former,
      summary: `${reactions}; ${newRevisions} revision, it says "${reply}" again`,
    };
  },
};
