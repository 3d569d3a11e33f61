import { conversationsTest } from '../file/smoke-test.ts';
import { whyReplaced } from '../words/unproven.ts';
import type { NamedVerdict, Verdict } from './verdict-types.ts';

/**
 * The verdict as evidence about the tested revision: unproven where another one may have answered. Smoke tests ask the
 * address of the deployment, where the live revision answers. The tested one was live when they began, so it is enough
 * to read which one is after them. @param active the live revision after the tests.
 */
export function attributeVerdict(
  verdict: Verdict,
  { tested, active }: { tested: string; active: string | null },
): Verdict {
  if (active === tested || verdict.kind === 'none') return verdict;
  const unproven = { kind: 'unproven', because: 'replaced', why: whyReplaced(active) } as const;
  return { kind: 'unproven', tests: verdict.tests.map((each) => ({ ...each, verdict: unproven })) };
}

/** Whether a verdict is that on conversations, and none of a smoke test. */
export const isOfConversations = ({ name }: Pick<NamedVerdict, 'name'>): boolean => name === conversationsTest;

/** Whether another revision than the tested one may have answered. */
export const isReplaced = ({ tests }: Verdict): boolean =>
  tests.some(({ verdict }) => verdict.kind === 'unproven' && verdict.because === 'replaced');
