import * as z from 'zod';
import { systemClock } from '../kit/clock.ts';
import { fromJson } from '../kit/json-text.ts';
import {
  deploymentOf,
  echoOutput,
  requestsTo,
  thread,
  until,
  type Scenario,
  type CompletedScenario,
} from './scenarios.ts';
import type { Renderer } from './renderer.ts';
import type { DemoEnvironment } from './environment.ts';

const assistant = z.looseObject({ assistant_id: z.string(), version: z.int() });
const cron = z.looseObject({ cron_id: z.string(), created_at: z.string() });
const runs = z.array(
  z.looseObject({
    run_id: z.string(),
    status: z.string(),
    created_at: z.string(),
    metadata: z.looseObject({ cron_id: z.string().nullish() }).nullish(),
  }),
);
const errorBody = z.looseObject({ detail: z.array(z.looseObject({ msg: z.string() })) });

/** Time limits for the first run of a cron that fires every minute, and for a webhook after its run (ms). */
const timeouts = { cron: 75_000, webhook: 15_000 };
/** How late a cron's run may start (ms): a second, or more on a busy machine. */
const maxLatenessMs = 5_000;

/** A webhook whose domain is not in `allowed_domains` of the example's graph configuration file. */
const foreignWebhook = 'https://hooks.other.example/run?token=abc';

/** Requests of clients to the deployed agent. Runs after the scenarios of the Action. */
export const agentScenarios: readonly Scenario[] = [
  {
    title: 'an assistant goes back to a former version',
    async play(environment, screen, completed) {
      const { address } = deploymentOf(completed);
      const agent = requestsTo(address, environment.service);
      const morningGreeter = { graph_id: 'echo', name: 'greeter', context: { greeting: 'good morning' } };
      const { assistant_id: id, version } = await agent.ask('/assistants', assistant, morningGreeter);
      const replies: string[] = [];
      const ask = async (now: number): Promise<void> => {
        replies.push(await agent.echo('world', id));
        screen.line(`   version ${now} says "${replies.at(-1)}"`);
      };
      await ask(version);
      const eveningContext = { context: { greeting: 'good evening' } };
      const updated = await agent.ask(`/assistants/${id}`, assistant, eveningContext, 'PATCH');
      await ask(updated.version);
      const restored = await agent.ask(`/assistants/${id}/latest`, assistant, { version });
      await ask(restored.version);
      const isProven =
        [version, updated.version, restored.version].join() === '1,2,1' &&
        replies.join() === 'good morning world!,good evening world!,good morning world!';
      const outputs = { assistant: id };
      return { isProven, outputs, summary: `versions 1, 2, 1 say ${replies.map((each) => `"${each}"`).join(', ')}` };
    },
  },
  {
    title: 'a webhook goes to its domains only',
    async play(environment, screen, completed) {
      const { address } = deploymentOf(completed);
      const agent = requestsTo(address, environment.service);
      const call = { assistant_id: 'echo', input: { input: 'world' } };
      const refused = await agent.send('/runs/wait', { ...call, webhook: foreignWebhook });
      const reason = errorBody.safeParse(fromJson(refused.text)).data?.detail[0]?.msg ?? refused.text;
      screen.line(`   a run with a webhook to ${new URL(foreignWebhook).host}: ${refused.status}, it ${reason}`);
      await agent.ask('/runs/wait', echoOutput, { ...call, webhook: environment.receiver.addressFor('run') });
      await until(() => environment.receiver.received('run').length > 0, timeouts.webhook);
      const [reported] = environment.receiver.received('run');
      screen.line(`   one to this machine, which the file names: received ${reported?.status ?? 'nothing'}`);
      // The last scenario checks the cron, which has fired several times by then.
      const outputs = await startCron(environment, screen, completed);
      const isRefused = refused.status === 422 && reason.includes('allowed_domains');
      return {
        isProven: isRefused && reported?.status === 'success',
        summary: `${refused.status} for another domain; its own received "${reported?.status ?? 'nothing'}"`,
        outputs,
      };
    },
  },
];

/** Checks the runs of the cron that the webhook scenario started. Runs last. */
export const cronScenario: Scenario = {
  title: 'a cron fires every minute, once',
  async play(environment, screen, completed) {
    const { address } = deploymentOf(completed);
    const { cron: id = '', thread: threadId = '', since = '' } = outputsOf(completed, 1);
    const agent = requestsTo(address, environment.service);
    const dueMinutes = (): number[] => minutesBetween(Number(since), systemClock.now() - maxLatenessMs);
    await until(() => dueMinutes().length > 0, timeouts.cron);
    const minutes = dueMinutes();
    const last = minutes.at(-1) ?? 0;
    const startMinute = ({ created_at }: { created_at: string }): number => minuteOf(Date.parse(created_at));
    // The run of the current minute may still be in progress.
    const received = (await agent.ask(`/threads/${threadId}/runs?limit=100`, runs))
      .filter((run) => run.metadata?.cron_id === id && startMinute(run) <= last)
      .toSorted((one, other) => startMinute(one) - startMinute(other));
    const webhookOutputs = (): (string | undefined)[] =>
      received.map(({ run_id }) => webhookOutput(environment, run_id));
    await until(() => webhookOutputs().every((each) => each !== undefined), timeouts.webhook);
    const reported = webhookOutputs();
    for (const [index, { created_at, status }] of received.entries()) {
      screen.quote(`| ${created_at.slice(11, 19)}  ${status}: ${reported[index] ?? 'no webhook'}`);
    }
    const oncePerMinute = minutes.length > 0 && received.map(startMinute).join() === minutes.join();
    const answered = reported.filter((each) => each?.startsWith('good morning you')).length;
    const isProven =
      oncePerMinute && answered === received.length && received.every(({ status }) => status === 'success');
    return { isProven, summary: `minutes: ${minutes.length}, runs: ${received.length}, webhooks: ${answered}` };
  },
};

/** Runs the assistant of the first scenario every minute, on its own thread. */
async function startCron(
  environment: DemoEnvironment,
  screen: Renderer,
  completed: readonly CompletedScenario[],
): Promise<Record<string, string>> {
  const agent = requestsTo(deploymentOf(completed).address, environment.service);
  const { thread_id: id } = await agent.ask('/threads', thread, {});
  const created = await agent.ask(`/threads/${id}/runs/crons`, cron, {
    assistant_id: outputsOf(completed, 0)['assistant'] ?? '',
    schedule: '* * * * *',
    input: { input: 'you' },
    webhook: environment.receiver.addressFor('cron'),
  });
  screen.line('   a cron with such a webhook is made: every minute, while all this goes on');
  return { cron: created.cron_id, thread: id, since: String(Date.parse(created.created_at)) };
}

/** The response of the agent in a run of the cron, from its webhook. */
function webhookOutput({ receiver }: DemoEnvironment, runId: string): string | undefined {
  return echoOutput.safeParse(receiver.received('cron').find(({ run_id }) => run_id === runId)?.values).data?.output;
}

/** The outputs of an earlier scenario. */
const outputsOf = (completed: readonly CompletedScenario[], index: number): Record<string, string> =>
  completed.find(({ title }) => title === agentScenarios[index]?.title)?.outputs ?? {};

const minute = 60_000;

/**
 * The minutes (ms since 1970) that began after `from` and not after `to`: the times when a cron of every minute fires.
 */
export function minutesBetween(from: number, to: number): number[] {
  const first = Math.floor(from / minute) + 1;
  const last = Math.floor(to / minute);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * minute);
}

/** The start of the minute of a time. */
export const minuteOf = (ms: number): number => Math.floor(ms / minute) * minute;
