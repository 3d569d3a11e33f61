import type { ReceiptPredicate, ReceiptWorkflow } from '../contract/receipt.ts';
import { maskOf } from '../contract/masking/mask.ts';
import type { RunSubject } from '../deploy/file/desired.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import { receiptOf, receiptText } from '../deploy/words/receipt.ts';
import { messageOf } from '../kit/errors.ts';
import { addressOf } from '../kit/base-address.ts';
import { version } from '../kit/version.ts';
import { writeWhole } from './written-files.ts';

/** Where a receipt is written, and who deploys. */
export interface ReceiptTarget {
  path: string;
  /** Where its predicate is written alone, as actions/attest reads it. */
  predicatePath?: string | undefined;
  program: ReceiptPredicate['by']['program'];
  workflow?: ReceiptWorkflow | undefined;
  /** Called once its files are there. */
  written: () => void;
  /** Called with the reason where they could not be written, which does not change the outcome. */
  failed: (why: string) => void;
}

/** The run that the receipt is about. */
interface ReceiptRun {
  mode: RunSubject['mode'];
  baseUrl: string;
  startedAt: number;
  endedAt: number;
  /** All secrets of the run. */
  secrets: Iterable<string>;
}

/** Writes the receipt of a run that ended, unless it deployed nothing. Never rejects: the outcome is known already. */
export async function writeReceipt(
  outcome: Outcome,
  { baseUrl, secrets, ...run }: ReceiptRun,
  { path, predicatePath, program, workflow, written, failed }: ReceiptTarget,
): Promise<void> {
  try {
    const service = addressOf(baseUrl);
    const receipt = receiptOf(outcome, { ...run, service, program, workflow, version, mask: maskOf(secrets) });
    if (!receipt) return;
    await writeWhole(path, receiptText(receipt), 0o644);
    if (predicatePath !== undefined) await writeWhole(predicatePath, receiptText(receipt.predicate), 0o644);
    written();
  } catch (error) {
    failed(messageOf(error));
  }
}
