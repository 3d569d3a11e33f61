import { connectAuditLog } from '../client/audit-log.ts';
import { connectControlRecords } from '../client/records.ts';
import { connectControlService } from '../client/control.ts';
import { readEntryOptions } from '../deploy/file/entry-options.ts';
import type { Inputs } from '../deploy/file/input-table.ts';
import { verifyReceipt, type VerifiedReceipt } from '../deploy/machine/verify-receipt.ts';
import { claimLine, findingText, servingLine } from '../deploy/words/receipt-claims.ts';
import { asLine } from '../deploy/words/sanitize.ts';
import { version } from '../kit/version.ts';
import { addressOf } from '../kit/base-address.ts';
import { keyOf, keyProblems } from './issue-key.ts';
import { exitCodes, refuseFailure, refuseInput, type ExitCode } from './problems.ts';
import { type FoundReceipt, readReceipts } from './receipt-file.ts';
import type { Terminal } from './terminal.ts';

/** How long all reads together may take (ms). */
const withinMs = 60_000;

/** A receipt, and what was found of its claims. */
interface Verified extends VerifiedReceipt {
  found: FoundReceipt;
}

/** The whole command: checks every claim of the receipts in a file against the service. */
export async function verifyReceiptCommand(path: string, inputs: Inputs, terminal: Terminal): Promise<ExitCode> {
  terminal.hide(inputs['api-key'] ?? '');
  const read = readReceipts(path);
  const entry = readEntryOptions(inputs);
  const problems = [...(read.ok ? [] : read.problems), ...(entry.ok ? [] : entry.problems), ...keyProblems(inputs)];
  if (!read.ok || !entry.ok || problems.length > 0) return refuseInput(problems, exitCodes.wrongUsage, terminal);
  const { options } = entry;
  const key = await keyOf({ ...options, timeoutMs: 0 }, terminal);
  if (typeof key === 'number') return key;
  const settings = { ...options, apiKey: key.apiKey, userAgent: `landfall-cli/${version}` };
  const control = connectControlService(settings);
  const [records, audit] = [connectControlRecords(settings), connectAuditLog(settings)];
  const deadline = Date.now() + withinMs;
  const verifier = {
    service: addressOf(options.baseUrl),
    control,
    records,
    audit,
    options: () => ({ deadline }),
    now: Date.now(),
  };
  try {
    const verified: Verified[] = [];
    for (const found of read.receipts) {
      verified.push({ found, ...(await verifyReceipt(found.receipt, found.isSigned, verifier)) });
    }
    return conclude(verified, terminal);
  } catch (error) {
    return refuseFailure(error, terminal);
  } finally {
    await Promise.all([control.close(), records.close(), audit.close()]);
  }
}

const signature =
  'The signature was not checked. Check it with gh attestation verify, which needs the receipt and its repository.';

function conclude(verified: readonly Verified[], terminal: Terminal): ExitCode {
  for (const each of verified) for (const line of linesOf(each)) terminal.print(line);
  const passes = verified.every(({ claims }) => claims.every(({ result }) => result !== 'fails'));
  terminal.print(
    passes ? 'Nothing contradicts the receipt.' : 'The service contradicts the receipt. Do not rely on it.',
  );
  terminal.print(signature);
  terminal.conclude({
    outcome: passes ? 'verified' : 'refuted',
    passes,
    signature: 'not-checked',
    receipts: verified.map(({ found: { receipt, isSigned }, claims, now }) => ({
      operation: receipt.predicate.operation,
      outcome: receipt.predicate.outcome,
      deployment_id: receipt.predicate.deployment.id,
      revision_id: receipt.predicate.revision?.id ?? null,
      in_envelope: isSigned,
      claims: claims.map((each) => ({
        claim: each.claim,
        result: each.result,
        code: each.code,
        text: findingText(each),
      })),
      now: { state: now.code, revision_id: now.code === 'replaced' ? now.by : null },
    })),
  });
  return passes ? exitCodes.passes : exitCodes.fails;
}

function linesOf({ found: { receipt }, claims, now }: Verified): string[] {
  const { operation, outcome, deployment, ended_at } = receipt.predicate;
  const name = asLine(deployment.name ?? deployment.id, 100);
  return [
    `Receipt: ${operation} of ${name}, ${asLine(outcome, 40)}, ${ended_at}`,
    ...claims.map(claimLine),
    servingLine(now),
  ];
}
