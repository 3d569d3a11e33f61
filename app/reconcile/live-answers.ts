import type { SmokeTest } from '../../src/deploy/file/smoke-test.ts';
import { agentAddress, type Deployment } from '../../src/contract/control/deployment.ts';
import { textsToMask } from '../../src/contract/control/secret.ts';
import { maskOf } from '../../src/contract/masking/mask.ts';
import { hashOfTest, toBaselineRequest } from '../../src/deploy/smoke/kept-baselines.ts';
import { type Note, withNotesOnce } from '../../src/deploy/rules/note.ts';
import type { Sample } from '../../src/deploy/rules/verdict-types.ts';
import { storableText } from '../../src/kit/json-text.ts';
import type { Ended, IntentFields, IntentHeader, LiveAnswers, Testing, UnsentIntent } from './intent.ts';
import { deploysCommit, type DeployTerms } from './deploy-request.ts';
import type { TestAnswers } from '../../src/deploy/machine/state.ts';
import type { ReconcileContext } from './reconcile-context.ts';
import type { Baseline } from './store.ts';

// What the live revision answered before a change, for tests that compare the new one with it.

/** The tests of an intent that compare with the live revision. */
export const comparingTests = ({ terms }: Pick<IntentHeader, 'terms'>): SmokeTest[] =>
  terms.smokeTests.filter(({ series }) => series?.kind === 'live');

/**
 * The live revision that a request is to be compared with, once both can't answer at the same time; undefined where
 * nothing is compared, or nothing answers.
 */
export function comparedRevision(
  intent: UnsentIntent,
  deployment: Deployment,
): Pick<LiveAnswers, 'revisionId' | 'address'> | undefined {
  const { active_revision_id: revisionId } = deployment;
  const address = agentAddress(deployment);
  const isCompared = deploysCommit(intent.sending) && comparingTests(intent).length > 0;
  if (!isCompared || !revisionId || !address || !URL.canParse(address)) return undefined;
  return { revisionId, address };
}

/** The next test that the live revision is to be sent before the change. */
export const testToMeasure = (intent: Pick<IntentFields, 'terms' | 'live'>): SmokeTest | undefined =>
  comparingTests(intent).find(({ name }) => {
    const found = intent.live?.answers.find(({ test }) => test === name);
    return !found || found.isOpen;
  });

/**
 * What the live revision answered to a test before the change; undefined where nothing was measured of the one that
 * served when this intent's request was sent.
 */
export function answeredBefore(
  { live, how, former }: Pick<IntentFields, 'live' | 'how' | 'former'>,
  { name }: SmokeTest,
): readonly Sample[] | undefined {
  if (!live || how !== 'triggered' || live.revisionId !== former?.live) return undefined;
  return live.answers.find(({ test }) => test === name)?.samples;
}

/** The intent with notes, each once. */
export function withNotes<I extends IntentHeader>(intent: I, more: DeployTerms['notes']): I {
  const { terms } = intent;
  return { ...intent, terms: { ...terms, notes: withNotesOnce(terms.notes, more) } };
}

/** What to say of tests that have nothing to compare with. */
export const notesOfUncompared = (intent: Testing): Note[] =>
  (intent.hold?.live === undefined ? comparingTests(intent) : [])
    .filter((test) => !answeredBefore(intent, test))
    .map(({ name: test }) => ({ code: 'uncompared', test }));

/** The most that is stored of all answers with one intent (characters of JSON). */
const maxCharacters = 1_000_000;

/** The answers with those of one more test, in place of earlier ones of it; without their samples where that is too much. */
export function putAnswers<T extends TestAnswers>(all: readonly T[], more: T): T[] {
  const others = all.filter(({ test }) => test !== more.test);
  const fits = JSON.stringify([...others, more]).length <= maxCharacters;
  return [...others, fits ? more : { ...more, samples: [] }];
}

/** What is kept of answers with the revision that gave them: none where a name in them holds a secret of the deployment. */
export function baselinesOf(
  { terms }: Pick<IntentHeader, 'terms'>,
  revisionId: string,
  answers: readonly (TestAnswers & { takenAt: number })[],
  { secrets }: Pick<Deployment, 'secrets'>,
): Baseline[] {
  const mask = maskOf(textsToMask(secrets));
  return answers.flatMap(({ test: name, samples, takenAt }) => {
    const test = terms.smokeTests.find((each) => each.name === name);
    const request = samples.length > 0 ? toBaselineRequest(samples, (text) => storableText(mask(text))) : undefined;
    return test && request ? [{ revisionId, testHash: hashOfTest(test), takenAt, ...request }] : [];
  });
}

/** The intent after its end, without what only tests need. What measuring left at the live revision is removed first. */
export async function withoutAnswers(
  { context: { smoke, agentAt }, signal }: ReconcileContext,
  intent: Ended,
): Promise<Ended> {
  const { live, compared: _, ...rest } = intent;
  if (!live || rest.revisionId !== undefined || !rest.smoke) return rest;
  await smoke.cleanUp(intent, agentAt(live.address), signal);
  const { smoke: __, ...ended } = rest;
  return ended;
}
