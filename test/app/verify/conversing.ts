import { readProgress } from '../../../app/verify/progress.ts';
import { createSmokeTestRunner } from '../../../app/verify/smoke-test-runner.ts';
import type { SmokeState, Testing } from '../../../app/reconcile/intent.ts';
import type { ConversationServer } from '../../../src/contract/agent/service.ts';
import type { Verdict } from '../../../src/deploy/rules/verdict-types.ts';
import { ControlModel } from '../../deploy/machine/control-model.ts';
import { SimulatedClock } from '../../deploy/machine/simulated-clock.ts';
import { ThreadServerModel, ThreadsModel } from '../../deploy/smoke/threads-model.ts';
import { loggerTo } from '../../logger.ts';
import { supportDeployment } from '../reconcile/queue-fixture.ts';
import { anIntent } from '../an-intent.ts';
import { AgentInMemory } from './agent-in-memory.ts';
import { secret } from './driving.ts';

const address = { live: 'https://live.test', held: 'https://held.test' };

/** Where a process of the App is killed: at its `nth` act from 1, before or after that took effect. */
export interface Kill {
  nth: number;
  phase: 'before' | 'after';
}

/** A held revision and the live one with their threads, and processes of the App that test it, one after the other. */
export class Conversing {
  readonly clock = new SimulatedClock();
  readonly threads = new ThreadsModel();
  readonly live = new ThreadServerModel(this.threads, this.clock);
  readonly held = new ThreadServerModel(this.threads, this.clock);
  readonly control = new ControlModel(this.clock);
  readonly logged: string[] = [];
  /** Every state that was stored. */
  readonly stored: string[] = [];
  /** How many calls the last process made. */
  calls = 0;
  intent: Testing;

  constructor() {
    for (const each of [this.live, this.held]) each.flags = { thread_copy_metadata: true };
    this.control.has({ ...supportDeployment, secrets: [{ name: 'TOKEN', value: secret }] });
    const { terms, ...intent } = anIntent('testing', { former: { live: 'r1' } });
    const endsAt = new Date(this.clock.now() + 1_800_000).toISOString();
    this.intent = {
      ...intent,
      deploymentId: this.control.service.deployment?.id ?? '',
      hold: { address: address.held, live: address.live, endsAt },
      terms: { ...terms, conversations: { newest: 10, timeoutMs: 60_000 } },
    };
  }

  /** The copies that are there. */
  get copies(): string[] {
    return [...this.threads.threads.keys()].filter((id) => id.startsWith('copy-'));
  }

  /** The conversations of which a stored state has a turn, with how many copies of them were made by now. */
  get ended(): Map<string, number> {
    const last = this.stored.at(-1);
    const { conversations } = readProgress(last === undefined ? undefined : JSON.parse(last));
    const tried = (conversations?.conversations ?? []).filter(({ turns }) => turns.length > 0);
    return new Map(
      tried.map(({ threadId }) => [threadId, this.threads.copies.filter((each) => each === threadId).length]),
    );
  }

  /**
   * One process, up to the verdict or until it is killed. From then on none of its calls returns, so that no line after
   * them runs, not even a `finally`.
   */
  async process(kill?: Kill, signal: AbortSignal = new AbortController().signal): Promise<Verdict | 'killed'> {
    const { promise: killed, resolve: die } = Promise.withResolvers<'killed'>();
    let isDead = false;
    this.calls = 0;
    const act = async <T>(work: () => Promise<T> | T): Promise<T> => {
      this.calls += 1;
      const isLast = this.calls === kill?.nth;
      if (isLast && kill.phase === 'before') isDead = true;
      const done = isDead ? undefined : { value: await work() };
      if (isLast) {
        isDead = true;
        die('killed');
      }
      return isDead || !done ? new Promise<never>(() => undefined) : done.value;
    };
    const reaching = (server: ConversationServer): ConversationServer =>
      new Proxy(server, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== 'function') return member;
          return (...given: unknown[]) => act(() => Reflect.apply(member, target, given));
        },
      });
    const runner = createSmokeTestRunner({
      clock: this.clock,
      random: () => 0.5,
      control: this.control,
      threadsAt: (url) => reaching(url === address.held ? this.held : this.live),
      log: loggerTo((message) => this.logged.push(message)),
    });
    const toTheEnd = async (): Promise<Verdict | 'killed'> => {
      for (let steps = 0; steps < 50; steps += 1) {
        const last = this.stored.at(-1);
        const smoke: SmokeState | undefined = last === undefined ? undefined : JSON.parse(last);
        const intent = smoke ? { ...this.intent, smoke } : this.intent;
        const keep = (state: SmokeState) => act(() => void this.stored.push(JSON.stringify(state)));
        const step = await runner.advance(intent, new AgentInMemory(this.clock), signal, keep);
        if (step.kind === 'done') return act(() => step.verdict);
        await keep(step.state);
      }
      throw new Error('it comes to no end');
    };
    return Promise.race([killed, toTheEnd()]);
  }
}
