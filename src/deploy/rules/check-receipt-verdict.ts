import type { StoredVerdict } from '../../contract/control/verdict.ts';
import { shownInstead } from '../../contract/masking/mask.ts';
import type { ReceiptPredicate } from '../../contract/receipt.ts';
import type { CheckedReceipt, Finding } from './receipt-claims.ts';

/** How many verdicts of a revision a service keeps. */
const maxKept = 20;

type ReceiptTest = ReceiptPredicate['verdict']['tests'][number];

/** Whether the service has the verdict of a receipt, with the same evidence. */
export function checkVerdict(checked: CheckedReceipt): Finding {
  const { verdicts } = checked.records;
  if (verdicts === undefined) return { result: 'unknown', code: 'no-verdicts' };
  const found = recordedVerdict(checked);
  if (found) return { result: 'holds', code: 'verdict-recorded', at: found.created_at };
  // A verdict that could not be reported is missing there, and an old one was removed.
  if (verdicts.length === 0) return { result: 'unknown', code: 'no-verdicts' };
  if (verdicts.length >= maxKept) return { result: 'unknown', code: 'verdicts-pruned' };
  return verdictDiffers(verdicts);
}

/** That the service has these verdicts instead. */
export const verdictDiffers = (verdicts: readonly StoredVerdict[]): Finding => ({
  result: 'fails',
  code: 'verdict-differs',
  recorded: [...new Set(verdicts.map(({ kind }) => kind))],
});

/** The verdicts that the run of a receipt reported. */
export const verdictsOfRun = ({ predicate, records }: CheckedReceipt): StoredVerdict[] => {
  const url = predicate.by.workflow?.run_url;
  return url ? (records.verdicts ?? []).filter(({ details_url }) => details_url === url) : [];
};

/** The verdict of the service that is the one of a receipt. */
export function recordedVerdict({ predicate, records, testName }: CheckedReceipt): StoredVerdict | undefined {
  const { result, tests } = predicate.verdict;
  const isSame = (stored: StoredVerdict): boolean =>
    stored.kind === result &&
    stored.reporter === predicate.by.program &&
    stored.tests.length === tests.length &&
    tests.every((test, at) => isSameTest(test, stored.tests[at], { testName, tests: tests.length }));
  return records.verdicts?.find(isSame);
}

function isSameTest(
  test: ReceiptTest,
  stored: StoredVerdict['tests'][number] | undefined,
  { testName, tests }: Pick<CheckedReceipt, 'testName'> & { tests: number },
): boolean {
  return (
    stored !== undefined &&
    isSameName(testName(stored.name), test.name) &&
    stored.kind === test.verdict &&
    stored.attempts === test.attempts &&
    isSameEvidence(test, stored.expectations, tests) &&
    (stored.answers ?? null) === test.answers &&
    (stored.right_answers ?? null) === test.right_answers &&
    stored.first_event_ms === test.first_event_ms &&
    stored.total_ms === test.total_ms
  );
}

/** How many expectations of a test a service is told at most, and of how many tests none. */
const [shownMost, shownFewer, testsWithout] = [50, 10, 20];

/** The expectations of a test and those that held, where its report had all of them. */
function isSameEvidence(
  { expectations, held }: ReceiptTest,
  stored: StoredVerdict['tests'][number]['expectations'],
  tests: number,
): boolean {
  const isCut = [shownMost, shownFewer].includes(stored.length) || (stored.length === 0 && tests > testsWithout);
  if (isCut && expectations > stored.length) return true;
  return expectations === stored.length && held === stored.filter((each) => each.held).length;
}

/** The service may have masked more: it knows all secrets of the agent. */
function isSameName(stored: string, claimed: string): boolean {
  const parts = stored.split(shownInstead);
  let at = 0;
  for (const part of parts) {
    const found = claimed.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return parts.length > 1
    ? claimed.startsWith(parts[0] ?? '') && claimed.endsWith(parts.at(-1) ?? '')
    : stored === claimed;
}
