import { cp } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { ControlServiceClient } from '../client/control.ts';
import type { Revision } from '../contract/control/revision.ts';
import { lastLogMessages } from '../services/control/compute/log-line.ts';
import { deploymentOf, graph, greet, quoteLines, requestsTo, until, type Scenario } from './scenarios.ts';
import { edit } from './repository.ts';
import type { StepResult } from './runner.ts';
import type { Renderer } from './renderer.ts';
import type { DemoEnvironment } from './environment.ts';

const graphConfig = 'langgraph.json';
const finalStatuses: readonly string[] = [
  'DEPLOYED',
  'CREATE_FAILED',
  'BUILD_FAILED',
  'DEPLOY_FAILED',
  'SKIPPED',
  'INTERRUPTED',
];

const uploadTitle = 'a folder is uploaded, without git';

/** A folder is deployed, and then the same folder again. */
export const uploadScenario: Scenario = {
  title: uploadTitle,
  async play(environment, screen) {
    const folder = await copyExample(environment);
    const step = await upload(environment, screen, folder);
    const address = step.outputs['deployment-url'] ?? '';
    const reply = address ? await requestsTo(address, environment.service).echo('world') : '';
    screen.line(`   input "world": "${reply}"; then the same folder once more:`);
    const again = await upload(environment, screen, folder);
    const outcomes = [step, again].map(({ outputs }) => outputs['outcome']);
    const isProven = outcomes.join() === 'deployed,unchanged' && reply === 'hello world';
    return { isProven, summary: `${outcomes.join(', then ')}; it says "${reply}"`, outputs: step.outputs, address };
  },
};

/** What the control service does without a repository beside that: it interrupts a build, and redeploys a revision. */
export const serviceScenarios: readonly Scenario[] = [
  {
    title: 'a build is interrupted, the live one serves',
    async play(environment, screen, completed) {
      const { id, address } = deploymentOf(completed, uploadTitle);
      const { control } = environment;
      // Another revision of the upload, with a build that would take an hour.
      await control.patchDeployment(id, { source_config: { build_command: 'sleep 3600' } });
      const patched = await control.patchDeployment(id, { source_revision_config: { graph_config_path: graphConfig } });
      const revision = patched.latest_revision_id ?? '';
      await follow(control, id, revision, screen, 'BUILDING');
      await control.interruptRevision(id, revision);
      const statuses = await follow(control, id, revision, screen);
      await control.patchDeployment(id, { source_config: { build_command: 'true' } });
      const reply = await greet(environment, screen, address);
      const status = statuses.at(-1) ?? 'no end';
      return {
        isProven: status === 'INTERRUPTED' && reply === 'hello world',
        summary: `${status}, still says "${reply}"`,
      };
    },
  },
  {
    title: 'an older revision is back at once, unbuilt',
    async play(environment, screen, completed) {
      const { id, address } = deploymentOf(completed, uploadTitle);
      const { control } = environment;
      const agent = requestsTo(address, environment.service);
      const folder = await copyExample(environment);
      await edit(join(folder, graph), '${input}`', '${input}, from a folder`');
      const previousRevision = (await control.getDeployment(id)).active_revision_id ?? '';
      const step = await upload(environment, screen, folder);
      const changed = await agent.echo('world');
      await waitUntilIdle(control, id, previousRevision);
      const back = await control.redeployRevision(id, previousRevision);
      const statuses = await follow(control, id, back.latest_revision_id ?? '', screen);
      const reply = await agent.echo('world');
      screen.line(`   it said "${changed}" and says "${reply}" again`);
      const isUnbuilt = statuses.at(-1) === 'DEPLOYED' && !statuses.includes('BUILDING');
      const wentBack = isUnbuilt && reply === 'hello world';
      const isProven = step.outputs['outcome'] === 'deployed' && changed === 'hello world, from a folder' && wentBack;
      return { isProven, summary: `${statuses.at(-1) ?? 'no end'}, says "${reply}"` };
    },
  },
];

/** Copies the example's files to a folder that is not a repository. */
export async function copyExample({ folder, repository }: DemoEnvironment): Promise<string> {
  const uploads = join(folder, 'work', 'uploaded');
  const isCopied = (path: string): boolean =>
    !/^(\.git|\.github|node_modules)(\/|$)/.test(relative(repository.example, path));
  await cp(repository.example, uploads, { recursive: true, force: false, filter: isCopied });
  return uploads;
}

/** Deploys a folder by the Action. @param more inputs and @param env of the step. */
export function upload(
  environment: DemoEnvironment,
  screen: Renderer,
  workspace: string,
  more: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<StepResult> {
  const inputs = {
    ...more,
    name: 'uploaded-agent',
    source: 'internal_source',
    'source-dir': '.',
    'graph-config-path': graphConfig,
  };
  return environment.step(workspace, inputs, {}, quoteLines(environment, screen), env);
}

/** Polls a revision until it has the awaited or a final status; returns all statuses that it had. */
async function follow(
  control: ControlServiceClient,
  id: string,
  revisionId: string,
  screen: Renderer,
  awaitedStatus?: Revision['status'],
): Promise<string[]> {
  const statuses: string[] = [];
  await until(async () => {
    const { status } = await control.getRevision(id, revisionId);
    if (statuses.at(-1) !== status) {
      statuses.push(status);
      screen.quote(`| ${status}`);
    }
    return status === awaitedStatus || finalStatuses.includes(status);
  });
  return statuses;
}

/** Waits until the agent of the earlier revision is idle, so that it can serve again without a start. */
async function waitUntilIdle(control: ControlServiceClient, id: string, revisionId: string): Promise<void> {
  await until(async () => {
    const { logs } = await control.deployLogs(id, revisionId, { order: 'desc', limit: 3 });
    return logs.some(({ message }) => message === lastLogMessages.idle || message === lastLogMessages.stopped);
  });
}
