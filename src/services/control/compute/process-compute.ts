import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { messageOf } from '../../../kit/errors.ts';
import { pause, untilAborted, withTimeout, type Clock } from '../../../kit/clock.ts';
import { maskOf } from '../../../contract/masking/mask.ts';
import { agentCommands, type AgentCommand, announcesListening } from './agent-commands.ts';
import { agentEnvironment, agentMark, agentServerPath, specSecrets } from './agent-environment.ts';
import { createAgentTokens, type AgentTokens } from './agent-tokens.ts';
import { openAgentSocket } from './agent-socket.ts';
import type { AgentSpec, AgentStart, Compute, IdleAgent, RunningAgent } from './compute.ts';
import { becomesHealthy } from '../gateway/request-agent.ts';
import { startGuarded, type GuardedProcess, type ProcessEnd } from './guarded-process.ts';
import { failedStart, outputExcerpt } from './output-excerpt.ts';
import type { WriteLine } from './log-line.ts';
import { megabyte, memoryBound, type MemoryBound, memoryWatch, type MemoryWatch } from './memory-bound.ts';
import { openFolders } from '../isolation/change-owner.ts';
import { processFamily, type ProcessFamily } from './process-family.ts';
import { logProcess } from './process-log.ts';

export interface ProcessComputeDependencies {
  clock: Clock;
  /** The program that runs an agent; the agent server of this installation when absent. */
  agentServer?: string;
  /** The Node.js that runs it; this service's own when absent. */
  node?: string;
  startWithinMs?: number;
  drainMs?: number;
  /** Whether webhooks of agents may reach private networks. */
  privateWebhooks?: boolean | undefined;
  /** Written to every deploy log: agents are not isolated from this service as they should be. */
  warning?: string | undefined;
  sweep?: ((deploymentId: string) => Promise<void>) | undefined;
  /** Issues the tokens of agents. */
  issueToken?: AgentTokens['issue'];
  memory?: MemoryWatch;
}

/** Time beyond the drain timeout, for a process to exit. */
const lastStepsMs = 2_000;

/**
 * Runs every agent as a process with its own process group and environment, which listens on a private Unix socket.
 *
 * Agents do not outlive this service, even if it is killed: their input closes, and their guard kills those that do not
 * exit by themselves. An agent runs as `AgentSpec.user`; without one as the user of this service, and its code is
 * trusted as far as that user is. An agent above its memory limit is killed, with that as the reason.
 */
export function processCompute(settings: ProcessComputeDependencies): Compute {
  const { clock, startWithinMs = 60_000, drainMs = 30_000, privateWebhooks = false, warning, sweep } = settings;
  const { agentServer = agentServerPath(), node = process.execPath, memory = memoryWatch(clock) } = settings;
  const { issueToken = createAgentTokens().issue } = settings;
  const path = process.env.PATH ?? '';

  return {
    async start(spec, signal): Promise<AgentStart> {
      const { program } = spec;
      if (program.kind === 'image') return failedStart(noImages);
      const token = issueToken(spec.deploymentId);
      if (warning !== undefined) spec.log('warning', warning);
      await openFolders(program, spec.user);
      const socket = await openAgentSocket(spec.user);
      const bounds = memoryBound(spec);
      const mark = [agentMark, join(program.homeFolder, randomUUID())] as const;
      const family = processFamily({ mark, user: spec.user }, clock);
      const settled = { token, socket: socket.path, drainMs, privateWebhooks, path, node };
      const leashed = startGuarded(
        {
          command: node,
          args: [`--max-old-space-size=${bounds.heapMib}`, agentServer],
          cwd: dirname(program.graphConfigFile),
          env: { ...agentEnvironment(spec, program, settled), ...family.mark },
          withInput: true,
          graceSeconds: Math.ceil((drainMs + lastStepsMs) / 1_000),
          user: spec.user,
        },
        clock,
      );
      void leashed.ended.then(socket.remove).catch(() => undefined);
      const running = { ...leashed, ended: withFamily(leashed.ended, family) };
      const tookTooMuch = endAbove(bounds, running, family, memory);
      const { listens, ...heard } = listenTo(running, spec, token, clock);
      const tooLate = new AbortController();
      const bound = AbortSignal.any([signal, tooLate.signal]);
      void pause(clock, startWithinMs, bound).then(() => tooLate.abort());
      const ended = running.ended.then((end) => ({ end }));
      const taken = listens.then(socket.take).then(
        (origin) => ({ origin }),
        (error: unknown) => ({ problem: messageOf(error) }),
      );
      const startedProcess = await Promise.race([ended, taken, untilAborted(bound)]);
      const origin = startedProcess && 'origin' in startedProcess ? startedProcess.origin : undefined;
      const healthy = origin && (await Promise.race([ended, becomesHealthy({ origin, token }, clock, bound)]));
      const wasInTime = !bound.aborted;
      tooLate.abort();
      if (origin && healthy === true)
        return {
          kind: 'running',
          agent: agentOf({ running, origin, token, tookTooMuch, heard, clock, startWithinMs, drainMs }),
        };

      running.kill();
      const end = await running.ended;
      if (signal.aborted) return failedStart('The start was aborted.');
      let reason = `The agent's process ended before it was healthy: ${tookTooMuch() ?? inWords(end)}.`;
      if (!wasInTime) reason = `The agent did not become healthy within ${startWithinMs / 1_000} s.`;
      if (startedProcess && 'problem' in startedProcess)
        reason = `The agent does not listen correctly: ${startedProcess.problem}.`;
      return failedStart(reason, heard.excerpt);
    },
    ...(sweep === undefined ? {} : { remove: ({ id }) => sweep(id) }),
  };
}

