import { randomBytes, randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { pause, type Clock } from '../../clock.ts';
import { maskOf } from '../../contract/mask.ts';
import { agentCommands, type AgentCommands } from './agent-commands.ts';
import { agentEnvironment, agentMark, agentSecrets } from './agent-environment.ts';
import { agentServerPath } from './agent-server-path.ts';
import { openAgentSocket } from './agent-socket.ts';
import type { AgentSpec, AgentStart, Compute, IdleAgent, RunningAgent } from './compute.ts';
import { becomesHealthy } from './health.ts';
import { startLeashed, type LeashedProcess, type ProcessEnd } from './leashed-process.ts';
import { lastLines } from './last-lines.ts';
import { lastWords } from './last-words.ts';
import { announcesListening } from './listening.ts';
import type { WriteLine } from './log-line.ts';
import { megabyte, memoryBound, type MemoryBound } from './memory-bound.ts';
import { memoryWatch, type MemoryWatch } from './memory-watch.ts';
import { openFolders } from './open-folders.ts';
import { processFamily, type ProcessFamily } from './process-family.ts';
import { logProcess } from './process-log.ts';

export interface ProcessComputeSettings {
  clock: Clock;
  /** The program that runs an agent; the agent server of this installation when absent. */
  agentServer?: string;
  /** The Node.js that it is run by; this service's own when absent. */
  node?: string;
  /** Milliseconds until an agent has to be healthy; a minute when absent. */
  startWithinMs?: number;
  /** Milliseconds that an agent has for finishing when it is stopped; 30 s when absent. */
  drainMs?: number;
  /** Whether webhooks of agents may go into private networks; they may not when absent. */
  privateWebhooks?: boolean | undefined;
  /** The `PATH` that agents get behind our Node.js; this service's own when absent. */
  path?: string;
  /** Told in every deploy log: that agents are not kept apart from this service as they should be. */
  warning?: string | undefined;
  /** Ends whatever a deployment that is deleted still has running; nothing when absent. */
  sweep?: ((deploymentId: string) => Promise<void>) | undefined;
  memory?: MemoryWatch;
}

/** Beyond the drain bound, for what a process does on its way out. */
const lastStepsMs = 2_000;

/**
 * Runs every agent as a process of its own, in a process group of its own, with an environment of its own. The process
 * listens on a Unix socket that leads to it alone, and answers only to who knows its token.
 *
 * An agent that this service leaves behind, even killed, ends: its input closes, and what does not end by itself then
 * is killed by its guard. An agent runs as `AgentSpec.user`; without one as the user of this service, and its code is
 * trusted as far as that user is. One that takes more memory than its bound is ended, and its end says so.
 */
export function processCompute(settings: ProcessComputeSettings): Compute {
  const { clock, startWithinMs = 60_000, drainMs = 30_000, path = process.env.PATH ?? '', warning, sweep } = settings;
  const { privateWebhooks = false } = settings;
  const { agentServer = agentServerPath(), node = process.execPath, memory = memoryWatch(clock) } = settings;

  return {
    async start(spec, signal): Promise<AgentStart> {
      const { program } = spec;
      if (program.kind === 'image') return failed(noImages);
      const token = randomBytes(32).toString('base64url');
      if (warning !== undefined) spec.log('warning', warning);
      await openFolders(program, spec.user);
      const socket = await openAgentSocket(spec.user);
      const bounds = memoryBound(spec);
      const family = processFamily(
        { mark: [agentMark, join(program.homeFolder, randomUUID())], user: spec.user },
        clock,
      );
      const leashed = startLeashed(
        {
          command: node,
          args: [`--max-old-space-size=${bounds.heapMib}`, agentServer],
          cwd: dirname(program.graphConfigFile),
          env: {
            ...agentEnvironment(spec, program, { token, socket: socket.path, drainMs, privateWebhooks, path, node }),
            ...family.mark,
          },
          withInput: true,
          graceSeconds: Math.ceil((drainMs + lastStepsMs) / 1_000),
          user: spec.user,
        },
        clock,
      );
      void leashed.ended.then(socket.remove).catch(() => undefined);
      const running = { ...leashed, ended: withFamily(leashed.ended, family) };
      const tookTooMuch = endAbove(bounds, running, family);
      const { listens, ...heard } = listenTo(running, spec, token, clock);
      const tooLate = new AbortController();
      const bound = AbortSignal.any([signal, tooLate.signal]);
      void clock.sleep(startWithinMs, bound).then(
        () => tooLate.abort(),
        () => undefined,
      );
      const ended = running.ended.then((end) => ({ end }));
      const taken = listens.then(socket.take).then(
        (origin) => ({ origin }),
        (error: unknown) => ({ problem: error instanceof Error ? error.message : String(error) }),
      );
      const startedProcess = await Promise.race([ended, taken, aborted(bound)]);
      const origin = startedProcess && 'origin' in startedProcess ? startedProcess.origin : undefined;
      const healthy = origin && (await Promise.race([ended, becomesHealthy(origin, token, clock, bound)]));
      const wasInTime = !bound.aborted;
      tooLate.abort();
      if (origin && healthy === true)
        return { kind: 'running', agent: agentOf({ running, origin, token, tookTooMuch, heard }) };

      running.kill();
      const end = await running.ended;
      if (signal.aborted) return failed('The start was broken off.');
      if (startedProcess && 'problem' in startedProcess)
        return failed(`The agent does not listen as it has to: ${startedProcess.problem}.`, heard);
      if (!wasInTime) return failed(`The agent did not become healthy within ${startWithinMs / 1_000} s.`, heard);
      return failed(`The agent's process ended before it was healthy: ${tookTooMuch() ?? inWords(end)}.`, heard);
    },
    ...(sweep === undefined ? {} : { remove: ({ id }) => sweep(id) }),
  };

  /** Ends an agent that takes more memory than it may; what is returned tells whether that was so, for a person. */
  function endAbove(
    { totalMb }: MemoryBound,
    running: LeashedProcess,
    family: ProcessFamily,
  ): () => string | undefined {
    let words: string | undefined;
    const ended = new AbortController();
    void running.ended.then(() => ended.abort());
    const over = (usedBytes: number): void => {
      words = `it took ${Math.ceil(usedBytes / megabyte)} MB of memory, more than its bound of ${totalMb} MB, and was ended`;
      running.kill();
    };
    memory.watch(family, totalMb * megabyte, over, ended.signal);
    return () => words;
  }

  function agentOf(started: Started): RunningAgent {
    const { running, origin, token, tookTooMuch, heard } = started;
    const stop = async (withinMs = drainMs + lastStepsMs): Promise<void> => {
      running.stdin?.end();
      const gone = new AbortController();
      const bound = clock.sleep(withinMs, gone.signal).then(running.kill, () => undefined);
      await running.ended;
      gone.abort();
      await bound;
    };
    const exited = running.ended.then((end) => tookTooMuch() ?? inWords(end));

    /** Asks something of the process; false where it does not do it in time, or at all. */
    async function does(command: Parameters<AgentCommands['ask']>[0], withinMs: number): Promise<boolean> {
      const over = new AbortController();
      const end = await Promise.race([heard.commands.ask(command), exited, pause(clock, withinMs, over.signal)]);
      over.abort();
      return typeof end === 'object' && end.event !== 'failed';
    }

    async function rest(): Promise<IdleAgent | undefined> {
      if (await does({ do: 'rest' }, drainMs + lastStepsMs)) return { wake, stop: () => stop(lastStepsMs), exited };
      await stop(lastStepsMs);
      return undefined;
    }

    async function wake(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart> {
      heard.writeTo(spec.log);
      const isServing = await does({ do: 'wake', revision_id: spec.revisionId }, startWithinMs);
      if (isServing && (await becomesHealthy(origin, token, clock, signal))) {
        return { kind: 'running', agent: agentOf(started) };
      }
      await stop(lastStepsMs);
      return failed('The agent that was kept did not serve again.', heard);
    }
    return { origin, token, stop, exited, said: heard.lines, rest };
  }
}

/** An agent's process that became healthy. */
interface Started {
  running: LeashedProcess;
  origin: string;
  token: string;
  tookTooMuch: () => string | undefined;
  heard: Heard;
}

const noImages =
  'This service runs agents as processes of this machine, which a container image is not. Use the source github or internal_source, or start the service where it may run containers.';

/** What an agent's process said. */
interface Heard {
  /** The line that says best what went wrong. */
  best: () => string | undefined;
  lines: () => readonly string[];
  commands: AgentCommands;
  /** From now on its lines are told there. */
  writeTo: (log: WriteLine) => void;
}

/** Sends what the process says to the deploy log, and waits for the line that tells that it listens. */
function listenTo(
  running: LeashedProcess,
  { log, ...spec }: AgentSpec,
  token: string,
  clock: Clock,
): { listens: Promise<void> } & Heard {
  let found = (): void => {};
  const listens = new Promise<void>((resolve) => (found = resolve));
  let listening = false;
  let writeLine = log;
  const words = lastWords();
  const lines = lastLines();
  const commands = agentCommands(running.stdin);
  const write: WriteLine = (level, line) => {
    if (!listening && level !== 'error' && announcesListening(line)) {
      listening = true;
      found();
      return;
    }
    if (level !== 'error' && commands.isAnswer(line)) return;
    if (level === 'error') words.hear(line);
    lines.hear(line);
    writeLine(level, line);
  };
  const mask = maskOf(agentSecrets({ log, ...spec }, token));
  void logProcess(running, { write, mask, clock, errorLevel: 'error' });
  return { listens, best: words.best, lines: lines.all, commands, writeTo: (other) => void (writeLine = other) };
}

/** What left the process group of an agent ends with the agent as well. */
async function withFamily(ended: Promise<ProcessEnd>, family: ProcessFamily): Promise<ProcessEnd> {
  const end = await ended;
  // What can't be looked at now is ended by the next start; the end of the agent is known all the same.
  await family.end().catch(() => undefined);
  return end;
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

function failed(reason: string, heard?: Heard): AgentStart {
  const best = heard?.best();
  return {
    kind: 'failed',
    reason: best === undefined ? reason : `${reason} It said last: ${best}`,
    said: heard?.lines() ?? [],
  };
}

/** How a process ended, for a person. */
function inWords(end: ProcessEnd): string {
  if (end.kind === 'exited') return `exit code ${end.code}`;
  return end.kind === 'killed' ? `killed by ${end.signal}` : `it could not be started (${end.reason})`;
}
