import { asSentence } from '../../kit/plain-text.ts';
import { isTransient, type ServiceError } from '../../contract/service-error.ts';
import { isOfConversations } from '../rules/verdict-subject.ts';
import type { RunState } from '../machine/run-state.ts';
import { namedBy } from '../file/desired.ts';
import type { Ending } from '../machine/deploy-state.ts';
import { adviceOn } from './advice-on-errors.ts';
import { frozenWords } from './freeze.ts';
import { adviceOnRerun, minutes, outcomes } from './outcomes.ts';
import {
  describeOpenHold,
  reportOfDiscard,
  reportOfOtherCommit,
  reportOfRollback,
  reportOfRollout,
  reportOfVerdict,
  rerunOf,
  type EndedRun,
  type EndingDescription,
} from './revision-ending.ts';
import { counted } from './verdict-table/words.ts';

/** Maps an ending and what is known to the report. */
export function describeEnding(run: EndedRun, ending: Ending): EndingDescription {
  const { request, known } = run;
  switch (ending.kind) {
    case 'impossible':
      return reportOfObstacles(known);
    case 'absent':
      return {
        kind: 'refused',
        reason: `There is no deployment named ${namedBy(request).name ?? ''}.`,
        advice: 'Check name and the workspace that the key belongs to, or give deployment-id.',
      };
    case 'planned':
      return { kind: 'planned', reason: planInWords(known) };
    case 'frozen': {
      const { kind, ...facts } = ending;
      return {
        kind,
        reason: `Nothing was sent: ${asSentence(frozenWords(facts))}`,
        advice: 'Run this again after the end, or set ignore-freeze for what cannot wait; a rollback needs neither.',
      };
    }
    case 'started':
      return { kind: 'started', reason: `Revision ${run.own?.revisionId} is on its way; it was not waited for.` };
    case 'kept':
      return reportOfKept(run);
    case 'followed':
      return (
        reportOfOtherCommit(run) ??
        (known.rollout?.kind === 'live' ? reportOfVerdict(run) : reportOfDiscard(run)) ??
        reportOfRollout(run)
      );
    case 'tested':
      return reportOfVerdict(run) ?? reportOfPassed(run);
    case 'rollback-done':
      return reportOfRollback(run);
    case 'no-revision':
      return outcomes.noRevision('run');
    case 'not-uploaded':
      return {
        kind: 'failed',
        reason: `The folder was not uploaded: ${ending.why}.`,
        advice: 'Let nothing write into source-dir while it is uploaded, and run this again: it goes on from here.',
      };
    case 'gone':
    case 'would-delete':
    case 'deletion-started':
    case 'still-there':
      return reportOfDeletion(run, ending);
    case 'unsettled':
      return {
        kind: 'failed',
        ...outcomes.unknownEffect({ what: `the ${ending.what}`, why: ending.error.message }, 'run'),
      };
    case 'overtaken':
    case 'refused':
    case 'service-error':
      return reportOfError(run, ending.error);
    case 'cancelled':
      return reportOfCancel(run, ending);
  }
}

type Deletion = Extract<Ending, { kind: 'gone' | 'would-delete' | 'deletion-started' | 'still-there' }>;

function reportOfDeletion({ request, known: { deployment } }: EndedRun, ending: Deletion): EndingDescription {
  const { keepTracingProject, dryRun, timeoutMs } = request;
  const named = namedBy(request);
  const id = deployment?.id ?? named.deploymentId;
  const name = deployment?.name ?? named.name;
  const whom = `Deployment ${[name, name && id ? `(${id})` : id].filter(Boolean).join(' ')}`;
  const project = keepTracingProject ? '; its tracing project stays' : ', and its tracing project with it';
  switch (ending.kind) {
    case 'gone':
      if (ending.found) return { kind: 'deleted', reason: `${whom} is gone${project}.` };
      return { kind: dryRun ? 'planned' : 'deleted', reason: `${whom} is not there: there was nothing to delete.` };
    case 'would-delete':
      return { kind: 'planned', reason: `${whom} would be deleted${project}.` };
    case 'deletion-started':
      return { kind: 'started', reason: `${whom} is being deleted; it was not waited for.` };
    case 'still-there':
      return {
        kind: 'timed-out',
        reason: `${whom} was not gone within ${minutes(timeoutMs)}: last seen ${deployment?.status ?? 'nowhere'}, and its deletion goes on.`,
        advice: 'Raise timeout-minutes, or run this again: it is only waited for.',
      };
  }
}

