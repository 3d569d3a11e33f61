import type { Journal, JournalEntry } from '../../../src/deploy/machine/journal.ts';
import { AgentModel, says } from '../smoke/agent-model.ts';
import { goesLive, type ControlModel } from './control-model.ts';
import { built, DeployFixture, first } from './deploy-fixture.ts';

/** What a run kept, for the one after it. */
export class JournalInMemory implements Journal {
  leavesHeld = true;
  kept: JournalEntry | undefined;
  /** All that was ever kept. */
  text = '';
  get left(): JournalEntry | undefined {
    return this.kept;
  }
  async keep(kept: JournalEntry | undefined): Promise<void> {
    this.kept = kept;
    this.text += JSON.stringify(kept);
  }
}

const never = new Promise<never>(() => undefined);

/** Kills a run at its `nth` call of what is wrapped: before it is made, or once it took effect. Nothing goes on after that. */
export class Killer {
  readonly died: Promise<'killed'>;
  readonly #nth: number;
  readonly #when: 'before' | 'after';
  readonly #die: (killed: 'killed') => void;
  #calls = 0;
  #isDead = false;

  constructor(nth: number, when: 'before' | 'after') {
    const { promise, resolve } = Promise.withResolvers<'killed'>();
    [this.died, this.#die, this.#nth, this.#when] = [promise, resolve, nth, when];
  }

  /** Whether the calls came to where the run is killed. */
  get isDead(): boolean {
    return this.#isDead;
  }

  /** The same object, whose calls are counted: those of one method, or all. */
  wrap<Target extends object>(target: Target, method?: keyof Target): Target {
    return new Proxy(target, {
      get: (of, name) => {
        const member: unknown = Reflect.get(of, name, of);
        if (typeof member !== 'function') return member;
        return (...given: unknown[]) =>
          this.#call(() => Reflect.apply(member, of, given), method === undefined || name === method);
      },
    });
  }

  async #call(make: () => unknown, isCounted: boolean): Promise<unknown> {
    if (this.#isDead) return never;
    if (!isCounted) return make();
    this.#calls += 1;
    if (this.#calls < this.#nth) return make();
    this.#isDead = true;
    if (this.#when === 'after') await Promise.resolve(make()).catch(() => undefined);
    this.#die('killed');
    return never;
  }
}

/** The service for a run that is killed at its `nth` request, of one method or of all. */
export function deadly(control: ControlModel, nth: number, when: 'before' | 'after', method?: keyof ControlModel) {
  const killer = new Killer(nth, when);
  return { control: killer.wrap(control, method), died: killer.died };
}

/** The service before a run: which commits were deployed, what the next revision reports, and which revisions are wrong. */
export interface Situation {
  before?: readonly string[];
  /** The commit that its revision reports, where it does. */
  builds?: string;
  holds?: true;
  /** The service honours idempotency keys. */
  keys?: true;
  wrong?: readonly string[];
}

export async function prepare({ before = [first], builds, holds, keys, wrong = [] }: Situation) {
  const fixture = new DeployFixture();
  if (holds) fixture.control.lacks.clear();
  fixture.control.honoursKeys = keys === true;
  if (before.length > 0) fixture.control.has(built, ...before.map((commit) => goesLive(commit)));
  if (builds) fixture.control.scripts.push(goesLive(builds));
  await fixture.passes(60_000);
  const right = new AgentModel(fixture.clock);
  const broken = new AgentModel(fixture.clock, says('good bye'));
  const agentAt = (url: string) => {
    const revision = /held\.test\/(.*)/.exec(url)?.[1] ?? fixture.control.service.deployment?.active_revision_id ?? '';
    return wrong.includes(revision) ? broken : right;
  };
  return { fixture, agentAt };
}

/** The requests that change something, in order. */
export const writes = ({ calls }: ControlModel): string[] =>
  calls.filter((call) => ['create', 'patch', 'redeploy', 'promote', 'discard'].includes(call));
