import * as fc from 'fast-check';
import type { IntentFields } from '../../../app/reconcile/intent.ts';
import { command, comment, setting, soon, type Command, type History, type Setting } from './commands.ts';
import type { ModelRevision, ModelRevisions } from './model-revisions.ts';
import type { Simulation } from './simulation.ts';
import { begin, deploymentIds } from './terms.ts';

/** Long enough for what was pushed to be proven, as a rule. */
const later = fc.oneof(soon, fc.integer({ min: 60_000, max: 600_000 }));

const good: fc.Arbitrary<Command> = fc.record({
  after: later,
  do: fc.constant('push'),
  fate: fc.constant('good'),
  words: fc.constant('plain'),
  paths: fc.constant('agent'),
  arrive: fc.tuple(fc.integer({ min: 0, max: 500 })),
});

/** A person steers production; other commands are drawn as everywhere. */
const steered: fc.Arbitrary<Command> = fc.record({
  after: later,
  do: fc.constantFrom('rollback', 'redeploy'),
  deployment: fc.constant(1),
  arrive: fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 0, maxLength: 2 }),
});

/** A person promotes what the first environment serves. */
const promoted: fc.Arbitrary<Command> = fc.record({
  after: later,
  do: fc.constant('promote'),
  deployment: fc.constant(0),
  arrive: fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 1, maxLength: 2 }),
});

const holding = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom('first' as const, 'second' as const) },
);

const frozen = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 600_000, max: 5_400_000 }) },
);

/** Two environments in order, of which the second may hold, or be frozen for a while. */
export const promotedSetting: fc.Arbitrary<Setting> = fc
  .tuple(setting, fc.record({ pinsCommits: fc.boolean(), copiesBuilds: fc.boolean() }), holding, frozen)
  .map(([drawn, offered, holds, frozenMs]) => ({
    ...drawn,
    builder: 'app' as const,
    promotes: true,
    holding: holds,
    frozenMs,
    smokeTests: drawn.smokeTests || drawn.compares === true,
    deployments: 2,
    offers: { ...drawn.offers, ...offered },
  }));

/** What happens where the second of two environments gets what the first has proven. */
export const promotedCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 8, arbitrary: command(soon) },
  { weight: 3, arbitrary: good },
  { weight: 2, arbitrary: steered },
  { weight: 1, arbitrary: promoted },
  { weight: 2, arbitrary: comment },
);

/** Histories of two environments in order, in which the second gets what the first has proven. */
export const promotedHistories = (maxCommands: number): fc.Arbitrary<History> =>
  fc.record({
    setting: promotedSetting,
    commands: fc.array(promotedCommand, { minLength: 1, maxLength: maxCommands }),
  });

/** What an intent promotes. */
const fromOf = ({ sending }: IntentFields) => (sending.kind === 'promote' ? sending.from : undefined);

/** The deploys of the first environment that proved their revision. */
const proofs = (intents: readonly IntentFields[]): IntentFields[] =>
  intents.filter(
    ({ end, verdict, sending }) => end?.kind === 'deployed' && verdict?.kind === 'passed' && sending.kind === 'restate',
  );

/** A revision that the App made of what was to be promoted, and the intent that it was made for. */
interface PromotedRevision {
  revision: ModelRevision;
  intent: IntentFields;
}

/**
 * Production gets what staging has proven, and nothing else: each revision once, in the order in which they were proven,
 * and none by itself after a person took one back. The last one that staging proved is requested.
 */
export function promotedInOrder(
  simulation: Simulation,
  intents: ReadonlyMap<string, readonly IntentFields[]>,
): string[] {
  const [firstId, secondId] = deploymentIds;
  const held = simulation.control.deployments.get(secondId);
  if (!simulation.setting.promotes || !held) return [];
  const earlier = intents.get(firstId) ?? [];
  const later = intents.get(secondId) ?? [];
  const promoted = promotedRevisions(held, later);
  return [
    ...promoted.flatMap((each) => unproven(simulation, each, earlier)),
    ...promoted.flatMap(({ intent, revision }) =>
      intent.cause.kind === 'promotion' && isPastRollback(later, intent, revision)
        ? [`${revision.id} was promoted by itself after a person rolled production back`]
        : [],
    ),
    ...promoted.flatMap(({ revision }) =>
      revision.madeAt < begin + (simulation.setting.frozenMs ?? 0)
        ? [`${revision.id} was made while its environment was frozen`]
        : [],
    ),
    ...overtaken(promoted),
    ...doubled(promoted),
    ...forgotten(simulation, earlier, later),
    ...arrivedByThemselves(simulation, earlier, later),
  ];
}

