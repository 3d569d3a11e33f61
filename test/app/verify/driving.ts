import { loggerTo } from '../../logger.ts';
import { createReceiver } from '../../../app/verify/receive-run.ts';
import { createSmokeTestRunner } from '../../../app/verify/smoke-test-runner.ts';
import type { SmokeState, Testing } from '../../../app/reconcile/intent.ts';
import { judgeHere, type Judge } from '../../../src/deploy/smoke/judge.ts';
import type { SmokeTest } from '../../../src/deploy/file/smoke-test.ts';
import type { Measurement, SmokeWaiting } from '../../../app/context.ts';
import type { Sample, Verdict } from '../../../src/deploy/rules/verdict-types.ts';
import { ControlModel } from '../../deploy/machine/control-model.ts';
import { SimulatedClock } from '../../deploy/machine/simulated-clock.ts';
import { anIntent } from '../an-intent.ts';
import { AgentInMemory } from './agent-in-memory.ts';

export const publicUrl = 'https://landfall.example.test';

/** The address of the only grader that may get answers. */
export const graderUrl = 'https://models.example.test/v1';

/** A secret of the deployment. */
export const secret = 'hunter22-hunter22';

export const testExpecting = (reply: string, over: Partial<SmokeTest> = {}): SmokeTest => ({
  name: `says ${reply}`,
  assistant: 'echo',
  thread: true,
  input: { question: 'hello?' },
  streamModes: ['values'],
  expect: [{ kind: 'value', path: '$.reply', test: { kind: 'equals', value: reply } }],
  attempts: 1,
  timeoutMs: 60_000,
  ...over,
});

/** A test that only a stream can answer. */
export const listensFor = (reply: string, over: Partial<SmokeTest> = {}): SmokeTest =>
  testExpecting(reply, {
    expect: [
      { kind: 'nodes', order: 'sequence', nodes: ['answer'] },
      { kind: 'value', path: '$.reply', test: { kind: 'equals', value: reply } },
    ],
    ...over,
  });

/** Ends the process that is at work: nothing that it does from then on happens, nor is anything stored. */
export class Killed extends Error {}

/** For agents whose conversations are not tried. */
export const noThreads = (): never => {
  throw new Error('no conversations are tried here');
};

/** Drives a smoke test runner as the App does: stores every state, sleeps until the next poll, and can be notified. */
export class Driving {
  readonly clock = new SimulatedClock();
  readonly agent = new AgentInMemory(this.clock);
  /** What of the intent is not as usual. */
  over: Partial<Testing> = {};
  /** The agent that serves, if the other one is held. */
  live: AgentInMemory | undefined;
  readonly control = new ControlModel(this.clock);
  readonly logged: string[] = [];
  /** Every state that was stored, and how often the runner was called. */
  readonly stored: string[] = [];
  steps = 0;
  /** Called before a step's result is stored. */
  beforeStore: (step: number) => void = () => undefined;
  /** Called when another process has taken over from one that was killed. */
  afterKill: () => void = () => undefined;
  /** Answers of the receiver. */
  readonly answers: number[] = [];
  publicUrl: string | undefined = publicUrl;
  judge: Judge = judgeHere;
  readonly #tests: readonly SmokeTest[];
  #wake: () => void = () => undefined;
  #runner = this.#newRunner();
  readonly receive = createReceiver({
    store: {
      intent: async (id) => (id === this.intent.id ? this.intent : undefined),
      wake: async () => this.#wake(),
    },
    clock: this.clock,
    log: loggerTo((message) => this.logged.push(message)),
  });

  constructor(...tests: SmokeTest[]) {
    this.#tests = tests;
    this.control.has({
      name: 'echo',
      source: 'github',
      source_config: { integration_id: 'i1', repo_url: 'https://github.test/acme/agents', deployment_type: 'dev' },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
      secrets: [{ name: 'TOKEN', value: secret }],
    });
    this.agent.deliver = (url, payload) => void this.delivered(url, payload);
  }

