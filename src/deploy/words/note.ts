import { asSentence } from '../../kit/plain-text.ts';
import type { HoldState } from '../rules/hold-state.ts';
import type { Note } from '../rules/note.ts';
import { planNote } from './plan.ts';
import { counted } from './verdict-table/words.ts';

const heldOtherwise: Record<HoldState['kind'], string> = {
  none: 'it is no longer held',
  pending: 'it is not held yet',
  held: 'it is still held',
  promoted: 'another client promoted it first',
  discarded: 'it was discarded before',
  ended: 'it had ended before',
};

/** The sentence of a note, without a full stop. It may hold text of the service. */
export function noteText(note: Note): string {
  switch (note.code) {
    case 'not-offered':
      return notPossible(note.verify, 'this service does not hold revisions');
    case 'refused':
      return notPossible(note.verify, note.text);
    case 'unavailable':
      return `The revision is tested once it is live: ${note.text}`;
    case 'uncompared':
      return `smoke test ${note.test} has no live revision to be compared with: one right answer is enough`;
    case 'answers-kept': {
      const tests = counted(note.tests, 'smoke test is', 'smoke tests are');
      return `${tests} compared with answers of the live revision ${note.revisionId} that were kept, the oldest from ${note.oldest}`;
    }
    case 'answers-too-few': {
      const tests = counted(note.tests, 'smoke test proves nothing', 'smoke tests prove nothing');
      return `${tests}, because the live revision ${note.revisionId} gave fewer than ${note.fewest} answers before the change`;
    }
    case 'ref-moved':
      return `this run is of commit ${note.own}, and the ref has moved on to ${note.head}, which is what the service builds`;
    case 'live-unreported':
      return `the service does not report the live revision ${note.revisionId}`;
    case 'decided-otherwise':
      return `revision ${note.revisionId} was to be ${note.decision}, but ${heldOtherwise[note.hold]}`;
    case 'build-warning':
      return `the build warns: ${asSentence(note.warning)}`;
    case 'log-unread':
      return note.text === undefined
        ? `this service does not offer ${note.log} logs`
        : `the ${note.log} log could not be read: ${note.text}`;
    case 'deployments-unlisted':
      return 'this service does not list deployments, so none is found by its name: give deployment-id where it is known';
    case 'secrets-unmasked':
      return 'the service hides the values of secrets: only those given here are masked in logs and test results';
    case 'secrets-kept':
      return 'the service hides the former values of the secrets, so the rollback keeps the new ones';
    case 'verdict-unreported':
      return `the verdict of the smoke tests is not reported to the service: ${note.text}`;
    case 'verdict-not-sent':
      return `the verdict of the smoke tests could not be reported to the service: ${note.text}`;
    case 'answers-unkept':
      return `the service could not keep or return what the smoke tests measured: ${note.text}`;
    case 'journal-unwritten':
      return `how far this deploy is could not be kept, so it can't be resumed from here: ${note.text}`;
    default:
      return 'text' in note ? note.text : planNote(note);
  }
}

const notPossible = (verify: string, why: string): string =>
  `verify: ${verify} is not possible: ${why}. The revision is tested once it is live`;
