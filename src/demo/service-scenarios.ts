import { cp } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { ControlServiceClient } from '../client/control.ts';
import type { Revision } from '../contract/control/revision.ts';
import { lastLogMessages } from '../services/control/compute/log-line.ts';
import { deployed, graph, greet, quoting, requestsTo, until, type Scenario } from './scenarios.ts';
import { edit } from './repository.ts';
import type { StepResult } from './runner.ts';
import type { Renderer } from './renderer.ts';
import type { DemoEnvironment } from './environment.ts';

const graphConfig = 'langgraph.json';
const ended: readonly string[] = [
  'DEPLOYED',
  'CREATE_FAILED',
  'BUILD_FAILED',
  'DEPLOY_FAILED',
  'SKIPPED',
  'INTERRUPTED',
];

const uploadTitle = 'a folder is uploaded, without git';

/** What the control service does without a repository: it takes an upload, breaks off a build, goes back at once. */
export const serviceScenarios: readonly Scenario[] = [
  {
    title: uploadTitle,
    async play(environment, screen) {
      const folder = await folderOf(environment);
      const step = await upload(environment, screen, folder);
      const address = step.outputs['deployment-url'] ?? '';
      const said = address ? await requestsTo(address, environment.service).echo('world') : '';
      screen.line(`   input "world": "${said}"; then the same folder once more:`);
      const again = await upload(environment, screen, folder);
      const outcomes = [step, again].map(({ outputs }) => outputs['outcome']);
      const held = outcomes.join() === 'deployed,unchanged' && said === 'hello world';
      return { held, seen: `${outcomes.join(', then ')}; it says "${said}"`, outputs: step.outputs, address };
    },
  },
  {
    title: 'a build is interrupted, the live one serves',
    async play(environment, screen, before) {
      const { id, address } = deployed(before, uploadTitle);
      const { control } = environment;
      // One more revision of what was uploaded, with a build that would take an hour.
      await control.patchDeployment(id, { source_config: { build_command: 'sleep 3600' } });
      const call = await control.patchDeployment(id, { source_revision_config: { graph_config_path: graphConfig } });
      const revision = call.latest_revision_id ?? '';
      await follow(control, id, revision, screen, 'BUILDING');
      await control.interruptRevision(id, revision);
      const seen = await follow(control, id, revision, screen);
      await control.patchDeployment(id, { source_config: { build_command: 'true' } });
      const said = await greet(environment, screen, address);
      const status = seen.at(-1) ?? 'no end';
      return { held: status === 'INTERRUPTED' && said === 'hello world', seen: `${status}, still says "${said}"` };
    },
  },
  {
    title: 'an older revision is back at once, unbuilt',
    async play(environment, screen, before) {
      const { id, address } = deployed(before, uploadTitle);
      const { control } = environment;
      const agent = requestsTo(address, environment.service);
      const folder = await folderOf(environment);
      await edit(join(folder, graph), '${input}`', '${input}, from a folder`');
      const former = (await control.getDeployment(id)).active_revision_id ?? '';
      const step = await upload(environment, screen, folder);
      const changed = await agent.echo('world');
      await hasLeft(control, id, former);
      const back = await control.redeployRevision(id, former);
      const seen = await follow(control, id, back.latest_revision_id ?? '', screen);
      const said = await agent.echo('world');
      screen.line(`   it said "${changed}" and says "${said}" again`);
      const isUnbuilt = seen.at(-1) === 'DEPLOYED' && !seen.includes('BUILDING');
      const wentBack = isUnbuilt && said === 'hello world';
      const held = step.outputs['outcome'] === 'deployed' && changed === 'hello world, from a folder' && wentBack;
      return { held, seen: `${seen.at(-1) ?? 'no end'}, says "${said}"` };
    },
  },
];

/** The example's files in a folder of their own, which is no repository. */
async function folderOf({ folder, repository }: DemoEnvironment): Promise<string> {
  const uploads = join(folder, 'work', 'uploaded');
  const stays = (path: string): boolean =>
    !/^(\.git|\.github|node_modules)(\/|$)/.test(relative(repository.example, path));
  await cp(repository.example, uploads, { recursive: true, force: false, filter: stays });
  return uploads;
}

function upload(environment: DemoEnvironment, screen: Renderer, workspace: string): Promise<StepResult> {
  const inputs = {
    name: 'uploaded-agent',
    source: 'internal_source',
    'source-dir': '.',
    'graph-config-path': graphConfig,
  };
  return environment.step(workspace, inputs, {}, quoting(environment, screen));
}

/** Polls a revision until it has the status or has ended; returns all statuses that it had. */
async function follow(
  control: ControlServiceClient,
  id: string,
  revisionId: string,
  screen: Renderer,
  wanted?: Revision['status'],
): Promise<string[]> {
  const seen: string[] = [];
  await until(async () => {
    const { status } = await control.getRevision(id, revisionId);
    if (seen.at(-1) !== status) {
      seen.push(status);
      screen.quote(`| ${status}`);
    }
    return status === wanted || ended.includes(status);
  });
  return seen;
}

/** Waits until the agent of the earlier revision is idle: then it can serve again without a start. */
async function hasLeft(control: ControlServiceClient, id: string, revisionId: string): Promise<void> {
  await until(async () => {
    const { logs } = await control.deployLogs(id, revisionId, { order: 'desc', limit: 3 });
    return logs.some(({ message }) => message === lastLogMessages.idle || message === lastLogMessages.stopped);
  });
}
