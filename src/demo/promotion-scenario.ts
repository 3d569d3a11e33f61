import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Repository } from './repository.ts';
import { deploy, graph, greet, type Scenario } from './scenarios.ts';
import type { StepResult } from './runner.ts';

const fullName = 'acme/promoted-agent';

/** Two deployments of one repository, in the order in which a commit reaches them. */
const deployFile = (repoUrl: string): string => `
environments: [staging, production]
defaults:
  repo-url: ${repoUrl}
  repo-ref: main
  graph-config-path: langgraph.json
  smoke-tests:
    - name: greets
      assistant: echo
      input: { input: Ada }
      expect: { values: [{ path: $.output, contains: hello Ada }] }
deployments:
  promoted-staging: { environment: staging }
  promoted: { environment: production }
`;

/** A commit goes from staging to production, without a second build. */
export const promotionScenario: Scenario = {
  title: 'staging to production without a second build',
  async play(environment, screen) {
    const { github, control } = environment;
    const repoUrl = github.gitUrl(fullName);
    await github.createRepository(fullName);
    const repository = await Repository.fromExample(
      join(environment.root, 'examples/echo-agent'),
      join(environment.folder, 'work', fullName),
    );
    await writeFile(join(repository.folder, '.github/landfall.yml'), deployFile(repoUrl));
    await repository.pushTo(github.pushUrl(fullName));
    const target = { repository, fullName };
    const stepTo = (deployment: string, commit: string): Promise<StepResult> =>
      deploy(environment, screen, commit, { deployment, 'repo-url': '' }, target);
    const commit = await repository.commit('Name two environments');
    const staging = await stepTo('promoted-staging', commit);
    const production = await stepTo('promoted', commit);
    const {
      'deployment-id': id = '',
      'revision-id': revisionId = '',
      'deployment-url': address = '',
    } = production.outputs;
    const { build_of: buildOf, build_digest: digest } = await control.getRevision(id, revisionId);
    screen.line(`   production has the build of staging: ${digest ?? 'none'}`);
    await repository.edit(graph, '${input}`', '${input}!`');
    const refused = await stepTo('promoted', await repository.commit('Be more cheerful'));
    const reply = await greet(environment, screen, address);
    const outcomes = [staging, production, refused].map(({ outputs }) => outputs['outcome'] ?? 'none');
    const isProven =
      outcomes.join() === 'deployed,deployed,refused' &&
      buildOf === staging.outputs['revision-id'] &&
      digest !== undefined &&
      reply === 'hello world';
    return { isProven, summary: `one build, two deployments; a commit that staging has not: ${outcomes[2]}` };
  },
};
