import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import type { ReceiptPredicate } from '../../contract/receipt.ts';
import { shownInstead } from '../../contract/masking/mask.ts';
import { passesBy, type OutcomeKind } from '../../contract/outcome-kinds.ts';
import { checkVerdict, recordedVerdict, verdictDiffers, verdictsOfRun } from './check-receipt-verdict.ts';
import type { CheckedReceipt, Claim, ClaimName, Finding } from './receipt-claims.ts';

/** How far clocks may differ (ms). */
const skewMs = 5 * 60_000;

/**
 * Holds every claim of a receipt against what the service says: what holds, what does not, and what can't be checked.
 * Pure. What is claimed of nothing, such as the commit of an image, is left out.
 */
export function checkReceipt(checked: CheckedReceipt): Claim[] {
  const { predicate, service } = checked;
  const own: Claim[] = [
    claim('subject', subjectFinding(checked)),
    claim(
      'service',
      service === predicate.service.address ? holds(service) : differs(predicate.service.address, service),
    ),
    claim('times', timesFinding(checked)),
  ];
  const made = predicate.operation === 'delete' ? deletionClaims(checked) : deployClaims(checked);
  return [...own, ...made, claim('by', byFinding(checked))];
}

const claim = (name: ClaimName, finding: Finding): Claim => ({ claim: name, ...finding });
const holds = (value: string): Finding => ({ result: 'holds', code: 'same', value });
const differs = (claimed: string, recorded: string): Finding => ({
  result: 'fails',
  code: 'differs',
  claimed,
  recorded,
});
const noRevision: Finding = { result: 'fails', code: 'no-revision' };
const unread: Finding = { result: 'unknown', code: 'not-read' };

function subjectFinding({ subject }: CheckedReceipt): Finding {
  if (subject === 'other') return { result: 'fails', code: 'subject-differs' };
  return { result: 'holds', code: subject === 'receipt' ? 'receipt-digest' : 'subject-digest' };
}

/** The run ended after it began, not in the future, and not before its revision was made. */
function timesFinding({ predicate, now, records: { revision } }: CheckedReceipt): Finding {
  const { started_at, ended_at, rollout } = predicate;
  const times = [started_at, ended_at, ...(rollout?.statuses ?? []).map(({ at }) => at)];
  const late = times.find((each) => Date.parse(each) > now + skewMs);
  if (late !== undefined) return { result: 'fails', code: 'in-future', at: late };
  if (Date.parse(ended_at) < Date.parse(started_at)) return { result: 'fails', code: 'times-reversed' };
  const madeAt = revision?.created_at;
  if (madeAt !== undefined && Date.parse(madeAt) > Date.parse(ended_at) + skewMs) {
    return { result: 'fails', code: 'before-revision', at: madeAt };
  }
  return { result: 'holds', code: 'in-order' };
}

/** What is a name or an address may hold a secret's value; a commit or a digest that was masked is no commit. */
const mayBeMasked: ReadonlySet<ClaimName> = new Set(['tenant', 'deployment', 'image']);

/** A value that the service may not report. */
function valueClaim(name: ClaimName, claimed: string | null, recorded: string | null | undefined): Claim[] {
  if (claimed === null) return [];
  if (claimed.includes(shownInstead) && mayBeMasked.has(name))
    return [claim(name, { result: 'unknown', code: 'masked' })];
  if (!recorded) return [claim(name, { result: 'unknown', code: 'unreported' })];
  return [claim(name, claimed === recorded ? holds(recorded) : differs(claimed, recorded))];
}

function deletionClaims({ predicate, records: { deployment, deletedAt } }: CheckedReceipt): Claim[] {
  if (deployment === undefined) return [claim('outcome', unread)];
  const { tenant_id } = predicate.service;
  const contradiction = passesFinding(predicate);
  if (contradiction) return [claim('outcome', contradiction)];
  if (deployment === null) {
    const gone: Finding = deletedAt
      ? { result: 'holds', code: 'deletion-recorded', at: deletedAt }
      : { result: 'unknown', code: 'gone' };
    return [claim('outcome', gone)];
  }
  const isClaimedGone = predicate.outcome === 'deleted';
  return [
    ...valueClaim('tenant', tenant_id, deployment.tenant_id),
    ...valueClaim('deployment', predicate.deployment.name, deployment.name),
    claim('outcome', isClaimedGone ? { result: 'fails', code: 'still-there' } : unread),
  ];
}

