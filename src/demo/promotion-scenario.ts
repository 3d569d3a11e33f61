import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Repository } from './repository.ts';
import { deploy, graph, greet, type Scenario } from './scenarios.ts';
import type { DemoEnvironment } from './environment.ts';
import type { StepResult } from './runner.ts';

const fullName = 'acme/promoted-agent';

interface Ordered {
  /** The deployment of production. */
  name: string;
  /** More fields of staging. */
  staging: string;
}

/** Two deployments of one repository, in the order in which a commit reaches them. */
const deployFile = (repoUrl: string, { name, staging }: Ordered): string => `
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
  ${name}-staging: { environment: staging${staging} }
  ${name}: { environment: production }
`;

/** Makes a repository of the example whose deploy file has both. */
export async function orderedRepository(
  { github, root, folder }: DemoEnvironment,
  full: string,
  ordered: Ordered,
): Promise<Repository> {
  await github.createRepository(full);
  const repository = await Repository.fromExample(join(root, 'examples/echo-agent'), join(folder, 'work', full));
  await writeFile(join(repository.folder, '.github/landfall.yml'), deployFile(github.gitUrl(full), ordered));
  await repository.pushTo(github.pushUrl(full));
  return repository;
}

/** A commit goes from staging to production, without a second build. */
export const promotionScenario: Scenario = {
  title: 'staging to production without a second build',
  async play(environment, screen) {
    const { control } = environment;
    const repository = await orderedRepository(environment, fullName, { name: 'promoted', staging: '' });
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
