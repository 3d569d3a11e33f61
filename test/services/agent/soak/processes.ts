import { startAgentProcess } from '../agent-process.ts';
import type { AgentProcess } from '../agent-process.ts';
import type { Chance } from './chance.ts';

/** After this time (ms) a silent process counts as dead. */
const LEASE_MS = 4000;
/** How long (ms) runs may continue after a process received the shutdown signal. */
const DRAIN_MS = 1500;

/** The number of kill events of each kind. */
export type KillCounts = Record<'killed' | 'left' | 'frozen', number>;

/** The kill events, in turns. */
const KILL_EVENTS = ['killed', 'left', 'frozen', 'killed'] as const;

/** Two processes of one deployment, and their kill events. */
export class Pair {
  readonly #env: Record<string, string>;
  readonly #chance: Chance;
  readonly #places: (AgentProcess | undefined)[] = [undefined, undefined];
  readonly #all: AgentProcess[] = [];
  #struck = 0;
  readonly killEvents: KillCounts = { killed: 0, left: 0, frozen: 0 };
  /** Unexpected behaviour of a process. */
  readonly faults: string[] = [];

  constructor(env: Record<string, string>, chance: Chance) {
    this.#env = { ...env, LANDFALL_LEASE_MS: `${LEASE_MS}`, LANDFALL_DRAIN_MS: `${DRAIN_MS}` };
    this.#chance = chance;
  }

  /** Starts both. */
  async begin(): Promise<void> {
    await Promise.all([this.#start(0), this.#start(1)]);
  }

  /** The addresses of the running processes. */
  urls(): string[] {
    return this.#places.flatMap((each) => (each ? [each.url] : []));
  }

  /** The ids of the running processes. */
  pids(): number[] {
    return this.#places.flatMap((each) => each?.child.pid ?? []);
  }

  /** All log lines of all processes. */
  lines(): string[] {
    return this.#all.flatMap(({ output, log }) => [...output, ...log]);
  }

  /** Kills, shuts down or suspends one process (sometimes both), then restores it. */
  async strike(): Promise<void> {
    const chance = this.#chance;
    const first = chance.between(0, 1);
    const killEvent = KILL_EVENTS[this.#struck % KILL_EVENTS.length] ?? 'killed';
    this.#struck += 1;
    const places = killEvent === 'killed' && chance.is(0.15) ? [0, 1] : [first];
    await Promise.all(places.map((at) => (killEvent === 'frozen' ? this.#freeze(at) : this.#replace(at, killEvent))));
  }

  /** Kills one process, and starts another one in its place. */
  async kill(): Promise<void> {
    await this.#replace(this.#chance.between(0, 1), 'killed');
  }

  async #replace(at: number, killEvent: 'killed' | 'left'): Promise<void> {
    const process = this.#places[at];
    if (process === undefined) return;
    this.killEvents[killEvent] += 1;
    this.#places[at] = undefined;
    process.child.kill(killEvent === 'killed' ? 'SIGKILL' : 'SIGTERM');
    const end = await process.gone;
    if (end !== (killEvent === 'killed' ? 'SIGKILL' : 0))
      this.faults.push(`a process that was ${killEvent} ended with ${end}`);
    // Sometimes the other process is alone for a while.
    await new Promise((resolve) => setTimeout(resolve, this.#chance.between(0, 2) * 1000));
    await this.#start(at);
  }

  /** Long enough for the other process to presume it dead. */
  async #freeze(at: number): Promise<void> {
    const process = this.#places[at];
    if (process === undefined) return;
    this.killEvents.frozen += 1;
    process.child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, LEASE_MS + 1500));
    process.child.kill('SIGCONT');
  }

  async #start(at: number): Promise<void> {
    const process = await startAgentProcess(this.#env);
    this.#all.push(process);
    this.#places[at] = process;
    void this.#watch(process, at);
  }

  async #watch(process: AgentProcess, at: number): Promise<void> {
    const end = await process.gone;
    if (this.#places[at] !== process) return;
    this.#places[at] = undefined;
    this.faults.push(`a process ended by itself with ${end}: ${process.log.slice(-5).join(' | ')}`);
  }

  /** Kills the remaining processes. */
  async close(): Promise<void> {
    this.#places.fill(undefined);
    for (const { child } of this.#all) child.kill('SIGKILL');
    await Promise.all(this.#all.map(({ gone }) => gone));
  }
}
