import { shortCommit } from '../contract/control/repo-ref.ts';
import { ask } from './app-scenarios.ts';
import { actionsBot } from './github/emulator.ts';
import { numberAt, objectAt } from './github/exchange.ts';
import { deploymentOf, quoteLines, type Scenario } from './scenarios.ts';

/** People give commands by comments, which a workflow carries out. Runs while there is no App. */
export const commandScenario: Scenario = {
  title: 'mode: command, by a workflow without the App',
  async play(environment, screen, completed) {
    const { github, repository, fullName } = environment;
    const { id, address } = deploymentOf(completed);
    // The commit of the second scenario, which is live after the rollback.
    await repository.goBackTo(completed[1]?.outputs?.['commit'] ?? '');
    await repository.push();
    await repository.push('idea');
    const commit = await repository.head();
    const before = await ask(environment, address);
    const revisions = await environment.countRevisions(id);
    const number = await github.openPullRequest(fullName, { title: 'An idea', head: 'idea', base: 'main', by: 'mona' });
    const token = await github.jobToken(fullName);
    const comment = async (body: string) => {
      screen.line(`   mona comments "${body}" on pull request ${number}, and its workflow runs`);
      const event = await github.commentForWorkflow(fullName, number, body);
      const run = {
        GITHUB_REPOSITORY: fullName,
        GITHUB_REF: 'refs/heads/main',
        GITHUB_SHA: commit,
        GITHUB_EVENT_NAME: 'issue_comment',
        GITHUB_ACTOR: 'mona',
      };
      const inputs = { mode: 'command', 'github-token': token };
      const print = quoteLines(environment, screen);
      const { outputs } = await environment.step(repository.folder, inputs, run, print, {}, event);
      const said = await ask(environment, address);
      screen.line(`   input "world": "${said}"`);
      const reactions = github.reactionsTo(numberAt(objectAt(event, 'comment'), 'id')).join(' ');
      return { outcome: outputs['outcome'] ?? 'none', said, reactions };
    };
    const back = await comment('/rollback');
    const again = await comment('/rollback');
    const answers = await github.commentsOf(fullName, number, actionsBot);
    const shown = (answers[0] ?? '').split('\n').filter((line) => line !== '' && !/^(<!--|\|)/.test(line));
    for (const line of shown) screen.quote(`| ${line}`);
    await github.changePullRequest(fullName, number, 'closed');
    const newRevisions = (await environment.countRevisions(id)) - revisions;
    const isAnswered = answers.length === 1 && [back, again].every(({ reactions }) => reactions === 'eyes +1');
    const isBack = back.said !== before && again.said === before && newRevisions === 2;
    const outcomes = [back, again].map(({ outcome }) => outcome).join(', ');
    return {
      isProven: isAnswered && isBack && outcomes === 'rolled-back, rolled-back',
      summary: `commit ${shortCommit(commit)} and back, it says "${back.said}", then "${again.said}"`,
    };
  },
};
