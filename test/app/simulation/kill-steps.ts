import type { Fared } from './killed-at.ts';

/** The named moments at which the App is killed, in the order in which a push meets them, and what was done by then. */
export const killSteps: Readonly<Record<string, string>> = {
  stored: 'the delivery is stored and not answered',
  measuring: 'the live revision is measured, nothing is sent',
  measured: 'the live revision was measured, nothing is sent',
  'before-send': 'the intent to send is stored, the PATCH is not sent',
  sent: 'the PATCH is answered, its answer is not stored',
  'answer-stored': 'the revision is stored and not followed',
  'check-written': 'the check run is written, its id is not stored',
  'followed-once': 'the revision was looked at once',
  held: 'the revision is held, its smoke tests have started',
  'before-decision': 'the decision to promote it is stored, and not sent',
  decided: 'the promotion is answered, its answer is not stored',
  'smoke-began': 'the revision is live, its smoke tests have started',
  'before-conclusion': 'the verdict is stored, nothing follows from it yet',
};

/** The steps at a service that holds revisions. */
export const heldSteps: readonly string[] = ['held', 'before-decision', 'decided'];

/** The steps where tests compare with the live revision. */
export const comparingSteps: readonly string[] = ['measuring', 'measured'];

/** The steps that a promotion meets by itself: it comes with no delivery, and its tests compare with nothing. */
export const promotionSteps: readonly string[] = Object.keys(killSteps).filter(
  (step) => step !== 'stored' && !comparingSteps.includes(step),
);

/** How a push comes: one delivery; or three of one GUID and another of the same commit, all at once. */
export const deliveries = [
  { copies: 1, words: 'once' },
  { copies: 3, words: 'three times, and as another' },
] as const;

/** One line of the table that `docs/reliability.md` holds. */
export const rowOf = (
  step: string,
  delivered: string,
  { died, revisions, serves, check, checks, open }: Omit<Fared, 'acknowledged'>,
): string =>
  `| \`${step}\` | ${killSteps[step]} | ${delivered} | ${died ?? 'not killed'} | ${revisions} | ${serves ? 'live' : 'not live'} | ${check} | ${checks} | ${open} |`;

export const tableHead = [
  '| killed at | what was done | delivered | ended by | revisions | pushed commit | its check | its check runs | left open |',
  '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
];
