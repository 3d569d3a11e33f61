import * as fc from 'fast-check';
import type { IntentFields } from '../../../app/reconcile/intent.ts';
import type { SeenCheck } from '../../../src/deploy/rules/after-checks.ts';
import { histories, type Command, type History } from './commands.ts';
import type { ModelRevisions } from './model-revisions.ts';
import type { Simulation } from './simulation.ts';
import { gateMs, gates } from './terms.ts';

/** How long after its checks have passed a commit is surely deployed, if nothing else keeps it (ms). */
const deployedWithinMs = 45 * 60_000;

const state = fc.oneof(
  { weight: 6, arbitrary: fc.constant('passed' as const) },
  { weight: 2, arbitrary: fc.constantFrom('pending' as const, 'failed' as const) },
);
const names = fc.oneof(
  { weight: 2, arbitrary: fc.constant([...gates]) },
  { weight: 1, arbitrary: fc.constantFrom(...gates).map((name) => [name]) },
);
/** The events of a change come late, several times, or are lost. */
const arrive = fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 0, maxLength: 2 });

const checks: fc.Arbitrary<Command> = fc.record({
  after: fc.integer({ min: 0, max: 240_000 }),
  do: fc.constant('checks'),
  commit: fc.nat({ max: 3 }),
  names,
  state,
  arrive,
});

/** Histories in which pushes wait for checks, which come to states between everything else that happens. */
export const gatedHistories = (maxCommands: number): fc.Arbitrary<History> =>
  fc
    .tuple(histories(maxCommands), fc.array(checks, { minLength: 1, maxLength: maxCommands }))
    .map(([{ setting, commands }, changes]) => ({
      setting: {
        ...setting,
        builder: 'app',
        waits: true,
        offers: { ...setting.offers, pinsCommits: true },
      },
      commands: commands.flatMap((command, at) => [command, ...changes.slice(at, at + 1)]),
    }));

/** What the checks of commits were, and when. */
export class CheckHistory {
  readonly #changes: { commit: string; name: string; state: SeenCheck['state']; at: number }[] = [];

  set(commit: string, name: string, to: SeenCheck['state'], at: number): void {
    this.#changes.push({ commit, name, state: to, at });
  }

  /** The times from which on all gates of a commit had passed, until one had not. */
  passed(commit: string): { from: number; to: number }[] {
    const states = new Map<string, SeenCheck['state']>();
    const spans: { from: number; to: number }[] = [];
    for (const each of this.#changes.filter((change) => change.commit === commit)) {
      const before = isPassed(states);
      states.set(each.name, each.state);
      if (isPassed(states) && !before) spans.push({ from: each.at, to: Infinity });
      const last = spans.at(-1);
      if (before && !isPassed(states) && last) last.to = each.at;
    }
    return spans;
  }

  hasFailed(commit: string): boolean {
    return this.#changes.some((each) => each.commit === commit && each.state === 'failed');
  }
}

const isPassed = (states: ReadonlyMap<string, SeenCheck['state']>): boolean =>
  gates.every((name) => states.get(name) === 'passed');

const automatic: readonly string[] = ['push', 'recovery', 'rerun'];

/** No commit is deployed before its checks have passed, none is kept back although they have, and each says why. */
export function afterChecks(
  { checkHistory, setting }: Simulation,
  intents: readonly IntentFields[],
  held: ModelRevisions,
): string[] {
  if (!setting.waits) return [];
  const early = held.all.flatMap(({ id, madeBy, madeAt, commit, again }) => {
    const intent = intents.find((each) => madeBy.who === 'app' && each.id === madeBy.key);
    if (!intent || !automatic.includes(intent.cause.kind) || again || commit === undefined) return [];
    const hadPassed = checkHistory.passed(commit).some(({ from }) => from <= madeAt);
    return hadPassed ? [] : [`${id} of ${commit} was made before its checks had passed`];
  });
  const wrong = intents.flatMap(({ decision, end, commit, createdAt }) => {
    if (end?.kind !== 'skipped' || decision?.kind !== 'skip' || !('code' in decision)) return [];
    if (decision.code === 'checks-failed' && !checkHistory.hasFailed(commit))
      return [`${commit} is reported to have a failed check, and has none`];
    const isKeptBack = checkHistory
      .passed(commit)
      .some(({ from, to }) => from < createdAt + gateMs - deployedWithinMs && to === Infinity);
    return decision.code === 'checks-late' && isKeptBack
      ? [`${commit} is reported to be late, and its checks had passed in time`]
      : [];
  });
  return [...early, ...wrong];
}
