import { asSentence, capitalized, withoutFullStop } from '../../kit/plain-text.ts';
import { sameCommit, shortCommit } from '../../contract/control/repo-ref.ts';
import type { OnUnproven } from '../file/desired.ts';
import { decisionOf, type HoldState } from '../rules/hold-state.ts';
import type { NotLive } from '../machine/after-look.ts';
import { isOfConversations } from '../rules/verdict-subject.ts';
import type { Verdict } from '../rules/verdict-types.ts';
import {
  adviceIfIntended,
  adviceOnUnproven,
  describeOpenHold,
  firstTestOf,
  whatFailed,
  whatIsUnproven,
} from './verdict-words.ts';
import { counted } from './verdict-table/words.ts';

/** Who reports: a run of the Action or of the command line, or the App. */
export type Host = 'run' | 'app';

const hosts = {
  run: {
    self: 'this run',
    again: 'run this again',
    deploy: 'deploy again',
    rollBack: 'roll back (mode: rollback, or landfall rollback)',
  },
  app: {
    self: 'this App',
    again: 'press Re-run',
    deploy: 'push',
    rollBack: 'press Rollback if a former revision is known',
  },
} as const satisfies Record<Host, Record<string, string>>;

/** Why running again makes no second revision, or why it does: a revision is recognised by its commit. */
export type Rerun = 'follows' | 'rebuild-always' | 'commit-unknown';

const rerunWords: Record<Rerun, string> = {
  follows: 'the revision is followed, not made twice.',
  'rebuild-always': 'rebuild is always, so it makes another revision.',
  'commit-unknown': 'the requested commit is not known, so it makes another revision; rebuild: never follows this one.',
};

/** What to do after an early end of a run. */
export const adviceOnRerun = (rerun: Rerun): string => `Run it again: ${rerunWords[rerun]}`;

/** What became of going back from a revision that failed its smoke tests. `why` is a sentence. */
export type RollbackResult =
  | { kind: 'serves-again'; revisionId: string; isProven: boolean }
  /** It was carried out, and the former revision fails the tests too. */
  | { kind: 'no-help'; why: string; advice: string }
  | { kind: 'not-undone'; why: string; advice?: string };

export const failedRollbackTitles = {
  'no-help': 'Rolled back, which did not help',
  'not-undone': 'Not rolled back',
} as const;

/** Why a name finds no deployment, in two sentences. */
export const notFoundByName = (name: string | undefined, matches: number): string =>
  matches === 0
    ? `There is no deployment named ${name}. Check the name and the workspace that the key belongs to, or give deployment-id.`
    : `${matches} deployments are named ${name}. Give the deployment-id of one of them.`;

const adviceOnSuperseded =
  'Look at the run that made the newer revision; set on-superseded to pass where this is expected.';

interface Tested {
  revisionId: string | undefined;
  verdict: Verdict;
  /** It was tested before it got traffic, and has it now. */
  isPromoted?: boolean;
}

const subjectOf = (revisionId: string | undefined): string =>
  revisionId ? `Revision ${revisionId}` : 'The live revision';

const servesWords = (former: string | null | undefined): string =>
  former ? ` Revision ${former} still serves.` : former === null ? ' Nothing is live yet.' : '';

