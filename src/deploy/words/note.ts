import { frozenWords } from './freeze.ts';
import { say, type Sayings } from '../../kit/coded.ts';
import { shortCommit } from '../../contract/control/repo-ref.ts';
import { asSentence } from '../../kit/plain-text.ts';
import type { HoldState } from '../rules/hold-state.ts';
import type { Note, NoteFacts } from '../rules/note.ts';
import type { Rollout } from '../rules/rollout-types.ts';
import { planNotes } from './plan.ts';
import { counted } from './verdict-table/words.ts';

const heldOtherwise: Record<HoldState['kind'], string> = {
  none: 'it is no longer held',
  pending: 'it is not held yet',
  held: 'it is still held',
  promoted: 'another client promoted it first',
  discarded: 'it was discarded before',
  ended: 'it had ended before',
};

const notPossible = (verify: string, why: string): string =>
  `verify: ${verify} is not possible: ${why}. The revision is tested once it is live`;

const notes: Sayings<NoteFacts> = {
  ...planNotes,
  'not-offered': ({ verify }) => notPossible(verify, 'this service does not hold revisions'),
  refused: ({ verify, text }) => notPossible(verify, text),
  unavailable: ({ text }) => `The revision is tested once it is live: ${text}`,
  uncompared: ({ test }) => `smoke test ${test} has no live revision to be compared with: one right answer is enough`,
  'answers-kept': ({ tests, revisionId, oldest }) =>
    `${counted(tests, 'smoke test is', 'smoke tests are')} compared with answers of the live revision ${revisionId} that were kept, the oldest from ${oldest}`,
  'answers-too-few': ({ tests, fewest, revisionId }) =>
    `${counted(tests, 'smoke test proves nothing', 'smoke tests prove nothing')}, because the live revision ${revisionId} gave fewer than ${fewest} answers before the change`,
  'plan-secrets-uncompared': () =>
    'the values of secrets were not compared with those of the plan, which was made with another key; their names were',
  'not-scaled-to-zero': () =>
    'this service does not stop agents that nobody uses: the preview runs until it is removed',
  frozen: ({ isIgnored, ...facts }) =>
    `${frozenWords(facts)}${isIgnored ? '; it is deployed all the same, because ignore-freeze says so' : '; until then nothing is deployed to it'}`,
  'protection-unread': ({ environment }) =>
    `the App may not read the protection rules of the environment ${environment}, so they do not hold this deploy: an owner has to accept its permission Actions (read) on the page of the installation`,
  'ref-moved': ({ own, head }) =>
    `this run is of commit ${own}, and the ref has moved on to ${head}, which is what the service builds`,
  promoted: ({ name, revisionId, commit, isCopied }) =>
    `it gets ${isCopied ? 'the build' : 'the commit'} that ${name} serves: revision ${revisionId} of ${shortCommit(commit)}`,
  'earlier-unreported': ({ name }) =>
    `this service keeps no verdicts, so it is not known whether smoke tests passed on ${name}: let this step need the one that deploys it`,
  'live-unreported': ({ revisionId }) => `the service does not report the live revision ${revisionId}`,
  'decided-otherwise': ({ revisionId, decision, hold }) =>
    `revision ${revisionId} was to be ${decision}, but ${heldOtherwise[hold]}`,
  'build-warning': ({ warning }) => `the build warns: ${asSentence(warning)}`,
  'log-unread': ({ log, text }) =>
    text === undefined ? `this service does not offer ${log} logs` : `the ${log} log could not be read: ${text}`,
  'deployments-unlisted': () =>
    'this service does not list deployments, so none is found by its name: give deployment-id where it is known',
  'secrets-unmasked': () =>
    'the service hides the values of secrets: only those given here are masked in logs and test results',
  'conversations-forgotten': ({ open }) =>
    `${open === undefined ? 'conversations are' : counted(open, 'conversation is', 'conversations are')} not tried: what the former revision reported of them ended with the interrupted run`,
  'secrets-kept': () => 'the service hides the former values of the secrets, so the rollback keeps the new ones',
  'verdict-unreported': ({ text }) => `the verdict of the smoke tests is not reported to the service: ${text}`,
  'verdict-not-sent': ({ text }) => `the verdict of the smoke tests could not be reported to the service: ${text}`,
  'answers-unkept': ({ text }) => `the service could not keep or return what the smoke tests measured: ${text}`,
  'production-unread': ({ text }) =>
    `the deployment that this is a preview of could not be read, so nothing is compared with it: ${text}`,
  'journal-unwritten': ({ text }) =>
    `how far this deploy is could not be kept, so it can't be resumed from here: ${text}`,
  file: ({ text }) => text,
  'smoke-tests': ({ text }) => text,
};

/** The sentence of a note, without a full stop. It may hold text of the service. */
export const noteText = (note: Note): string => say(notes, note);

/** How many warnings of a build are repeated. */
const maxWarnings = 10;

/** What a person has to know of the build. */
export const notesOnBuild = ({ buildWarnings = [] }: Pick<Rollout, 'buildWarnings'>): Note[] =>
  buildWarnings.slice(0, maxWarnings).map((warning) => ({ code: 'build-warning', warning }));
