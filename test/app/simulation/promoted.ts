import * as fc from 'fast-check';
import type { IntentFields } from '../../../app/reconcile/intent.ts';
import { command, setting, soon, type Command, type History } from './commands.ts';
import type { ModelRevision, ModelRevisions } from './model-revisions.ts';
import type { Simulation } from './simulation.ts';
import { deploymentIds } from './terms.ts';

/** A person steers production; other commands are drawn as everywhere. */
const steered: fc.Arbitrary<Command> = fc.record({
  after: soon,
  do: fc.constantFrom('rollback', 'redeploy'),
  deployment: fc.constant(1),
  arrive: fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 0, maxLength: 2 }),
});

/** Histories of two environments in order, in which the second gets what the first has proven. */
export const promotedHistories = (maxCommands: number): fc.Arbitrary<History> =>
  fc.record({
    setting: fc
      .tuple(setting, fc.record({ pinsCommits: fc.boolean(), copiesBuilds: fc.boolean() }))
      .map(([drawn, offered]) => ({
        ...drawn,
        builder: 'app' as const,
        promotes: true,
        deployments: 2,
        offers: { ...drawn.offers, ...offered },
      })),
    commands: fc.array(fc.oneof({ weight: 8, arbitrary: command(soon) }, { weight: 1, arbitrary: steered }), {
      minLength: 1,
      maxLength: maxCommands,
    }),
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
    ...overtaken(promoted),
    ...doubled(promoted),
    ...forgotten(earlier, later),
  ];
}

const promotedRevisions = (held: ModelRevisions, later: readonly IntentFields[]): PromotedRevision[] =>
  held.all.flatMap((revision) => {
    const intent = later.find(({ id, sending }) => id === revision.madeBy.key && sending.kind === 'promote');
    return intent && revision.madeBy.who === 'app' ? [{ revision, intent }] : [];
  });

/** A revision of a commit, or of a build, that the first environment had not proven by then. */
function unproven(
  { control: { offers } }: Simulation,
  { revision, intent }: PromotedRevision,
  earlier: readonly IntentFields[],
): string[] {
  const from = fromOf(intent);
  const tested = earlier.filter((each) => each.revisionId === from?.revisionId && each.verdict?.kind === 'passed');
  const isProven = tested.some(({ end, commit }) => end && end.at <= revision.madeAt && commit === intent.commit);
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

function forgotten(earlier: readonly IntentFields[], later: readonly IntentFields[]): string[] {
  const last = proofs(earlier).at(-1);
  if (!last || later.some((intent) => fromOf(intent)?.revisionId === last.revisionId)) return [];
  return [`${last.revisionId} of ${last.commit} is proven, and was requested of no one`];
}
