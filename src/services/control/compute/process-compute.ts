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
  /** Written to every deploy log where agents are not isolated from this service as they should be. */
  warning?: string | undefined;
  sweep?: ((deploymentId: string) => Promise<void>) | undefined;
  /** Issues the tokens of agents. */
  issueToken?: AgentTokens['issue'];
  memory?: MemoryWatch;
}

/** How long (ms) a drained process may take to exit. */
const exitMs = 2_000;

/**
 * Runs every agent as a process with its own process group and environment, which listens on a private Unix socket.
 *
 * Agents do not outlive this service, even if it is killed: their input closes, and their guard kills those that do not
 * exit. An agent runs as `AgentSpec.user`, else as the user of this service: then its code can do all that this user
 * can. An agent that exceeds its memory limit is killed.
 */
export function processCompute(settings: ProcessComputeDependencies): Compute {
  const { clock, startWithinMs = 60_000, drainMs = 30_000, privateWebhooks = false, warning, sweep } = settings;
  const { agentServer = agentServerPath(), node = process.execPath, memory = memoryWatch(clock) } = settings;
  const { issueToken = createAgentTokens().issue } = settings;
  const path = process.env.PATH ?? '';

  return {
    async start(spec, signal): Promise<AgentStart> {
      const { program } = spec;
      if (program.kind === 'image') return failedStart(imagesUnsupported);
      const token = issueToken(spec.deploymentId);
      if (warning !== undefined) spec.log('warning', warning);
      await openFolders(program, spec.user);
      const socket = await openAgentSocket(spec.user);
      const limits = memoryBound(spec);
      const mark = [agentMark, join(program.homeFolder, randomUUID())] as const;
      const family = processFamily({ mark, user: spec.user }, clock);
      const agentSettings = { token, socket: socket.path, drainMs, privateWebhooks, path, node };
      const guarded = startGuarded(
        {
          command: node,
          args: [`--max-old-space-size=${limits.heapMib}`, agentServer],
          cwd: dirname(program.graphConfigFile),
          env: { ...agentEnvironment(spec, program, agentSettings), ...family.mark },
          withInput: true,
          graceSeconds: Math.ceil((drainMs + exitMs) / 1_000),
          user: spec.user,
        },
        clock,
      );
      void guarded.ended.then(socket.remove).catch(() => undefined);
      const agentProcess = { ...guarded, ended: endWithFamily(guarded.ended, family) };
      const memoryReason = killAboveLimit(limits, agentProcess, family, memory);
      const { untilListening, ...output } = followOutput(agentProcess, spec, token, clock);
      const timeout = new AbortController();
      const startSignal = AbortSignal.any([signal, timeout.signal]);
      void pause(clock, startWithinMs, startSignal).then(() => timeout.abort());
      const ended = agentProcess.ended.then((end) => ({ end }));
      const opened = untilListening.then(socket.take).then(
        (origin) => ({ origin }),
        (error: unknown) => ({ problem: messageOf(error) }),
      );
      const firstEvent = await Promise.race([ended, opened, untilAborted(startSignal)]);
      const origin = firstEvent && 'origin' in firstEvent ? firstEvent.origin : undefined;
      const healthy = origin && (await Promise.race([ended, becomesHealthy({ origin, token }, clock, startSignal)]));
      const wasInTime = !startSignal.aborted;
      timeout.abort();
      if (origin && healthy === true)
        return {
          kind: 'running',
          agent: runningAgent({
            running: agentProcess,
            origin,
            token,
            memoryReason: memoryReason,
            output: output,
            clock,
            startWithinMs,
            drainMs,
          }),
        };

      agentProcess.kill();
      const end = await agentProcess.ended;
      if (signal.aborted) return failedStart('The start was aborted.');
      let reason = `The agent's process ended before it was healthy: ${memoryReason() ?? describeEnd(end)}.`;
      if (!wasInTime) reason = `The agent did not become healthy within ${startWithinMs / 1_000} s.`;
      if (firstEvent && 'problem' in firstEvent) reason = `The agent does not listen correctly: ${firstEvent.problem}.`;
      return failedStart(reason, output.excerpt);
    },
    ...(sweep === undefined ? {} : { remove: ({ id }) => sweep(id) }),
  };
}