interface StartedAgent {
  running: GuardedProcess;
  origin: string;
  token: string;
  tookTooMuch: () => string | undefined;
  heard: Omit<ReturnType<typeof listenTo>, 'listens'>;
  clock: Clock;
  startWithinMs: number;
  drainMs: number;
}

function agentOf(started: StartedAgent): RunningAgent {
  const { running, origin, token, tookTooMuch, heard, clock, startWithinMs, drainMs } = started;
  const stop = async (withinMs = drainMs + lastStepsMs): Promise<void> => {
    running.stdin?.end();
    await withTimeout(clock, withinMs, (late) => {
      void untilAborted(late).then(running.kill);
      return running.ended;
    });
  };
  const exited = running.ended.then((end) => tookTooMuch() ?? inWords(end));

  /** Sends a command; false where the process fails it or times out. */
  async function does(command: AgentCommand, withinMs: number): Promise<boolean> {
    const end = await withTimeout(clock, withinMs, (late) =>
      Promise.race([heard.commands.ask(command), exited, untilAborted(late)]),
    );
    return typeof end === 'object' && end.event !== 'failed';
  }

  async function makeIdle(): Promise<IdleAgent | undefined> {
    if (await does({ do: 'rest' }, drainMs + lastStepsMs)) return { wake, stop: () => stop(lastStepsMs), exited };
    await stop(lastStepsMs);
    return undefined;
  }

  async function wake(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart> {
    heard.writeTo(spec.log);
    const isServing = await does({ do: 'wake', revision_id: spec.revisionId }, startWithinMs);
    if (isServing && (await becomesHealthy(started, clock, signal)))
      return { kind: 'running', agent: agentOf(started) };
    await stop(lastStepsMs);
    return failedStart('The agent that was kept did not serve again.', heard.excerpt);
  }
  return {
    origin,
    token,
    stop,
    exited,
    lastLines: heard.excerpt.lines,
    makeIdle,
    endHold: (how) => does({ do: how }, lastStepsMs * 5),
  };
}

/** Kills an agent that exceeds its memory limit; returns a function that gives the reason, for a person. */
function endAbove(
  { totalMb }: MemoryBound,
  running: GuardedProcess,
  family: ProcessFamily,
  memory: MemoryWatch,
): () => string | undefined {
  let words: string | undefined;
  const ended = new AbortController();
  void running.ended.then(() => ended.abort());
  const over = (usedBytes: number): void => {
    words = `it took ${Math.ceil(usedBytes / megabyte)} MB of memory, more than its limit of ${totalMb} MB, and was stopped`;
    running.kill();
  };
  memory.watch(family, totalMb * megabyte, over, ended.signal);
  return () => words;
}

const noImages =
  'This service runs agents as processes of this machine, which a container image is not. Use the source github or internal_source, or start the service where it may run containers.';

/** Sends the process's output to the deploy log, and waits for the line that announces that it listens. */
function listenTo(running: GuardedProcess, spec: AgentSpec, token: string, clock: Clock) {
  const { promise: listens, resolve: found } = Promise.withResolvers<void>();
  let listening = false;
  let writeLine = spec.log;
  const excerpt = outputExcerpt();
  const commands = agentCommands(running.stdin);
  const write: WriteLine = (level, line) => {
    if (!listening && level !== 'error' && announcesListening(line)) {
      listening = true;
      found();
      return;
    }
    if (level !== 'error' && commands.isAnswer(line)) return;
    excerpt.add(level, line);
    writeLine(level, line);
  };
  const mask = maskOf(specSecrets(spec, token));
  void logProcess(running, { write, mask, clock, errorLevel: 'error' });
  const writeTo = (log: WriteLine): void => void (writeLine = log);
  return { listens, excerpt, commands, writeTo };
}

/** Processes that left an agent's process group end with the agent. */
async function withFamily(ended: Promise<ProcessEnd>, family: ProcessFamily): Promise<ProcessEnd> {
  const end = await ended;
  // The next start ends what can't be found now; the agent's exit is known anyway.
  await family.end().catch(() => undefined);
  return end;
}

function inWords(end: ProcessEnd): string {
  if (end.kind === 'exited') return `exit code ${end.code}`;
  return end.kind === 'killed' ? `killed by ${end.signal}` : `it could not be started (${end.reason})`;
}
