import type { CallOptions } from '../../contract/call-options.ts';
import type { AuditLog, ControlRecords, ControlService } from '../../contract/control/service.ts';
import { ifFound } from '../../contract/service-error.ts';
import type { Receipt } from '../../contract/receipt.ts';
import { canonicalJson } from '../../kit/json-object.ts';
import { checkReceipt } from '../rules/check-receipt.ts';
import {
  type CheckedReceipt,
  type Claim,
  type ReceiptRecords,
  servingNow,
  type ServingNow,
} from '../rules/receipt-claims.ts';
import { receiptText, sha256, statementOf, testName } from '../words/receipt.ts';

/** The service that a receipt is checked against. */
export interface ReceiptVerifier {
  /** Its base address, as receipts name it. */
  service: string;
  control: Pick<ControlService, 'getDeployment' | 'getRevision'>;
  records: ControlRecords;
  audit: AuditLog;
  options: () => CallOptions;
  /** ms since the epoch */
  now: number;
}

/** What was found of each claim, and whether the revision serves now. */
export interface VerifiedReceipt {
  claims: readonly Claim[];
  now: ServingNow;
}

/**
 * Checks a receipt against a service. Nothing is read where the receipt is of another one: ids of one service mean
 * nothing to another. @param isSigned whether it comes from a signed envelope, whose subject may be the receipt's file
 * @throws ServiceError
 */
export async function verifyReceipt(
  receipt: Receipt,
  isSigned: boolean,
  verifier: ReceiptVerifier,
): Promise<VerifiedReceipt> {
  const { predicate } = receipt;
  const { service, now } = verifier;
  const records = predicate.service.address === service ? await readRecords(receipt, verifier) : {};
  const subject = subjectOf(receipt, isSigned);
  const checked: CheckedReceipt = { predicate, subject, service, records, now, testName };
  return { claims: checkReceipt(checked), now: servingNow(checked) };
}

/** What the subject of a statement is: actions/attest names the file that it signs. */
function subjectOf({ subject: [claimed], predicate }: Receipt, isSigned: boolean): CheckedReceipt['subject'] {
  const statement = statementOf(predicate);
  const [own] = statement.subject;
  const [one, other] = [claimed, own].map((each) => canonicalJson(each?.digest));
  if (one === other && (isSigned || claimed?.name === own?.name)) return 'predicate';
  return isSigned && claimed?.digest['sha256'] === sha256(receiptText(statement)) ? 'receipt' : 'other';
}

async function readRecords(
  { predicate: { deployment, revision, rollback } }: Receipt,
  { control, records, audit, options }: ReceiptVerifier,
): Promise<ReceiptRecords> {
  const found = (await ifFound(control.getDeployment(deployment.id, options()))) ?? null;
  if (found === null) return { deployment: null, deletedAt: await audit.deletionOf(deployment.id, options()) };
  if (!revision) return { deployment: found };
  const { id } = revision;
  const seen = (await ifFound(control.getRevision(found.id, id, options()))) ?? null;
  if (seen === null) return { deployment: found, revision: null };
  const back = rollback?.revision_id;
  return {
    deployment: found,
    revision: seen,
    history: await records.historyOf(found.id, id, options()),
    verdicts: await records.verdictsOf(found.id, id, options()),
    rollback: back == null ? undefined : await records.historyOf(found.id, back, options()),
  };
}
