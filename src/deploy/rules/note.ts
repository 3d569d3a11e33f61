import { isDeepStrictEqual } from 'node:util';
import type { HoldDecision } from '../../contract/control/revision.ts';
import type { HoldState } from './hold-state.ts';
import type { PlanNote } from './plan-types.ts';
import type { VerificationNote } from './verification.ts';

/** What a person has to know of a deploy besides its outcome: a code with its facts. Its sentence is made in `words`. */
export type Note =
  | VerificationNote
  | PlanNote
  | { code: 'uncompared'; test: string }
  | { code: 'answers-kept'; tests: number; revisionId: string; oldest: string }
  | { code: 'answers-too-few'; tests: number; fewest: number; revisionId: string }
  | { code: 'ref-moved'; own: string; head: string }
  | { code: 'live-unreported'; revisionId: string }
  | { code: 'decided-otherwise'; revisionId: string; decision: HoldDecision; hold: HoldState['kind'] }
  | { code: 'log-unread'; log: string; text?: string }
  | { code: 'deployments-unlisted' | 'secrets-unmasked' | 'secrets-kept' }
  | { code: 'verdict-unreported' | 'verdict-not-sent' | 'answers-unkept' | 'journal-unwritten'; text: string }
  | { code: 'build-warning'; warning: string }
  /** A finished sentence of another part. */
  | { code: 'file' | 'smoke-tests'; text: string };

/** The notes with more, each once. Strings are sentences of the deploy file, and notes that were stored without a code. */
export const withNotesOnce = <T extends Note | string>(all: readonly T[], more: readonly T[]): T[] =>
  more.reduce<T[]>(
    (some, note) => (some.some((each) => isDeepStrictEqual(each, note)) ? some : [...some, note]),
    [...all],
  );