const promotedRevisions = (held: ModelRevisions, later: readonly IntentFields[]): PromotedRevision[] =>
  held.all.flatMap((revision) => {
    const intent = later.find(({ id, sending }) => id === revision.madeBy.key && sending.kind === 'promote');
    return intent && revision.madeBy.who === 'app' ? [{ revision, intent }] : [];
  });

/** A revision of a commit, or of a build, that the first environment had not proven by then. */
function unproven(
  { control: { offers, deployments } }: Simulation,
  { revision, intent }: PromotedRevision,
  earlier: readonly IntentFields[],
): string[] {
  const from = fromOf(intent);
  const tested = earlier.filter((each) => each.revisionId === from?.revisionId && each.verdict?.kind === 'passed');
  // A rollback's intent has the commit that it takes back.
  const ofCommit = deployments.get(deploymentIds[0])?.all.find(({ id }) => id === from?.revisionId)?.commit;
  const isProven = ofCommit === intent.commit && tested.some(({ end }) => end && end.at <= revision.madeAt);
  const found = isProven ? [] : [`${revision.id} was made of ${from?.revisionId} before it was proven`];
  if (offers.copiesBuilds && revision.copied?.id !== from?.revisionId)
    found.push(`${revision.id} is not the build of ${from?.revisionId}`);
  const isExact = offers.pinsCommits === true || offers.copiesBuilds === true;
  if (isExact && revision.commit !== undefined && revision.commit !== intent.commit)
    found.push(`${revision.id} is of ${revision.commit}, and ${intent.commit} was to be promoted`);
  return found;
}

/** Whether a person had rolled back, and no one had promoted since, when a revision was made. */
function isPastRollback(later: readonly IntentFields[], intent: IntentFields, { madeAt }: ModelRevision): boolean {
  const back = later.findLast(
    ({ cause, end, seq }) =>
      cause.kind === 'rollback' && end?.kind === 'deployed' && end.at < madeAt && seq !== intent.seq,
  );
  const resumed = later.findLast(
    ({ cause, createdAt, sending }) => cause.kind === 'redeploy' && sending.kind === 'promote' && createdAt < madeAt,
  );
  return back !== undefined && (resumed === undefined || resumed.seq < back.seq);
}

function overtaken(promoted: readonly PromotedRevision[]): string[] {
  const automatic = promoted.filter(({ intent }) => intent.cause.kind === 'promotion');
  return automatic.flatMap(({ revision, intent }, nth) => {
    const before = automatic.slice(0, nth).find((each) => orderOf(each.intent) > orderOf(intent));
    return before ? [`${revision.id} overtook ${before.revision.id}, which was proven later`] : [];
  });
}

const orderOf = (intent: IntentFields): number => fromOf(intent)?.order ?? 0;

function doubled(promoted: readonly PromotedRevision[]): string[] {
  const automatic = promoted.filter(({ intent }) => intent.cause.kind === 'promotion');
  return [...Map.groupBy(automatic, ({ intent }) => fromOf(intent)?.revisionId)].flatMap(([revisionId, made]) =>
    made.length > 1 ? [`${revisionId} was promoted ${made.length} times`] : [],
  );
}

function forgotten(
  { setting: { holding: held } }: Simulation,
  earlier: readonly IntentFields[],
  later: readonly IntentFields[],
): string[] {
  const last = proofs(earlier).at(-1);
  if (!last || later.some((intent) => fromOf(intent)?.revisionId === last.revisionId)) return [];
  if (held === 'second' && last.promoted?.some(({ code }) => code === 'held')) return [];
  return [`${last.revisionId} of ${last.commit} is proven, and was requested of no one`];
}

/** What was sent to an environment that holds, and that no person requested. */
function arrivedByThemselves(
  { setting: { holding: held } }: Simulation,
  earlier: readonly IntentFields[],
  later: readonly IntentFields[],
): string[] {
  const inHeld = held === 'first' ? earlier : held === 'second' ? later : [];
  return inHeld.flatMap(({ id, cause, sentAt, sending }) =>
    sentAt !== undefined && sending.kind !== 'redeploy' && cause.kind !== 'redeploy'
      ? [`${cause.kind} ${id} was sent to an environment that holds`]
      : [],
  );
}
