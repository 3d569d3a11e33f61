import { maxSilenceMs, gradersFor } from '../host/run-deployment.ts';
import { version } from '../kit/version.ts';
import { connectAgentServer } from '../client/agent.ts';
import { connectControlService } from '../client/control.ts';
import { steadyClock } from '../kit/clock.ts';
import type { Inputs } from '../deploy/file/input-table.ts';
import { inputProblem } from '../deploy/file/inputs.ts';
import { attributedTo, compareAgents } from '../deploy/smoke/compare-agents.ts';
import { type ComparedAgent, findAgents, type KeptAnswers, takenAtOf } from '../deploy/smoke/compared-agents.ts';
import { comparisonJson, comparisonLines } from '../deploy/words/comparison.ts';
import { eventLines } from '../deploy/words/event-lines.ts';
import { type CompareRequest, readCompareRequest } from './compare-input.ts';
import { exitCodes, refuseFailure, refuseInput, type ExitCode } from './problems.ts';
import { keyOf } from './issue-key.ts';
import type { Terminal } from './terminal.ts';

/** The whole command: reads the input, sends the tests to both agents, prints the table. */
export async function compareCommand(inputs: Inputs, terminal: Terminal): Promise<ExitCode> {
  terminal.hide(inputs['api-key'] ?? '');
  const { request, problems } = readCompareRequest(inputs);
  if (problems.length > 0) return refuseInput(problems, exitCodes.wrongUsage, terminal);
  const key = request.service ? await keyOf({ ...request, baseUrl: request.service.baseUrl }, terminal) : request;
  if (typeof key === 'number') return key;
  const cancelled = new AbortController();
  const cancel = (): void => cancelled.abort();
  process.once('SIGINT', cancel).once('SIGTERM', cancel);
  try {
    return await compare({ ...request, apiKey: key.apiKey }, cancelled.signal, terminal);
  } catch (error) {
    if (cancelled.signal.aborted) {
      terminal.print('cancelled: nothing is decided');
      return exitCodes.fails;
    }
    return refuseFailure(error, terminal);
  } finally {
    process.off('SIGINT', cancel).off('SIGTERM', cancel);
  }
}

async function compare(request: CompareRequest, signal: AbortSignal, terminal: Terminal): Promise<ExitCode> {
  const { service, apiKey, tenantId, allowHttp, tests } = request;
  const settings = { apiKey, tenantId, allowHttp, userAgent: `landfall-cli/${version}` };
  const note = (text: string): void => terminal.print(`Note: ${text}`);
  const control = service && connectControlService({ ...settings, ...service });
  const mask = (secret: string): void => terminal.hide(secret);
  const { graders, keys, close } = await gradersFor(tests, settings.userAgent);
  keys.forEach(mask);
  const clients: { close: () => Promise<void> }[] = [{ close }, ...(control ? [control] : [])];
  const connect = (url: string) => {
    const agent = connectAgentServer({ ...settings, url, idleMs: maxSilenceMs(tests) });
    clients.push(agent);
    return agent;
  };
  try {
    const found = await findAgents({
      ...request,
      service: service && control ? { control, deployment: service.deployment } : undefined,
      clock: steadyClock,
      signal,
      mask,
      note,
    });
    if (!found.ok) return refuseInput([inputProblem(found.which, found.problem)], exitCodes.fails, terminal);
    const { live, changed } = found;
    terminal.print(`Comparing ${nameOf(live)} with ${nameOf(changed)}`);
    if (live.kind === 'kept') {
      note(
        `revision ${live.revisionId} does not serve, so its kept answers stand for it, the oldest from ${takenAtOf(live)}. Times do not decide, because they depend on the hour`,
      );
    }
    const compared = await compareAgents({
      live: live.kind === 'kept' ? live : { kind: 'server', server: connect(live.address) },
      changed: connect(changed.address),
      tests,
      tries: request.tries,
      conversations: request.conversations,
      until: Math.min(...[live, changed].map((agent) => ('until' in agent ? agent.until : Infinity))),
      graders,
      clock: steadyClock,
      random: Math.random,
      signal,
      note,
      redact: (text) => terminal.masked(text),
      emit: (event) => {
        if (event.kind === 'smoke-attempt') eventLines(event).forEach((line) => terminal.print(line));
      },
    });
    const comparison = control ? await attributedTo(compared, found, { control, signal, note }) : compared;
    for (const line of comparisonLines(comparison)) terminal.print(line);
    terminal.conclude(comparisonJson(comparison, { live: agentJson(live), new: agentJson(changed) }));
    return comparison.kind === 'passed' ? exitCodes.passes : exitCodes.fails;
  } finally {
    await Promise.all(clients.map((each) => each.close()));
  }
}

function nameOf(agent: ComparedAgent | KeptAnswers): string {
  switch (agent.kind) {
    case 'address':
      return agent.address;
    case 'live':
      return `the live revision ${agent.revisionId} (${agent.address})`;
    case 'held':
      return `the held revision ${agent.revisionId} (${agent.address})`;
    case 'kept':
      return `kept answers of revision ${agent.revisionId}`;
  }
}

const agentJson = (agent: ComparedAgent | KeptAnswers) => ({
  address: agent.kind === 'kept' ? null : agent.address,
  revision_id: agent.kind === 'address' ? null : agent.revisionId,
  kept_at: agent.kind === 'kept' ? takenAtOf(agent) : null,
});
