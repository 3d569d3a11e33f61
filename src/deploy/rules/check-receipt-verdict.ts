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
  return { result: 'fails', code: 'verdict-differs', recorded: [...new Set(verdicts.map(({ kind }) => kind))] };
}

/** The verdict of the service that is the one of a receipt. */
export function recordedVerdict({ predicate, records, testName }: CheckedReceipt): StoredVerdict | undefined {
  const { result, tests } = predicate.verdict;
  const isSame = (stored: StoredVerdict): boolean =>
    stored.kind === result &&
    stored.reporter === predicate.by.program &&
    stored.tests.length === tests.length &&
    tests.every((test, at) => isSameTest(test, stored.tests[at], testName));
  return records.verdicts?.find(isSame);
}

function isSameTest(
  test: ReceiptTest,
  stored: StoredVerdict['tests'][number] | undefined,
  testName: (name: string) => string,
): boolean {
  return (
    stored !== undefined &&
    isSameName(testName(stored.name), test.name) &&
    stored.kind === test.verdict &&
    stored.attempts === test.attempts &&
    (stored.answers ?? null) === test.answers &&
    (stored.right_answers ?? null) === test.right_answers &&
    stored.first_event_ms === test.first_event_ms &&
    stored.total_ms === test.total_ms
  );
}

/** The service and the run may have masked different secrets. */
const isSameName = (one: string, other: string): boolean =>
  one === other || one.includes(shownInstead) || other.includes(shownInstead);