function deployClaims(checked: CheckedReceipt): Claim[] {
  const { predicate, records } = checked;
  const { deployment, revision } = records;
  const made = predicate.revision;
  const names = namesOf(predicate);
  if (deployment === undefined) return names.map((name) => claim(name, unread));
  const { id, name } = predicate.deployment;
  if (deployment === null) {
    const missing = claim('deployment', { result: 'fails', code: 'absent', what: 'deployment', id });
    return names.map((each) => (each === 'deployment' ? missing : claim(each, unread)));
  }
  const about = [
    ...valueClaim('tenant', predicate.service.tenant_id, deployment.tenant_id),
    ...(name === null
      ? [claim('deployment', { result: 'holds', code: 'exists', value: deployment.id })]
      : valueClaim('deployment', name, deployment.name)),
  ];
  const rest = names.filter((each) => each !== 'tenant' && each !== 'deployment');
  if (!made) {
    const finding = needsRevision.has(predicate.outcome) ? noRevision : (passesFinding(predicate) ?? unread);
    return [...about, ...rest.map((each) => claim(each, each === 'outcome' ? finding : unread))];
  }
  if (revision === undefined) return [...about, ...rest.map((each) => claim(each, unread))];
  if (revision === null) {
    const missing = claim('revision', { result: 'fails', code: 'absent', what: 'revision', id: made.id });
    return [...about, ...rest.map((each) => (each === 'revision' ? missing : claim(each, unread)))];
  }
  const { repo_commit_sha, source_tarball_digest, image_uri } = revision.source_revision_config;
  return [
    ...about,
    claim('revision', { result: 'holds', code: 'exists', value: revision.id }),
    ...valueClaim('commit', made.commit, repo_commit_sha),
    ...valueClaim('build_digest', made.build_digest, revision.build_digest),
    ...valueClaim('source_digest', made.source_digest, source_tarball_digest),
    ...valueClaim('image', made.image, image_uri),
    claim('outcome', outcomeFinding(checked)),
    ...(predicate.rollback ? [claim('rollback', rollbackFinding(checked))] : []),
    ...(predicate.verdict.result === 'none' ? untested(checked) : [claim('verdict', checkVerdict(checked))]),
    ...(predicate.plan && predicate.plan.kind !== 'none' ? [claim('plan', planFinding(checked))] : []),
  ];
}

/** A receipt without a verdict claims that its run reported none. */
function untested(checked: CheckedReceipt): Claim[] {
  const reported = verdictsOfRun(checked);
  return reported.length === 0 ? [] : [claim('verdict', verdictDiffers(reported))];
}

/** The claims of a receipt about a deploy or a rollback. */
function namesOf({ service, revision, rollback, verdict, plan }: ReceiptPredicate): ClaimName[] {
  const claimed: [ClaimName, boolean][] = [
    ['tenant', service.tenant_id !== null],
    ['deployment', true],
    ['revision', revision !== null],
    ['commit', Boolean(revision?.commit)],
    ['build_digest', Boolean(revision?.build_digest)],
    ['source_digest', Boolean(revision?.source_digest)],
    ['image', Boolean(revision?.image)],
    ['outcome', true],
    ['rollback', rollback !== null],
    ['verdict', verdict.result !== 'none'],
    ['plan', plan !== null && plan.kind !== 'none'],
  ];
  return claimed.flatMap(([name, isClaimed]) => (isClaimed ? [name] : []));
}

/** The outcomes that are about a revision. */
const needsRevision: ReadonlySet<OutcomeKind> = new Set([
  ...(['deployed', 'unchanged', 'broken', 'unproven'] as const),
  ...(['discarded', 'superseded', 'rolled-back'] as const),
]);

/** Whether a run passes follows from its outcome; of a superseded one, from an input. */
function passesFinding({ outcome, operation, passes }: ReceiptPredicate): Finding | undefined {
  const mayPass = (['pass', 'fail'] as const).map((each) => passesBy(outcome, operation, each));
  return mayPass.includes(passes) ? undefined : { result: 'fails', code: 'contradicts-passes' };
}

/** The outcomes that no other end of a rollout leads to. */
const rolloutOf: Partial<Record<OutcomeKind, NonNullable<ReceiptPredicate['rollout']>['result']>> = {
  deployed: 'live',
  broken: 'live',
};

/** What a run saw of its revision leads to its outcome, and is what the service recorded, in the same order. */
function rolloutFinding(
  { operation, outcome, rollout }: ReceiptPredicate,
  history: CheckedReceipt['records']['history'],
): Finding | undefined {
  if (!rollout) return undefined;
  const expected = operation === 'deploy' ? rolloutOf[outcome] : undefined;
  if (expected !== undefined && rollout.result !== expected) {
    return { result: 'fails', code: 'contradicts-rollout', rollout: rollout.result };
  }
  if (!history) return undefined;
  let left = history.statuses;
  for (const { status, at } of rollout.statuses) {
    const found = left.findIndex((each) => each.status === status);
    // A status is seen once it is there.
    const isEarly = Date.parse(at) < Date.parse(left[found]?.at ?? '') - skewMs;
    if (found === -1 || isEarly) return { result: 'fails', code: 'status-not-recorded', status };
    left = left.slice(found);
  }
  return undefined;
}

