import type { Journal, KeptDeploy } from '../../../src/deploy/machine/journal.ts';
import { AgentModel, says } from '../smoke/agent-model.ts';
import { goesLive, type ControlModel } from './control-model.ts';
import { built, DeployFixture, first } from './deploy-fixture.ts';

/** What a run kept, for the one after it. */
export class KeptInMemory implements Journal {
  leavesHeld = true;
  kept: KeptDeploy | undefined;
  /** All that was ever kept. */
  text = '';
  get left(): KeptDeploy | undefined {
    return this.kept;
  }
  async keep(kept: KeptDeploy | undefined): Promise<void> {
    this.kept = kept;
    this.text += JSON.stringify(kept);
  }
}

const never = new Promise<never>(() => undefined);

/**
 * The service for a run that is killed at its `nth` request, of one method or of all: before it is sent, or once it took
 * effect. Nothing of the run goes on after that.
 */
export function deadly(control: ControlModel, nth: number, when: 'before' | 'after', method?: keyof ControlModel) {
  let calls = 0;
  let isDead = false;
  let die = (): void => undefined;
  const died = new Promise<'killed'>((resolve) => {
    die = () => resolve('killed');
  });
  const wrapped = new Proxy(control, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return async (...given: unknown[]): Promise<unknown> => {
        if (calls > nth || (calls === nth && isDead)) return never;
        if (method !== undefined && name !== method) return Reflect.apply(member, target, given);
        calls += 1;
        if (calls > nth) return never;
        if (calls < nth) return Reflect.apply(member, target, given);
        if (when === 'after') await Promise.resolve(Reflect.apply(member, target, given)).catch(() => undefined);
        isDead = true;
        die();
        return never;
      };
    },
  });
  return { control: wrapped, died };
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
