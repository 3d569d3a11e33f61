import * as z from 'zod';
import { systemClock } from '../kit/clock.ts';
import { fromJson } from '../kit/json-text.ts';
import { deployed, echoed, requestsTo, thread, until, type Scenario, type CompletedScenario } from './scenarios.ts';
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
const refusal = z.looseObject({ detail: z.array(z.looseObject({ msg: z.string() })) });

/** How long the first run of a cron of every minute may take to come, and a webhook after its run (ms). */
const timeouts = { cron: 75_000, webhook: 15_000 };
/** What a minute's run has for being there: it is late by a second, on a busy machine by some more (ms). */
const grace = 5_000;

/** A domain that the example's graph configuration file does not have among `allowed_domains`. */
const otherHost = 'https://hooks.other.example/run?token=abc';

/** What clients do with the deployed agent, at the deployment's address. Runs after the scenarios of the Action. */
export const agentScenarios: readonly Scenario[] = [
  {
    title: 'an assistant goes back to a former version',
    async play(environment, screen, before) {
      const { address } = deployed(before);
      const agent = requestsTo(address, environment.service);
      const morning = { graph_id: 'echo', name: 'greeter', context: { greeting: 'good morning' } };
      const { assistant_id: id, version } = await agent.ask('/assistants', assistant, morning);
      const said: string[] = [];
      const ask = async (now: number): Promise<void> => {
        said.push(await agent.echo('world', id));
        screen.line(`   version ${now} says "${said.at(-1)}"`);
      };
      await ask(version);
      const evening = { context: { greeting: 'good evening' } };
      const changed = await agent.ask(`/assistants/${id}`, assistant, evening, 'PATCH');
      await ask(changed.version);
      const back = await agent.ask(`/assistants/${id}/latest`, assistant, { version });
      await ask(back.version);
      const held =
        [version, changed.version, back.version].join() === '1,2,1' &&
        said.join() === 'good morning world!,good evening world!,good morning world!';
      const outputs = { assistant: id };
      return { held, outputs, seen: `versions 1, 2, 1 say ${said.map((each) => `"${each}"`).join(', ')}` };
    },
  },
  {
    title: 'a webhook goes to its domains only',
    async play(environment, screen, before) {
      const { address } = deployed(before);
      const agent = requestsTo(address, environment.service);
      const call = { assistant_id: 'echo', input: { input: 'world' } };
      const refused = await agent.send('/runs/wait', { ...call, webhook: otherHost });
      const why = refusal.safeParse(fromJson(refused.text)).data?.detail[0]?.msg ?? refused.text;
      screen.line(`   a run with a webhook to ${new URL(otherHost).host}: ${refused.status}, it ${why}`);
      await agent.ask('/runs/wait', echoed, { ...call, webhook: environment.receiver.addressFor('run') });
      await until(() => environment.receiver.reported('run').length > 0, timeouts.webhook);
      const [reported] = environment.receiver.reported('run');
      screen.line(`   one to this machine, which the file names: received ${reported?.status ?? 'nothing'}`);
      // The cron is looked at in the last act: there is time for many a minute until then.
      const outputs = await startCron(environment, screen, before);
      const isRefused = refused.status === 422 && why.includes('allowed_domains');
      return {
        held: isRefused && reported?.status === 'success',
        seen: `${refused.status} for another domain; its own received "${reported?.status ?? 'nothing'}"`,
        outputs,
      };
    },
  },
];

/** What the cron of the webhooks' act did meanwhile. Played last. */
export const cronScenario: Scenario = {
  title: 'a cron fires every minute, once',
  async play(environment, screen, before) {
    const { address } = deployed(before);
    const { cron: id = '', thread: threadId = '', since = '' } = outputsOf(before, 1);
    const agent = requestsTo(address, environment.service);
    const due = (): number[] => minutesBetween(Number(since), systemClock.now() - grace);
    await until(() => due().length > 0, timeouts.cron);
    const minutes = due();
    const last = minutes.at(-1) ?? 0;
    const minuteIn = ({ created_at }: { created_at: string }): number => minuteOf(Date.parse(created_at));
    // The run of the current minute may still be in progress.
    const received = (await agent.ask(`/threads/${threadId}/runs?limit=100`, runs))
      .filter((run) => run.metadata?.cron_id === id && minuteIn(run) <= last)
      .toSorted((one, other) => minuteIn(one) - minuteIn(other));
    const said = (): (string | undefined)[] => received.map(({ run_id }) => webhookOf(environment, run_id));
    await until(() => said().every((each) => each !== undefined), timeouts.webhook);
    const reported = said();
    for (const [index, { created_at, status }] of received.entries()) {
      screen.quote(`| ${created_at.slice(11, 19)}  ${status}: ${reported[index] ?? 'no webhook'}`);
    }
    const once = minutes.length > 0 && received.map(minuteIn).join() === minutes.join();
    const answered = reported.filter((each) => each?.startsWith('good morning you')).length;
    const held = once && answered === received.length && received.every(({ status }) => status === 'success');
    return { held, seen: `minutes: ${minutes.length}, runs: ${received.length}, webhooks: ${answered}` };
  },
};

/** Runs the assistant of the first scenario every minute, on its own thread. */
async function startCron(
  environment: DemoEnvironment,
  screen: Renderer,
  before: readonly CompletedScenario[],
): Promise<Record<string, string>> {
  const agent = requestsTo(deployed(before).address, environment.service);
  const { thread_id: id } = await agent.ask('/threads', thread, {});
  const made = await agent.ask(`/threads/${id}/runs/crons`, cron, {
    assistant_id: outputsOf(before, 0)['assistant'] ?? '',
    schedule: '* * * * *',
    input: { input: 'you' },
    webhook: environment.receiver.addressFor('cron'),
  });
  screen.line('   a cron with such a webhook is made: every minute, while all this goes on');
  return { cron: made.cron_id, thread: id, since: String(Date.parse(made.created_at)) };
}

/** The response of the agent in a run of the cron, from its webhook. */
function webhookOf({ receiver }: DemoEnvironment, runId: string): string | undefined {
  return echoed.safeParse(receiver.reported('cron').find(({ run_id }) => run_id === runId)?.values).data?.output;
}

/** What an earlier scenario left for the others. */
const outputsOf = (before: readonly CompletedScenario[], index: number): Record<string, string> =>
  before.find(({ title }) => title === agentScenarios[index]?.title)?.outputs ?? {};

const minute = 60_000;

/** The beginnings (ms since 1970) of the minutes that began after `from` and by `to`: when a cron of every minute comes. */
export function minutesBetween(from: number, to: number): number[] {
  const first = Math.floor(from / minute) + 1;
  const last = Math.floor(to / minute);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * minute);
}

/** The start of the minute of a time. */
export const minuteOf = (ms: number): number => Math.floor(ms / minute) * minute;
