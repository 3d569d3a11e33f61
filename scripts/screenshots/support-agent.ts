import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import type { VerdictReport } from '../../src/contract/control/verdict.ts';
import { Repository } from '../../src/demo/repository.ts';
import { requestsTo, until } from '../../src/demo/scenarios.ts';
import type { Services } from './services.ts';

const ada = 'Ada Moreno <ada@example.com>';
const jonas = 'Jonas Weber <jonas@example.com>';

const agentFile = 'src/agent.ts';
const refundAnswer = 'You can return anything within 30 days.';
const details = 'https://github.com/acme/support/actions/runs/4711';

const ended = ['DEPLOYED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'CREATE_FAILED', 'SKIPPED', 'INTERRUPTED'];

/** Waits until the latest revision of a deployment, another one than `former`, has ended; returns its id. */
export async function latestEnded({ control }: Services, id: string, former?: string): Promise<string> {
  let latest = '';
  const isEnded = await until(async () => {
    latest = (await control.getDeployment(id)).latest_revision_id ?? '';
    return latest !== former && ended.includes((await control.getRevision(id, latest)).status);
  });
  if (!isEnded) throw new Error(`no new revision of the deployment ${id} has ended`);
  return latest;
}

/**
 * Deploys the support agent and gives it a history: a secret, pushes of two people, a failed build, a wrong answer that
 * is rolled back; then runs it.
 */
export async function deploySupportAgent(services: Services): Promise<string> {
  const { control, root, git } = services;
  const repository = await Repository.fromExample(join(root, 'examples/support-agent'), join(git, 'acme/support'));
  await repository.edit(agentFile, 'Parcels leave the same day', 'Parcels leave on the same day');
  await repository.commit('Answer questions about refunds and delivery', ada);
  const { id } = await control.createDeployment({
    name: 'support',
    source: 'github',
    source_config: { repo_url: pathToFileURL(repository.folder).href, build_on_push: true },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
  });
  let revision = await latestEnded(services, id);
  const report = (verdict: VerdictReport): Promise<unknown> =>
    control.reportVerdict(id, revision, verdict, { idempotencyKey: randomUUID() });
  const push = async (message: string, author: string): Promise<void> => {
    await repository.commit(message, author);
    revision = await latestEnded(services, id, revision);
  };
  await report(verdictOn(refundAnswer));

  await control.patchDeployment(id, { secrets: [{ name: 'MODEL_KEY', value: randomUUID() }] });
  revision = await latestEnded(services, id, revision);
  await report(verdictOn(refundAnswer));

  await repository.edit(agentFile, 'I have sent you a label.', 'I have sent you a label by email.');
  await push('Say how the label is sent', jonas);
  await report(verdictOn(refundAnswer));
  const good = revision;

  const dependency = '"@langchain/langgraph":';
  await repository.edit('package.json', dependency, `"@acme/prices": "2.1.0",\n    ${dependency}`);
  await push('Look up prices', jonas);
  await repository.edit('package.json', /\n *"@acme\/prices": "2.1.0",/, '');
  await repository.edit(agentFile, refundAnswer, 'You can return most things.');
  await push('Shorten the answers', jonas);
  await report(verdictOn('You can return most things.'));

  await control.redeployRevision(id, good);
  revision = await latestEnded(services, id, revision);
  await report(verdictOn(refundAnswer));
  await runSupportAgent(services, id);
  return id;
}

/** What the smoke tests of the deploy file in the README find where the agent answers so. */
function verdictOn(answer: string): VerdictReport {
  const held = answer.includes('30 days');
  const expectations = [
    { expected: 'the run ends with success', seen: 'success', held: true },
    { expected: '$.messages[-1].content contains "30 days"', seen: `"${answer}"`, held },
  ];
  const kind = held ? 'passed' : 'failed';
  const test = { name: 'answers about refunds', kind, attempts: 1, expectations, why: null } as const;
  return {
    kind,
    reporter: 'action',
    details_url: details,
    tests: [{ ...test, first_event_ms: 41, total_ms: 118 }],
  };
}

const thread = z.looseObject({ thread_id: z.string() });

async function runSupportAgent({ service }: Services, id: string): Promise<void> {
  const agent = requestsTo(`${service.url}/agents/${id}`, service);
  const questions = ['Where is my parcel?', 'Do you ship to Norway?', 'Can I change my address?'];
  for (const content of questions) {
    const { thread_id } = await agent.ask('/threads', thread, {});
    const input = { messages: [{ role: 'user', content }] };
    await agent.ask(`/threads/${thread_id}/runs/wait`, z.unknown(), { assistant_id: 'support', input });
  }
}
