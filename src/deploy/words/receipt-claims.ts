import { say, type Sayings } from '../../kit/coded.ts';
import type {
  Claim,
  ClaimName,
  FailsFacts,
  Finding,
  HoldsFacts,
  ServingNow,
  UnknownFacts,
} from '../rules/receipt-claims.ts';
import { asLine } from './sanitize.ts';

const shown = (text: string): string => asLine(text, 200);
const listed = (names: readonly string[]): string => shown(names.join(', '));

const holds: Sayings<HoldsFacts> = {
  'subject-digest': () => 'the subject is the build that the receipt is about',
  'receipt-digest': () => 'the subject is the file of this receipt',
  'in-order': () => 'the run began, ended, and is over',
  'deletion-recorded': ({ at }) => `the service recorded that it was deleted, at ${shown(at)}`,
  same: ({ value }) => `the service has the same: ${shown(value)}`,
  exists: ({ value }) => `the service has ${shown(value)}`,
  'status-recorded': ({ status }) => `the service recorded the statuses, ${shown(status)} at last`,
  'decision-recorded': ({ decision }) => `the service recorded that it was ${shown(decision)}`,
  'rollback-recorded': ({ of }) => `the service recorded that the build of ${shown(of)} was deployed again`,
  'verdict-recorded': ({ at }) => `the service has the same verdict, of ${shown(at)}`,
  'plan-recorded': ({ fields }) => `the service recorded the same changes: ${fields}`,
  'run-recorded': ({ url }) => `the verdict that the service has was reported by ${shown(url)}`,
};

const fails: Sayings<FailsFacts> = {
  'subject-differs': () => 'the subject is not the build that the receipt is about',
  'times-reversed': () => 'the run ends before it begins',
  'no-revision': () => 'the receipt names no revision, and there is none without one',
  'contradicts-passes': () => 'it does not lead to what the receipt says of passing',
  'still-there': () => 'the deployment is still there',
  differs: ({ claimed, recorded }) => `the receipt says ${shown(claimed)}, the service ${shown(recorded)}`,
  absent: ({ what, id }) => `the service has no ${what} ${shown(id)} for this key`,
  'in-future': ({ at }) => `${shown(at)} is in the future`,
  'before-revision': ({ at }) => `the run ended before its revision was made, at ${shown(at)}`,
  'contradicts-verdict': ({ verdict }) => `a verdict of ${shown(verdict)} does not lead to it`,
  'contradicts-rollout': ({ rollout }) => `a revision that ended ${shown(rollout)} does not lead to it`,
  'status-not-recorded': ({ status }) => `the service did not record that the revision was ${shown(status)}`,
  'decision-not-recorded': ({ decision }) => `the service did not record that it was ${shown(decision)}`,
  'rollback-differs': ({ recorded }) => `the service recorded another origin: ${shown(recorded)}`,
  'verdict-differs': ({ recorded }) => `the service has other verdicts: ${listed(recorded)}`,
};

const unknown: Sayings<UnknownFacts> = {
  'not-read': () => 'not read, because of what does not hold',
  unreported: () => 'the service does not report it',
  masked: () => 'it was masked as a secret',
  gone: () => 'the service has no such deployment for this key, and no record of its deletion',
  'nothing-recorded': () => 'the run requested nothing that the service would have recorded',
  'no-history': () => 'the service keeps no history of it',
  'no-verdicts': () => 'the service has no verdict on the revision',
  'verdicts-pruned': () => 'the service keeps only newer verdicts',
  'plan-unrecorded': () => 'the service keeps no plans',
  'plan-other': ({ fields }) => `changes of earlier requests may be among them: ${listed(fields)}`,
  unsigned: () => 'only the signature proves it: gh attestation verify',
  'in-check': () => 'the App wrote it: compare it with the check on GitHub, which nobody else writes',
};

/** What was found of a claim, in one clause. */
export function findingText(finding: Finding): string {
  switch (finding.result) {
    case 'holds':
      return say(holds, finding);
    case 'fails':
      return say(fails, finding);
    case 'unknown':
      return say(unknown, finding);
  }
}

const results: Record<Finding['result'], string> = {
  holds: 'holds',
  fails: 'DOES NOT HOLD',
  unknown: "can't be checked",
};

const names: Record<ClaimName, string> = {
  subject: 'subject',
  service: 'service',
  times: 'times',
  tenant: 'tenant',
  deployment: 'deployment',
  revision: 'revision',
  commit: 'commit',
  build_digest: 'build digest',
  source_digest: 'source digest',
  image: 'image',
  outcome: 'outcome',
  rollback: 'rollback',
  verdict: 'verdict',
  plan: 'plan',
  by: 'workflow run',
};

/** A claim as a line of text. */
export const claimLine = (claim: Claim): string =>
  `  ${names[claim.claim].padEnd(14)}${results[claim.result].padEnd(18)}${findingText(claim)}`;

/** Whether the revision of a receipt serves now, as a sentence. */
export function servingLine(now: ServingNow): string {
  switch (now.code) {
    case 'live':
      return 'Its revision serves now.';
    case 'replaced':
      return `Revision ${shown(now.by)} serves now.`;
    case 'nothing-live':
      return 'No revision serves now.';
    case 'gone':
      return 'The deployment is gone.';
    case 'not-read':
      return 'What serves now was not read.';
  }
}