  get intent(): Testing {
    const intent = anIntent('testing', { deploymentId: this.control.service.deployment?.id ?? '' });
    const last = this.stored.at(-1);
    const smoke: SmokeState | undefined = last === undefined ? undefined : JSON.parse(last);
    const terms = { ...intent.terms, smokeTests: this.#tests };
    return { ...intent, terms, ...(smoke ? { smoke } : {}), ...this.over };
  }

  /** Delivers a webhook about a run, to the URL that the agent was given. */
  async delivered(url: string, body: unknown): Promise<number> {
    const { pathname, searchParams } = new URL(url);
    const token = searchParams.get('token') ?? '';
    const { status } = await this.receive({ intentId: pathname.split('/').at(-1) ?? '', token, body: () => body });
    this.answers.push(status);
    return status;
  }

  /** Kills the process after it has made so many calls to the agents: whatever it still tries has no effect. */
  killAfterCall(at: number): void {
    let [made, isDead] = [0, false];
    this.afterKill = () => (isDead = false);
    for (const agent of this.live ? [this.agent, this.live] : [this.agent]) {
      agent.before = () => {
        if (isDead) throw new Killed();
      };
      agent.after = () => {
        made += 1;
        if (made !== at) return;
        isDead = true;
        throw new Killed();
      };
    }
  }

  /** Another process takes over: it knows what is stored, and nothing else. */
  restart(): void {
    this.#runner = this.#newRunner();
  }

  /** Goes on to the verdict. */
  async run(): Promise<Verdict> {
    const { signal } = new AbortController();
    return this.#go(async () => {
      const result = await this.#runner.advance(this.intent, this.agent, signal, async () => undefined, this.live);
      return result.kind === 'done' ? { end: result.verdict } : result;
    });
  }

  /** Measures the agent before a change, until there are answers to compare with. */
  async measure(measurement: Measurement): Promise<readonly Sample[]> {
    const { signal } = new AbortController();
    return this.#go(async () => {
      const result = await this.#runner.measure(anIntent('measuring', this.intent), measurement, this.agent, signal);
      if (result.kind === 'waiting') return result;
      this.stored.push(JSON.stringify(result.state));
      await this.cleanUp();
      return { end: result.samples };
    });
  }

  /** Removes what the stored state names. */
  cleanUp(): Promise<void> {
    return this.#runner.cleanUp(this.intent, this.agent, new AbortController().signal);
  }

  /** Each step that a kill ends is taken up by another process. */
  async #go<End>(step: () => Promise<SmokeWaiting | { kind?: never; end: End }>): Promise<End> {
    for (;;) {
      this.steps += 1;
      if (this.steps > 500) throw new Error('it comes to no end');
      try {
        const notified = new Promise<void>((wake) => (this.#wake = wake));
        const smoked = await step();
        this.beforeStore(this.steps);
        if (smoked.kind === undefined) return smoked.end;
        this.stored.push(JSON.stringify(smoked.state));
        const over = new AbortController();
        const ms = Math.max(0, smoked.at - this.clock.now());
        if (ms > 0) await Promise.race([notified, this.clock.sleep(ms, over.signal).catch(() => undefined)]);
        over.abort();
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        this.restart();
        // The dead one is dead before the other one begins.
        await new Promise((resolve) => setImmediate(resolve));
        this.afterKill();
      }
    }
  }

  #newRunner() {
    return createSmokeTestRunner({
      clock: this.clock,
      random: () => 0.5,
      control: this.control,
      publicUrl: this.publicUrl,
      graderUrls: [graderUrl],
      threadsAt: noThreads,
      judge: this.judge,
      log: loggerTo((message) => this.logged.push(message)),
    });
  }
}

/** A fixture with a live agent, which has the same threads. */
export function drivingBeside(...tests: SmokeTest[]): Driving {
  const driving = new Driving(...tests);
  driving.live = new AgentInMemory(driving.clock, driving.agent);
  return driving;
}
