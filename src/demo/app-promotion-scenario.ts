import { shortCommit } from '../contract/control/repo-ref.ts';
import { ask } from './app-scenarios.ts';
import { orderedRepository } from './promotion-scenario.ts';
import { deploy, graph, until, type Scenario } from './scenarios.ts';

const fullName = 'acme/ordered-agent';

/** The App takes a push from staging to production, and waits for a person where production holds. */
export const appPromotionScenario: Scenario = {
  title: 'a push is promoted by itself; on hold by /promote',
  async play(environment, screen) {
    const { github, control } = environment;
    const repository = await orderedRepository(environment, fullName, {
      name: 'ordered',
      staging: ', build-on-push: true',
    });
    const first = await repository.commit('Name two environments');
    const stepTo = (deployment: string) =>
      deploy(environment, screen, first, { deployment, 'repo-url': '' }, { repository, fullName });
    const staging = await stepTo('ordered-staging');
    const production = await stepTo('ordered');
    const { 'deployment-id': stagingId = '' } = staging.outputs;
    const { 'deployment-id': productionId = '', 'deployment-url': address = '' } = production.outputs;

    const isGreen = (commit: string, name: string) => async () => {
      const runs = await github.checkRuns(fullName, commit);
      return runs.find((run) => run.name === `Landfall: ${name}`)?.conclusion === 'success';
    };
    const change = async (message: string, from: RegExp, to: string): Promise<string> => {
      await repository.edit(graph, from, to);
      const commit = await repository.commit(message);
      await repository.push();
      screen.line(`   git push: commit ${shortCommit(commit)}`);
      return commit;
    };
    const pushed = await change('Be more cheerful', /\$\{input\}`/, '${input}!`');
    const isPromoted = await until(isGreen(pushed, 'ordered'));
    const live = async (id: string) => {
      const { active_revision_id: active } = await control.getDeployment(id);
      return control.getRevision(id, active ?? '');
    };
    const [before, after] = [await live(stagingId), await live(productionId)];
    const said = await ask(environment, address);
    screen.line(`   production has the build of staging, ${after.build_digest ?? 'none'}, and says "${said}"`);

    await repository.edit('.github/landfall.yml', 'production]', '{ name: production, hold: true }]');
    const held = await change('Hold production', /\$\{input\}!`/, '${input}?`');
    const isHeld = (await until(isGreen(held, 'ordered-staging'))) && (await ask(environment, address)) === said;
    await repository.push('idea');
    const pull = { title: 'An idea', head: 'idea', base: 'main', by: 'mona' };
    const number = await github.openPullRequest(fullName, pull);
    await github.comment(fullName, number, '/promote');
    screen.line('   production holds; mona comments "/promote"');
    const isDone = await until(isGreen(held, 'ordered'));
    const reply = await ask(environment, address);
    await github.changePullRequest(fullName, number, 'closed');
    const isOneBuild = after.build_of === before.id && after.build_digest === before.build_digest;
    return {
      isProven: isPromoted && isOneBuild && said === 'hello world!' && isHeld && isDone && reply === 'hello world?',
      summary: `one build; on hold "${said}", after /promote "${reply}"`,
    };
  },
};
