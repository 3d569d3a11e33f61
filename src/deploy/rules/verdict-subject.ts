import { conversationsTest } from '../file/conversations.ts';
import type { NamedVerdict, Verdict } from './verdict-types.ts';

/**
 * Why a verdict is not about the tested revision, in one clause; undefined where it is. Smoke tests ask the address of
 * the deployment, where the live revision answers. The tested one was live when they began, so it is enough to read
 * which one is after them. @param active the live revision after the tests.
 */
export function replacementOf(tested: string, active: string | null): string | undefined {
  if (active === tested) return undefined;
  const what = active === null ? 'it stopped serving' : `revision ${active} replaced it`;
  return `${what} before its smoke tests ended`;
}

/** The verdict as evidence about the tested revision: unproven where another one may have answered. */
export function attributeVerdict(
  verdict: Verdict,
  { tested, active }: { tested: string; active: string | null },
): Verdict {
  const why = replacementOf(tested, active);
  if (why === undefined || verdict.kind === 'none') return verdict;
  const unproven = { kind: 'unproven', because: 'replaced', why } as const;
  return { kind: 'unproven', tests: verdict.tests.map((each) => ({ ...each, verdict: unproven })) };
}

/** Whether a verdict is that on conversations, and none of a smoke test. */
export const isOfConversations = ({ name }: Pick<NamedVerdict, 'name'>): boolean => name === conversationsTest;

/** Why the verdict is not about the revision that was tested, in one clause; undefined where it is. */
export const replacementIn = ({ tests }: Verdict): string | undefined =>
  tests.flatMap(({ verdict }) =>
    verdict.kind === 'unproven' && verdict.because === 'replaced' ? [verdict.why] : [],
  )[0];
