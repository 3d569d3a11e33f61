import { longestSilence } from '../action/run-deployment.ts';
import { gradersFor } from '../action/graders-for.ts';
import { version } from '../action/version.ts';
import { connectAgentServer } from '../client/agent.ts';
import { steadyClock } from '../clock.ts';
import { defaultConfigPath } from '../config/deploy-file.ts';
import type { Inputs } from '../config/input-table.ts';
import { inputProblem } from '../config/inputs.ts';
import { OptionReader } from '../config/option-reader.ts';
import { readRequested } from '../config/read-desired.ts';
import type { ConversationTerms } from '../config/conversations.ts';
import { measures, type SmokeTest } from '../config/smoke-test.ts';
import { readAddress } from '../contract/base-address.ts';
import { checkConversations, recordConversations } from '../deploy/conversations.ts';
import { smoke } from '../deploy/smoke.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { asItIs } from '../planning/judge.ts';
import { concludeAll } from '../planning/verdict.ts';
import { comparisonJson, comparisonLines } from '../report/comparison.ts';
import { complain, exitCodes, onCommandLine, readTextFile, type ExitCode } from './problems.ts';
import type { Terminal } from './terminal.ts';

/** The most pairs of one test, and how many there are where none is given. */
const mostTries = 200;
const defaultTries = 160;

/** How the tests are compared, whatever the file says of each: all measures decide. */
const compared = { kind: 'live', atOnce: 4, drop: 0.3, decideBy: measures } as const;

interface Request {
  live: string;
  changed: string;
  tries: number;
  allowHttp: boolean;
  tests: readonly SmokeTest[];
  conversations: ConversationTerms | undefined;
}

/** The whole command: reads the input, sends the tests to both agents, prints the table. */
export async function compareCommand(inputs: Inputs, terminal: Terminal): Promise<ExitCode> {
  terminal.hide(inputs['api-key'] ?? '');
  const { request, problems } = read(inputs);
  if (problems.length > 0) {
    complain(terminal, problems.map(onCommandLine));
    terminal.conclude({ outcome: 'refused', passes: false, problems });
    return exitCodes.wrongUsage;
  }
  const { live, changed, tries, allowHttp, tests, conversations } = request;
  const apiKey = inputs['api-key']?.trim() || undefined;
  const tenantId = inputs['tenant-id']?.trim() || undefined;
  const settings = { apiKey, tenantId, allowHttp, userAgent: `landfall-cli/${version}`, idleMs: longestSilence(tests) };
  const agents = [live, changed].map((url) => connectAgentServer({ ...settings, url }));
  const { graders, keys, close } = await gradersFor(tests, settings.userAgent);
  for (const key of keys) terminal.hide(key);
  const [former, latter] = agents;
  if (!former || !latter) throw new Error('two agents are compared');
  const cancelled = new AbortController();
  const leave = (): void => cancelled.abort();
  process.once('SIGINT', leave).once('SIGTERM', leave);
  try {
    const note = (text: string): void => terminal.print(`Note: ${text}`);
    const sent = await smoke({
      tests: tests.map((test) => ({ ...test, series: { ...compared, tries, tests: tests.length } })),
      live: former,
      agent: latter,
      graders,
      redact: (text) => terminal.masked(text),
      clock: steadyClock,
      random: Math.random,
      signal: cancelled.signal,
      note,
      emit: (event) => {
        if (event.kind === 'smoke-attempt') terminal.print(`  ${event.name}: ${event.attempt / 2} pairs`);
      },
    });
    const { signal } = cancelled;
    const check = conversations && { terms: conversations, clock: steadyClock, signal, note, redact: asItIs };
    const goOn =
      check &&
      (await checkConversations(await recordConversations(former, check), { changed: latter, live: former }, check));
    const comparison = goOn ? concludeAll([...sent.tests, goOn]) : sent;
    for (const line of comparisonLines(comparison)) terminal.print(line);
    terminal.conclude(comparisonJson(comparison));
    return comparison.kind === 'passed' ? exitCodes.passes : exitCodes.fails;
  } catch (error) {
    if (!cancelled.signal.aborted) throw error;
    terminal.print('cancelled: nothing is decided');
    return exitCodes.fails;
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave);
    await Promise.all([close(), ...agents.map((agent) => agent.close())]);
  }
}

function read(inputs: Inputs): { request: Request; problems: Problem[] } {
  const options = new OptionReader(inputs);
  const allowHttp = options.flag('allow-http');
  const found: Problem[] = [];
  const add = (name: string, message: string) => void found.push(inputProblem(name, message));
  const address = (name: 'live' | 'new'): string => {
    const written = inputs[name]?.trim() ?? '';
    const parsed = readAddress(written, { allowHttp });
    if (written === '') add(name, `${name} is missing: give the address of an agent`);
    else if (!parsed.ok) add(name, `${name}: ${parsed.problem}`);
    return written;
  };
  const [live, changed] = [address('live'), address('new')];
  const tries = inputs['tries'] === undefined ? defaultTries : Number(inputs['tries']);
  if (!Number.isInteger(tries) || tries < 1 || tries > mostTries) {
    add('tries', `tries is a whole number from 1 to ${mostTries}`);
  }
  const { tests, conversations, problems } = readTests(inputs);
  return {
    request: { live, changed, tries, allowHttp, tests, conversations },
    problems: [...options.problems, ...found, ...problems],
  };
}

function readTests(
  inputs: Inputs,
): Pick<Request, 'tests'> & Partial<Pick<Request, 'conversations'>> & { problems: Problem[] } {
  const path = inputs['config']?.trim() || defaultConfigPath;
  const file = readTextFile(path);
  if (file.kind === 'unreadable') return { tests: [], problems: [file.problem] };
  const written = Object.fromEntries(
    Object.entries(inputs).filter(([name]) => ['config', 'deployment', 'smoke-tests', 'conversations'].includes(name)),
  );
  const asked = readRequested({
    // Without a file the tests are of no deployment, and need no name of one.
    inputs: file.kind === 'read' ? written : { ...written, name: 'compared' },
    ...(file.kind === 'read' ? { file: { text: file.text, path } } : {}),
  });
  if (!asked.ok) return { tests: [], problems: asked.problems };
  const [deployment, ...more] = asked.deployments;
  if (more.length > 0) {
    const message = 'the deploy file has more than one deployment: choose one with `deployment`';
    return { tests: [], problems: [inputProblem('deployment', message)] };
  }
  const { smokeTests: tests = [], conversations } = deployment ?? {};
  if (tests.length > 0 || conversations) return { tests, conversations, problems: [] };
  return { tests, problems: [inputProblem('smoke-tests', 'there is no smoke test to compare the agents by')] };
}