/** A time that was waited for, in words. */
export const minutes = (ms: number): string =>
  ms < 60_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 6000) / 10} min`;

function passedWords({ kind, tests }: Verdict, isPromoted: boolean | undefined): string {
  if (kind !== 'passed') return '';
  const smoke = tests.filter((test) => !isOfConversations(test)).length;
  const passed =
    smoke === 0 ? '' : ` and passed ${counted(smoke, 'smoke test')}${isPromoted ? ' before it got traffic' : ''}`;
  return `${passed}${smoke === tests.length ? '' : ', and conversations go on with it'}`;
}

const noTests: Verdict = { kind: 'none', tests: [] };

/** Each outcome of a revision: its facts as a sentence or two, and what to do about it. */
export const outcomes = {
  live(facts: {
    revisionId: string | undefined;
    commit: string | undefined;
    requested?: string | undefined;
    verdict?: Verdict | undefined;
    isPromoted?: boolean;
  }) {
    const { revisionId, commit, requested = commit, verdict = noTests, isPromoted } = facts;
    const of = commit ? ` of commit ${shortCommit(commit)}` : '';
    const moved =
      commit && requested && !sameCommit(commit, requested)
        ? `; ${shortCommit(requested)} was requested, but the ref had moved on`
        : '';
    const reason = `Revision ${revisionId}${of} is live${passedWords(verdict, isPromoted)}${moved}.`;
    return { kind: 'deployed', reason } as const;
  },

  /** A followed revision that ended before it was live; `former` serves instead, `null` says that none does. */
  notLive(
    facts: {
      rollout: NotLive;
      former: string | null | undefined;
      timeoutMs: number;
      hold?: HoldState | undefined;
      byCommit?: string | undefined;
      rerun?: Rerun;
    },
    host: Host,
  ) {
    const { rollout, former, timeoutMs, hold, byCommit, rerun = 'follows' } = facts;
    const { kind, revisionId, statusMessage } = rollout;
    const { again, deploy } = hosts[host];
    const message = statusMessage ? `: ${withoutFullStop(statusMessage)}` : '';
    switch (kind) {
      case 'failed': {
        const reason = `Revision ${revisionId} ended ${rollout.status}${message}.${servesWords(former)}`;
        return { kind, reason, advice: `Read the log lines of this revision, correct what they name, and ${deploy}.` };
      }
      case 'interrupted': {
        const reason = `Revision ${revisionId} was interrupted at the service${message}.${servesWords(former)}`;
        return { kind, reason, advice: `${capitalized(again)} to build it again.` };
      }
      case 'timed-out': {
        const last = rollout.seen.at(-1)?.status ?? 'nowhere';
        const reason = `Revision ${revisionId} was not live within ${minutes(timeoutMs)}: last seen ${last}${describeOpenHold(hold)}, and it goes on.`;
        const wait = host === 'run' ? 'Raise timeout-minutes, or run this again' : capitalized(again);
        return { kind, reason, advice: `${wait}: ${rerunWords[rerun]}` };
      }
      case 'superseded': {
        const by = rollout.by
          ? `revision ${rollout.by}${byCommit ? ` of commit ${shortCommit(byCommit)}` : ''}`
          : 'a newer one';
        const reason = `Revision ${revisionId} did not become live: ${by} took its place.`;
        return { kind, reason, ...(host === 'run' ? { advice: adviceOnSuperseded } : {}) };
      }
    }
  },

  /** A revision that was discarded before it got traffic; `onUnproven` is by what terms this host decided about it. */
  discarded(
    facts: {
      revisionId: string | undefined;
      verdict: Verdict | undefined;
      onUnproven: OnUnproven | undefined;
      statusMessage: string | undefined;
      former: string | null | undefined;
    },
    host: Host,
  ) {
    const { revisionId, verdict, onUnproven, statusMessage, former } = facts;
    const { self, again, deploy } = hosts[host];
    const [kind, serves] = ['discarded' as const, servesWords(former)];
    if (verdict?.kind === 'failed') {
      const reason = `Revision ${revisionId} ${whatFailed(verdict)} before it got traffic, and was discarded: ${firstTestOf(verdict, 'failed')}.${serves}`;
      return { kind, reason, advice: `Correct the agent and ${deploy}.${adviceIfIntended(verdict)}` };
    }
    if (verdict?.kind === 'unproven' && decisionOf(verdict, { isReplacing: !!former, onUnproven }) === 'discarded') {
      const reason = `Revision ${revisionId} was discarded before it got traffic, because its ${whatIsUnproven(verdict)} proved nothing: ${firstTestOf(verdict, 'unproven')}.${serves}`;
      const advice = `${adviceOnUnproven(verdict)} Then ${again}; \`on-unproven: promote\` would give it the traffic.`;
      return { kind, reason, advice };
    }
    const why = statusMessage ? `: ${withoutFullStop(statusMessage)}` : '';
    const reason = `Revision ${revisionId} was discarded before it got traffic, and not by ${self}${why}.${serves}`;
    const advice = `${capitalized(again)}; tests that take longer than the hold need verify: after-traffic.`;
    return { kind, reason, advice };
  },

  /** A revision of another commit than the requested one. */
  otherCommit(facts: {
    revisionId: string | undefined;
    built: string;
    commit: string;
    ref: string;
    now?: 'live' | 'discarded';
  }) {
    const { revisionId, built, commit, ref, now } = facts;
    const which = revisionId ? `Revision ${revisionId}` : 'The newest revision';
    const then = now ? ` It ${now === 'live' ? 'is live' : 'was discarded'}.` : '';
    return {
      reason: `${which} was built from commit ${shortCommit(built)}, not from ${shortCommit(commit)}: ${ref} had moved on.${then}`,
    };
  },

  /** A revision that failed its tests, and what became of going back from it. */
  wrong({ revisionId, verdict }: Tested, host: Host, undo?: RollbackResult) {
    const { deploy, rollBack } = hosts[host];
    const how = `${whatFailed(verdict)}: ${firstTestOf(verdict, 'failed')}.`;
    const [wrong, intended] = [`${subjectOf(revisionId)} ${how}`, adviceIfIntended(verdict)];
    if (undo?.kind === 'serves-again') {
      const reason = `${wrong} Revision ${undo.revisionId} serves again${undo.isProven ? ' and answers as it should' : ''}.`;
      return { kind: 'rolled-back', reason, advice: `Correct the agent and ${deploy}.${intended}` } as const;
    }
    const advice = undo?.advice ?? `Correct the agent and ${deploy}, or ${rollBack}.${intended}`;
    if (undo?.kind === 'no-help') {
      return { kind: 'broken', reason: `${wrong} ${failedRollbackTitles['no-help']}: ${undo.why}`, advice } as const;
    }
    const isLive = revisionId ? `${subjectOf(revisionId)} is live, but ${how}` : wrong;
    const reason = undo ? `${isLive} ${failedRollbackTitles['not-undone']}: ${undo.why}` : isLive;
    return { kind: 'broken', reason, advice } as const;
  },

  /** A live revision of which its tests prove nothing. */
  unproven({ revisionId, verdict, isPromoted }: Tested, host: Host) {
    const is = isPromoted ? ' was promoted, but' : revisionId ? ' is live, but' : '';
    const what =
      whatIsUnproven(verdict) === 'conversations'
        ? 'conversations are not proven to go on with it'
        : 'is not proven to answer';
    const reason = `${subjectOf(revisionId)}${is} ${what}: ${firstTestOf(verdict, 'unproven')}.`;
    const again = host === 'app' ? ' Press Re-run to build and test it again.' : '';
    return { kind: 'unproven', reason, advice: `${adviceOnUnproven(verdict)}${again}` } as const;
  },

  /** Another revision may have answered the tests; `active` is the live one after them. */
  replaced(facts: { revisionId: string | undefined; active: string | null | undefined }, host: Host) {
    const what = facts.active ? `revision ${facts.active} replaced it` : 'it stopped serving';
    const reason = `${subjectOf(facts.revisionId)} was live, but ${what} before its smoke tests ended.`;
    return { kind: 'superseded', reason, ...(host === 'run' ? { advice: adviceOnSuperseded } : {}) } as const;
  },

  noRevision(host: Host) {
    const reason = 'The service accepted the change but created no revision.';
    return host === 'run'
      ? ({
          kind: 'failed',
          reason,
          advice: 'Look at the deployment: a service may not let the last secret be removed.',
        } as const)
      : ({
          kind: 'refused',
          reason,
          advice: 'Look at the newest revision of the deployment, then press Re-run.',
        } as const);
  },

  /** Whether a request took effect is unknown. `what` it was is a noun, `why` a clause or a sentence. */
  unknownEffect({ what, why }: { what: string; why: string }, host: Host) {
    const reason = `It is unknown whether ${what} took effect: ${asSentence(why)}`;
    const advice = `Look at the newest revisions of the deployment before you ${hosts[host].again}.`;
    return { reason, advice };
  },
};