/** The outcomes of a revision that got traffic. */
const liveOutcomes: ReadonlySet<OutcomeKind> = new Set(['deployed', 'unchanged', 'broken']);

/** What the service must have recorded for an outcome: a live revision, a discarded one, or every status that was seen. */
function outcomeFinding({ predicate, records: { revision, history } }: CheckedReceipt): Finding {
  const { outcome, verdict, rollout, operation } = predicate;
  const contradiction = passesFinding(predicate) ?? rolloutFinding(predicate, history);
  if (contradiction) return contradiction;
  const isProven = outcome === 'deployed' || outcome === 'unchanged';
  if (isProven && verdict.result !== 'passed' && verdict.result !== 'none') {
    return { result: 'fails', code: 'contradicts-verdict', verdict: verdict.result };
  }
  if (outcome === 'discarded') {
    const decision = revision?.hold?.decision ?? null;
    if (decision === 'promoted') return { result: 'fails', code: 'decision-not-recorded', decision: 'discarded' };
    if (decision === 'discarded') return { result: 'holds', code: 'decision-recorded', decision };
  }
  const isLive =
    liveOutcomes.has(outcome) || rollout?.result === 'live' || (operation === 'rollback' && predicate.passes);
  const claimed = [...(rollout?.statuses ?? []).map(({ status }) => status), ...(isLive ? ['DEPLOYED'] : [])];
  const recorded = new Set([...(history?.statuses ?? []).map(({ status }) => status), revision?.status ?? '']);
  if (claimed.length === 0) return { result: 'unknown', code: 'nothing-recorded' };
  const missing = claimed.find((status) => !recorded.has(status));
  if (missing === undefined) {
    return { result: 'holds', code: 'status-recorded', status: claimed.at(-1) ?? '' };
  }
  // Without a history only the last status is known, and a revision that failed for good never served.
  const last = classOfRevisionStatus(revision?.status ?? '');
  const isFinal = last === 'failed' || last === 'superseded' || last === 'interrupted';
  if (history || (isLive && isFinal)) return { result: 'fails', code: 'status-not-recorded', status: missing };
  return { result: 'unknown', code: 'no-history' };
}

/** The revision that a rollback made has the build of the one that it brought back. */
function rollbackFinding({ predicate, records }: CheckedReceipt): Finding {
  const { rollback } = predicate;
  const { cause } = records.rollback ?? {};
  if (rollback?.done && rollback.revision_id === null) return noRevision;
  if (!rollback || rollback.revision_id === null || !cause) return { result: 'unknown', code: 'no-history' };
  const of = cause.redeploy_of;
  if (of === rollback.to_revision_id) return { result: 'holds', code: 'rollback-recorded', of };
  return { result: 'fails', code: 'rollback-differs', recorded: of ?? cause.kind };
}

/** Fields that are sent to request a build, whether they differ or not. */
const isSource = (field: string): boolean => field.startsWith('source_revision_config.');

/** A difference between the plan and what changed may be of an earlier client, so it contradicts nothing. */
function planFinding({ predicate: { plan }, records: { history } }: CheckedReceipt): Finding {
  if (!history || !plan || plan.kind !== 'patch') return { result: 'unknown', code: 'plan-unrecorded' };
  const planned = plan.fields.filter(({ makes_revision }) => makes_revision).map(({ field }) => field);
  const all = new Set(plan.fields.map(({ field }) => field));
  const recorded = new Set(history.changed_fields);
  const other = [
    ...planned.filter((field) => !recorded.has(field) && !isSource(field)),
    ...history.changed_fields.filter((field) => !all.has(field) && !isSource(field)),
  ];
  if (other.length > 0) return { result: 'unknown', code: 'plan-other', fields: [...new Set(other)] };
  return { result: 'holds', code: 'plan-recorded', fields: all.size };
}

/** Who deployed is shown by the signature; a verdict that was reported names the run. */
function byFinding(checked: CheckedReceipt): Finding {
  const url = checked.predicate.by.workflow?.run_url;
  const recorded = url ? recordedVerdict(checked)?.details_url : undefined;
  if (checked.predicate.by.program === 'app') return { result: 'unknown', code: 'in-check' };
  if (!url || !recorded) return { result: 'unknown', code: 'unsigned' };
  if (recorded === url) return { result: 'holds', code: 'run-recorded', url };
  // The run and the service may have masked different secrets.
  const isMasked = [url, recorded].some((each) => each.includes(shownInstead));
  return isMasked ? { result: 'unknown', code: 'masked' } : differs(url, recorded);
}