interface StartedAgent {
  running: GuardedProcess;
  origin: string;
  token: string;
  memoryReason: () => string | undefined;
  output: Omit<ReturnType<typeof followOutput>, 'untilListening'>;
  clock: Clock;
  startWithinMs: number;
  drainMs: number;
}

function runningAgent(started: StartedAgent): RunningAgent {
  const { running, origin, token, memoryReason, output, clock, startWithinMs, drainMs } = started;
  const stop = async (withinMs = drainMs + exitMs): Promise<void> => {
    running.stdin?.end();
    await withTimeout(clock, withinMs, (late) => {
      void untilAborted(late).then(running.kill);
      return running.ended;
    });
  };
  const exited = running.ended.then((end) => memoryReason() ?? describeEnd(end));

  /** Sends a command; false where the process fails it or times out. */
  async function runCommand(command: AgentCommand, withinMs: number): Promise<boolean> {
    const end = await withTimeout(clock, withinMs, (late) =>
      Promise.race([output.commands.send(command), exited, untilAborted(late)]),
    );
    return typeof end === 'object' && end.event !== 'failed';
  }

  async function makeIdle(): Promise<IdleAgent | undefined> {
    if (await runCommand({ do: 'rest' }, drainMs + exitMs)) return { wake, stop: () => stop(exitMs), exited };
    await stop(exitMs);
    return undefined;
  }

  async function wake(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart> {
    output.writeTo(spec.log);
    const isServing = await runCommand({ do: 'wake', revision_id: spec.revisionId }, startWithinMs);
    if (isServing && (await becomesHealthy(started, clock, signal)))
      return { kind: 'running', agent: runningAgent(started) };
    await stop(exitMs);
    return failedStart('The agent that was kept did not serve again.', output.excerpt);
  }
  return {
    origin,
    token,
    stop,
    exited,
    lastLines: output.excerpt.lines,
    makeIdle,
    endHold: (decision) => runCommand({ do: decision }, exitMs * 5),
  };
}

/** Kills an agent that exceeds its memory limit. Returns a function that returns the reason once it did. */
function killAboveLimit(
  { totalMb }: MemoryBound,
  running: GuardedProcess,
  family: ProcessFamily,
  memory: MemoryWatch,
): () => string | undefined {
  let reason: string | undefined;
  const ended = new AbortController();
  void running.ended.then(() => ended.abort());
  const killForMemory = (usedBytes: number): void => {
    reason = `it took ${Math.ceil(usedBytes / megabyte)} MB of memory, more than its limit of ${totalMb} MB, and was stopped`;
    running.kill();
  };
  memory.watch(family, totalMb * megabyte, killForMemory, ended.signal);
  return () => reason;
}

const imagesUnsupported =
  'This service runs agents as processes of this machine, which a container image is not. Use the source github or internal_source, or start the service where it may run containers.';

/** Sends the process's output to the deploy log; `untilListening` resolves at the line that says that it listens. */
function followOutput(running: GuardedProcess, spec: AgentSpec, token: string, clock: Clock) {
  const { promise: untilListening, resolve: announce } = Promise.withResolvers<void>();
  let isListening = false;
  let writeLine = spec.log;
  const excerpt = outputExcerpt();
  const commands = agentCommands(running.stdin);
  const write: WriteLine = (level, line) => {
    if (!isListening && level !== 'error' && announcesListening(line)) {
      isListening = true;
      announce();
      return;
    }
    if (level !== 'error' && commands.acceptResponse(line)) return;
    excerpt.add(level, line);
    writeLine(level, line);
  };
  const mask = maskOf(specSecrets(spec, token));
  void logProcess(running, { write, mask, clock, errorLevel: 'error' });
  const writeTo = (log: WriteLine): void => void (writeLine = log);
  return { untilListening, excerpt, commands, writeTo };
}

/** Kills the processes that left an agent's process group when the agent ends. */
async function endWithFamily(ended: Promise<ProcessEnd>, family: ProcessFamily): Promise<ProcessEnd> {
  const end = await ended;
  // The next start kills what can't be killed now; the agent's exit is known anyway.
  await family.end().catch(() => undefined);
  return end;
}

function describeEnd(end: ProcessEnd): string {
  if (end.kind === 'exited') return `exit code ${end.code}`;
  return end.kind === 'killed' ? `killed by ${end.signal}` : `it could not be started (${end.reason})`;
}
