// The tables of docs/outcomes.md: what each host says of an outcome, and what it advises on a failure of the service.
import { ServiceError, type ControlOperation } from '../src/contract/service-error.ts';
import type { EndedRollout } from '../src/deploy/rules/rollout-types.ts';
import type { TestVerdict, Verdict } from '../src/deploy/rules/verdict-types.ts';
import { adviceOn } from '../src/deploy/words/advice-on-errors.ts';
import { type Host, outcomes } from '../src/deploy/words/outcomes.ts';
import { table } from './markdown-table.ts';

const [revisionId, former, commit, built] = ['r2', 'r1', 'a'.repeat(40), 'b'.repeat(40)];

const verdictOf = (verdict: TestVerdict, name = 'greets'): Verdict => ({
  kind: verdict.kind,
  tests: [{ name, attempts: 1, verdict }],
});
const expectation = { kind: 'status', equals: 'success' } as const;
const answered = { firstEventMs: 1, totalMs: 2 };
const seen = { expectation, expected: 'status is success', seen: 'error' };
const passed = verdictOf({ kind: 'passed', held: [{ ...seen, held: true }], ...answered });
const failed = verdictOf({ kind: 'failed', held: [{ ...seen, held: false }], ...answered });
const unproven = verdictOf({ kind: 'unproven', because: 'unreachable', why: 'no answer' });

type NotLive = Exclude<EndedRollout, { kind: 'live' }>;
const rollout = { revisionId, seen: [{ status: 'BUILDING', at: 0 }] };
const notLive = (ended: NotLive) => (host: Host) =>
  outcomes.notLive({ rollout: ended, former, timeoutMs: 1_200_000, byCommit: built }, host);
const discarded = (verdict: Verdict | undefined) => (host: Host) =>
  outcomes.discarded({ revisionId, verdict, onUnproven: 'keep', statusMessage: undefined, former }, host);
const wrong = (undo?: Parameters<typeof outcomes.wrong>[2]) => (host: Host) =>
  outcomes.wrong({ revisionId, verdict: failed }, host, undo);

type Said = { kind?: string; reason: string; advice?: string };

/** An example of each outcome; the names of the functions are those of the table in the code. */
const examples: Record<keyof typeof outcomes, readonly ((host: Host) => Said)[]> = {
  live: [
    () => outcomes.live({ revisionId, commit }),
    () => outcomes.live({ revisionId, commit, verdict: passed, isPromoted: true }),
    () => outcomes.live({ revisionId, commit: built, requested: commit }),
  ],
  notLive: [
    notLive({ kind: 'failed', status: 'BUILD_FAILED', ...rollout }),
    notLive({ kind: 'interrupted', ...rollout }),
    notLive({ kind: 'timed-out', ...rollout }),
    notLive({ kind: 'superseded', by: 'r3', ...rollout }),
  ],
  discarded: [discarded(failed), discarded(unproven), discarded(undefined)],
  otherCommit: [() => outcomes.otherCommit({ revisionId, built, commit, ref: 'main' })],
  wrong: [
    wrong(),
    wrong({ kind: 'serves-again', revisionId: former, isProven: true }),
    wrong({ kind: 'not-undone', why: 'no revision was live before.' }),
  ],
  unproven: [
    (host) => outcomes.unproven({ revisionId, verdict: unproven }, host),
    (host) => outcomes.unproven({ revisionId, verdict: unproven, isPromoted: true }, host),
  ],
  replaced: [(host) => outcomes.replaced({ revisionId, active: 'r3' }, host)],
  noRevision: [(host) => outcomes.noRevision(host)],
  unknownEffect: [(host) => outcomes.unknownEffect({ what: 'the change', why: 'the service did not respond' }, host)],
};

/** Outcomes that each host gives its own kind. */
const kinds = new Map([
  ['otherCommit', 'other-commit'],
  ['unknownEffect', 'unknown'],
]);

export const outcomeTable = (): string =>
  table(
    ['outcome', 'what it says', 'advice of the Action and the command line', 'advice of the App'],
    Object.entries(examples).flatMap(([name, each]) =>
      each.map((example) => {
        const [run, app] = [example('run'), example('app')];
        return [`\`${run.kind ?? kinds.get(name) ?? name}\``, run.reason, run.advice ?? '', app.advice ?? ''];
      }),
    ),
  );

const failures: readonly [ServiceError['kind'], ControlOperation | 'any other', number?][] = [
  ['unauthorized', 'any other'],
  ['unauthorized', 'any other', 403],
  ['unauthorized', 'upload source'],
  ['missing', 'any other'],
  ['missing', 'get deployment'],
  ['missing', 'delete deployment'],
  ['missing', 'redeploy revision'],
  ['missing', 'request upload'],
  ['conflict', 'any other'],
  ['conflict', 'create deployment'],
  ['busy', 'any other'],
  ['unreachable', 'any other'],
  ['unreachable', 'upload source'],
  ['unreadable', 'any other'],
  ['rejected', 'any other'],
];

export const errorTable = (): string =>
  table(
    ['failure of the service', 'operation', 'advice of the Action and the command line', 'advice of the App'],
    failures.map(([kind, operation, status]) => {
      const error = new ServiceError({
        kind,
        operation,
        method: 'GET',
        address: '',
        effect: 'none',
        ...(status ? { status } : {}),
      });
      return [`\`${kind}\`${status ? ` (${status})` : ''}`, operation, adviceOn(error, 'run'), adviceOn(error, 'app')];
    }),
  );