function reportOfObstacles({ plan }: RunState): EndingDescription {
  const obstacles = plan?.kind === 'impossible' ? plan.obstacles : [];
  return {
    kind: 'refused',
    reason: `This cannot be done: ${obstacles.map(({ field, problem }) => `${field}: ${problem}`).join('; ')}.`,
    advice: [...new Set(obstacles.map(({ advice }) => advice))].join(' '),
  };
}

function planInWords({ plan }: RunState): string {
  if (plan?.kind === 'create') return 'A deployment would be created.';
  if (plan?.kind === 'none') return `Nothing would be done: ${plan.why}.`;
  const changes = plan?.kind === 'patch' ? plan.changes.map(({ field }) => field).join(', ') : '';
  return `It would be changed (${changes})${plan?.kind === 'patch' && plan.makesRevision ? ', which makes a revision' : ''}.`;
}

/** Names the revision that still serves; the smoke tests may contradict it. */
function reportOfKept(run: EndedRun): EndingDescription {
  const { plan } = run.known;
  const wrong = reportOfVerdict(run);
  if (wrong) return wrong;
  if (plan?.kind !== 'patch') {
    return { kind: 'unchanged', reason: `Nothing to do: ${plan?.kind === 'none' ? plan.why : 'nothing differs'}.` };
  }
  const changes = plan.changes.map(({ field }) => field).join(', ');
  return { kind: 'deployed', reason: `Changed in place, without a revision: ${changes}.` };
}

function reportOfError(run: EndedRun, error: ServiceError): EndingDescription {
  const { changed, plan, deployment } = run.known;
  const revisionId = run.own?.revisionId;
  const started = changed || revisionId !== undefined;
  const goesOn = revisionId ? ` Revision ${revisionId} goes on${describeOpenHold(run)}.` : '';
  // A deployment whose folder did not arrive.
  const waits =
    changed && !revisionId && plan?.kind === 'create' && deployment
      ? ` Deployment ${deployment.name} (${deployment.id}) was created and waits for its folder: run this again, and it goes on from there.`
      : '';
  return {
    kind: !isTransient(error) && !started ? 'refused' : 'failed',
    reason: `${asSentence(error.message)}${goesOn}${waits}`,
    advice: adviceOn(error, 'run'),
  };
}

function reportOfCancel(run: EndedRun, { discarded }: Extract<Ending, { kind: 'cancelled' }>): EndingDescription {
  const { request, known } = run;
  const { writing, rollback, changed } = known;
  const rolledBackTo = rollback && 'rollout' in rollback ? rollback.rollout : undefined;
  const revisionId = rolledBackTo?.revisionId ?? run.own?.revisionId;
  const last = (rolledBackTo ?? known.rollout)?.seen.at(-1)?.status;
  const advice = adviceOnRerun(rerunOf(run));
  if (request.mode === 'delete' && (writing || changed)) {
    return {
      kind: 'interrupted',
      reason: `This step was ended; the deletion ${writing ? 'may take effect' : 'goes on'}.`,
      advice: 'Run it again to wait until the deployment is gone.',
    };
  }
  if (writing) {
    const reason = 'This step was ended while a request was under way that may take effect.';
    return { kind: 'interrupted', reason, advice };
  }
  if (discarded) {
    const reason = `This step was ended, and revision ${revisionId} with it: it was not tested, and got no traffic.`;
    return { kind: 'interrupted', reason, advice: 'Run it again: it makes another revision.' };
  }
  if (revisionId) {
    const seen = last ? ` (last seen ${last})` : '';
    const reason = `This step was ended; revision ${revisionId} goes on${seen}${describeOpenHold(run)}.`;
    return { kind: 'interrupted', reason, advice };
  }
  const when = changed ? 'after a change' : 'before anything was changed';
  return { kind: 'interrupted', reason: `This step was ended ${when}.` };
}

function reportOfPassed({ result }: EndedRun): EndingDescription {
  const tests = result?.verdict.tests.filter((test) => !isOfConversations(test)) ?? [];
  return {
    kind: 'unchanged',
    reason: `The live revision answers as it should (${counted(tests.length, 'smoke test')}).`,
  };
}
