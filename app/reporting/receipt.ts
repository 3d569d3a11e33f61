import { passesBy, type OutcomeKind } from '../../src/contract/outcome-kinds.ts';
import { receiptOf, receiptText } from '../../src/deploy/words/receipt.ts';
import type { Outcome } from '../../src/deploy/machine/outcome-types.ts';
import { version } from '../../src/kit/version.ts';
import type { IntentFields, IntentOutcomeKind } from '../reconcile/intent.ts';

/** The run of the App that a receipt is about. */
interface ReceiptRun {
  /** The base address of the control service. */
  service: string;
  /** ms since the epoch */
  startedAt: number;
  endedAt: number;
}

/** The receipt of what the App deployed, as a section of its check; undefined where nothing was deployed. */
export function receiptSection(
  outcome: Outcome,
  run: ReceiptRun,
  mode: 'deploy' | 'rollback' = 'deploy',
): string | undefined {
  // What is shown of it in the same check is without secrets already.
  const mask = (text: string): string => text;
  const receipt = receiptOf(outcome, { ...run, mode, program: 'app', version, mask });
  if (!receipt) return undefined;
  // No line of it begins with a backtick, so nothing in it ends the block.
  return `<details><summary>Receipt</summary>\n\n\`\`\`json\n${receiptText(receipt)}\`\`\`\n\n</details>`;
}

/** What receipts call the outcomes of intents; null: nothing was deployed. */
const outcomesOfReceipts: Readonly<Record<IntentOutcomeKind, OutcomeKind | null>> = {
  deployed: 'deployed',
  unproven: 'unproven',
  broken: 'broken',
  'rolled-back': 'rolled-back',
  discarded: 'discarded',
  failed: 'failed',
  superseded: 'superseded',
  interrupted: 'interrupted',
  'timed-out': 'timed-out',
  refused: 'refused',
  unknown: 'failed',
  'other-commit': 'superseded',
  skipped: null,
  joined: null,
  absent: null,
};

/** The receipt of an intent that ended, as a section of its check; undefined where it deployed nothing. */
export function intentReceipt(intent: IntentFields, service: string): string | undefined {
  const { end, sending, revisionId, sends = 0, deploymentId, terms, createdAt, sentAt } = intent;
  const { rollout, verdict, verified, commit } = intent;
  const kind = end && outcomesOfReceipts[end.kind];
  const isDeploy = revisionId !== undefined || sends > 0;
  if (!end || !kind || !isDeploy || sending.kind === 'test') return undefined;
  const about = { deploymentId, deploymentName: terms.deploymentName, reason: '', changed: sends > 0, notes: [] };
  const run = { service, startedAt: sentAt ?? createdAt, endedAt: end.at };
  if (sending.kind === 'redeploy') {
    const isDone = kind === 'deployed';
    const builtFrom = revisionId === undefined ? {} : { builtFrom: { revisionId } };
    const back = { toRevisionId: sending.revisionId, ...(rollout ? { rollout } : {}), ...(verdict ? { verdict } : {}) };
    const outcome: Outcome = {
      ...about,
      ...builtFrom,
      kind: isDone ? 'rolled-back' : kind,
      passes: isDone,
      rollback:
        isDone && rollout && verdict
          ? { kind: 'done', toRevisionId: sending.revisionId, rollout, verdict }
          : { kind: 'failed', reason: { code: 'not-live' }, ...back },
    };
    return receiptSection(outcome, run, 'rollback');
  }
  const built = end.kind === 'other-commit' ? end.by?.commit : commit;
  return receiptSection(
    {
      ...about,
      kind,
      passes: passesBy(kind, 'deploy', 'fail'),
      ...(revisionId === undefined ? {} : { builtFrom: { revisionId, commit: built } }),
      ...(rollout ? { rollout } : {}),
      ...(verdict ? { verdict } : {}),
      ...(verified ? { verified } : {}),
    },
    run,
  );
}
