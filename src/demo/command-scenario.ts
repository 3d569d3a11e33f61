import { shortCommit } from '../contract/control/repo-ref.ts';
import { ask, commitChange } from './app-scenarios.ts';
import { actionsBot } from './github/emulator.ts';
import { numberAt, objectAt } from './github/exchange.ts';
import { deploy, deploymentOf, quoteLines, type Scenario } from './scenarios.ts';

/** A person gives a command by a comment, which a workflow carries out. Runs while there is no App. */
export const commandScenario: Scenario = {
  title: 'mode: command, by a workflow without the App',
  async play(environment, screen, completed) {
    const { github, repository, fullName } = environment;
    const { id, address } = deploymentOf(completed);
    const former = await ask(environment, address);
    // The commit of the second scenario, which is live after the rollback.
    await repository.goBackTo(completed[1]?.outputs?.['commit'] ?? '');
    const commit = await commitChange(environment, ' by mistake');
    await deploy(environment, screen, commit);
    const [mistaken, revisions] = [await ask(environment, address), await environment.countRevisions(id)];
    await repository.push('idea');
    const number = await github.openPullRequest(fullName, { title: 'An idea', head: 'idea', base: 'main', by: 'mona' });
    screen.line(`   it says "${mistaken}"; mona comments "/rollback" on pull request ${number}, and its workflow runs`);
    const event = await github.commentForWorkflow(fullName, number, '/rollback');
    const run = {
      GITHUB_REPOSITORY: fullName,
      GITHUB_REF: 'refs/heads/main',
      GITHUB_SHA: commit,
      GITHUB_EVENT_NAME: 'issue_comment',
      GITHUB_ACTOR: 'mona',
    };
    const inputs = { mode: 'command', 'github-token': await github.jobToken(fullName) };
    const print = quoteLines(environment, screen);
    const { outputs } = await environment.step(repository.folder, inputs, run, print, {}, event);
    const answers = await github.commentsOf(fullName, number, actionsBot);
    const shown = (answers[0] ?? '').split('\n').filter((line) => line !== '' && !/^(<!--|\|)/.test(line));
    for (const line of shown) screen.quote(`| ${line}`);
    await github.changePullRequest(fullName, number, 'closed');
    const reply = await ask(environment, address);
    const reactions = github.reactionsTo(numberAt(objectAt(event, 'comment'), 'id')).join(' ');
    const newRevisions = (await environment.countRevisions(id)) - revisions;
    const isAnswered = answers.length === 1 && reactions === 'eyes +1' && outputs['outcome'] === 'rolled-back';
    return {
      isProven: isAnswered && newRevisions === 1 && mistaken !== former && reply === former,
      summary: `commit ${shortCommit(commit)}: ${outputs['outcome'] ?? 'none'}, it says "${reply}" again`,
    };
  },
};
