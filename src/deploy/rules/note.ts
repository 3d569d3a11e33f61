import { isDeepStrictEqual } from 'node:util';
import type { HoldDecision } from '../../contract/control/revision.ts';
import type { FrozenFacts } from './environment-gate.ts';
import type { HoldState } from './hold-state.ts';
import type { Coded } from '../../kit/coded.ts';
import type { Verify } from '../file/desired.ts';
import type { PlanNoteFacts } from './plan-types.ts';

/** What a person has to know of a deploy besides its outcome. `text` is that of the service, or a finished sentence. */
export interface NoteFacts
  extends
    PlanNoteFacts,
    Record<'deployments-unlisted' | 'secrets-unmasked' | 'secrets-kept', unknown>,
    Record<'plan-secrets-uncompared', unknown>,
    Record<
      'verdict-unreported' | 'verdict-not-sent' | 'answers-unkept' | 'journal-unwritten' | 'production-unread',
      { text: string }
    >,
    Record<'unavailable' | 'file' | 'smoke-tests', { text: string }> {
  'not-offered': { verify: Verify };
  refused: { verify: Verify; text: string };
  uncompared: { test: string };
  'answers-kept': { tests: number; revisionId: string; oldest: string };
  'answers-too-few': { tests: number; fewest: number; revisionId: string };
  /** The service does not stop the agent of a preview that nobody uses. */
  'not-scaled-to-zero': unknown;
  /** `open`: how many had not come to an end; absent: none had. */
  'conversations-forgotten': { open?: number };
  /** The environment is frozen; `isIgnored`: and it is deployed all the same. */
  frozen: FrozenFacts & { isIgnored: boolean };
  /** The App may not read whether the GitHub environment is protected. */
  'protection-unread': { environment: string };
  'ref-moved': { own: string; head: string };
  'earlier-unreported': { name: string };
  promoted: { name: string; revisionId: string; commit: string; isCopied: boolean };
  'live-unreported': { revisionId: string };
  'decided-otherwise': { revisionId: string; decision: HoldDecision; hold: HoldState['kind'] };
  'log-unread': { log: string; text?: string };
  'build-warning': { warning: string };
}
/** A code with its facts. Its sentence is made in `words`. */
export type Note = Coded<NoteFacts>;

/** The notes with more, each once. Strings are sentences of the deploy file, and notes that were stored without a code. */
export const withNotesOnce = <T extends Note | string>(all: readonly T[], more: readonly T[]): T[] =>
  more.reduce<T[]>(
    (some, note) => (some.some((each) => isDeepStrictEqual(each, note)) ? some : [...some, note]),
    [...all],
  );
