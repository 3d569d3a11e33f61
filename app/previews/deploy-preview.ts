import { summary, checkLimitBytes } from '../../src/deploy/words/summary.ts';
import type { Named } from '../../src/deploy/file/desired.ts';
import { deploy } from '../../src/deploy/machine/deploy.ts';
import { findDeployment } from '../../src/deploy/machine/find-deployments.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import { deploymentOf, type Journal, toJournalJson } from '../../src/deploy/machine/journal.ts';
import type { Outcome } from '../../src/deploy/machine/outcome-types.ts';
import { receiptSection } from '../reporting/receipt.ts';
import { previewWith } from './decide-previews.ts';
import { outcomeOf, type Preview, type PreviewJournal, type PreviewOutcome } from './preview.ts';
import { productionRefusals, refusalWords } from './preview-words.ts';
import { deleteOwn, findOwnDeployments } from './remove-preview.ts';
import { retryAfterMs, type RunContext } from './preview-context.ts';

/** How long one revision is waited for, and how often it is looked at (ms). */
const timeoutMs = 30 * 60_000;
const pollMs = 3_000;
/** How often in a row the service may fail before a run is reported as failed. */
const maxFailures = 30;

/**
 * Deploys the wanted commit with the pipeline of every other deploy, from where the journal says that an earlier process
 * was. @throws ServiceError, RunSuperseded
 */
export async function deployPreview(preview: Preview, context: RunContext): Promise<void> {
  const { wanted, known, version } = preview;
  const { control, previews, run, clock, signal } = context;
  if (wanted.kind !== 'deploy' || outcomeOf(preview)) return;
  const pull = await previews.pull(preview);
  if (!pull) return;
  const made = previewWith(wanted, (name) => context.secretOf(pull.repository, name));
  if (made.kind === 'refused') return await end(preview, refusedOutcome(refusalWords(made.refusal)), context);
  const production = await findProduction(pull.repository, wanted.deployment.desired, context);
  if ('refusal' in production) return await end(preview, refusedOutcome(production.refusal), context);
  // Those that were named after what the file said before, and one that is still being deleted.
  const own = await findOwnDeployments(preview, context);
  const former = own.filter(({ name, status }) => name !== preview.name || status.endsWith('_DELETE'));
  if (!(await deleteOwn(former, preview, context))) return;
  const begun = known.begun?.version === version ? known.begun : { version, at: clock.now() };
  await previews.save(run, { known: { begun } });
  const journal = journalOf(preview, context);
  const graders = context.gradersOf(made.deployment);
  try {
    const outcome = await deploy({
      ...made.deployment,
      mode: 'deploy',
      reporter: 'app',
      previewRun: {
        key: { repositoryId: wanted.pull.repositoryId, number: preview.number, entry: preview.entry },
        mustPin: wanted.pull.isFork,
        production,
        idleAfter: wanted.terms.idleAfter,
      },
      wait: true,
      onSuperseded: 'fail',
      control,
      further: control,
      agentAt: context.agentAt,
      threadsAt: context.threadsAt,
      graders,
      judge: context.judge,
      clock,
      random: context.random,
      timeoutMs: Math.max(pollMs, begun.at + timeoutMs - clock.now()),
      pollMs,
      commit: wanted.commit,
      head: wanted.commit,
      journal,
      kept: preview.journal?.version === version ? preview.journal.kept : undefined,
      signal,
      credentials: context.credentials,
    });
    signal.throwIfAborted();
    const begunPreview = { ...preview, known: { ...known, begun } };
    await conclude(begunPreview, outcome, isFinal(outcome) || (journal.isOver && !isUnsent(outcome)), context);
  } finally {
    await graders.close();
  }
}

/**
 * The deployment that a preview is of, which its repository may act on: with it alone a preview is compared, and only
 * where the service says its secrets can the mark of a preview be told. @throws ServiceError
 */
async function findProduction(
  repository: InstallationRepository,
  { name, deploymentId }: Named,
  { control, refusalOf, signal }: RunContext,
): Promise<{ deploymentId: string } | { refusal: string }> {
  const found = await tryCall(findDeployment({ name, deploymentId }, control, signal));
  if (!found.ok && found.error.status !== 404) throw found.error;
  if (!found.ok || !found.value.ok) return { refusal: productionRefusals.absent };
  const { deployment } = found.value;
  if (refusalOf(repository, deployment) !== undefined) return { refusal: productionRefusals.foreign };
  return deployment.secrets == null ? { refusal: productionRefusals.unlisted } : { deploymentId: deployment.id };
}

/** Outcomes after which nothing is tried again, although the run could go on. */
const isFinal = ({ kind }: Outcome): boolean => kind === 'refused' || kind === 'timed-out';

/** The service was not there, so nothing was made: a later run may send it. */
const isUnsent = ({ kind, rollout }: Outcome): boolean => kind === 'failed' && rollout === undefined;

async function conclude(preview: Preview, outcome: Outcome, isOver: boolean, context: RunContext): Promise<void> {
  const { known } = preview;
  const { previews, run, clock, log } = context;
  const failures = (known.failures ?? 0) + 1;
  if (!isOver && failures < maxFailures) {
    log.warn({ pull: preview.number, entry: preview.entry }, `A preview goes on later: ${outcome.reason}`);
    await previews.save(run, { known: { failures, ...deploymentIn(outcome) } });
    return await previews.again(preview, clock.now() + retryAfterMs(failures));
  }
  await end(preview, outcome, context);
}

const deploymentIn = ({ deploymentId }: Outcome) => (deploymentId === undefined ? {} : { deploymentId });

async function end(
  { version, wanted, known }: Preview,
  outcome: Outcome,
  { previews, run, clock, serviceAddress: service }: RunContext,
): Promise<void> {
  const endedAt = clock.now();
  const receipt = receiptSection(outcome, { service, startedAt: known.begun?.at ?? endedAt, endedAt });
  const { kind, passes, reason, consolePage, deploymentUrl } = outcome;
  const address = consolePage ?? deploymentUrl;
  const shown: PreviewOutcome = {
    version,
    commit: wanted.commit,
    kind,
    passes,
    reason,
    summary: summary(outcome, checkLimitBytes - 1),
    ...(address && /^https?:\/\//.test(address) ? { address } : {}),
    ...(receipt === undefined ? {} : { receipt }),
    at: endedAt,
  };
  await previews.save(run, {
    known: { outcome: shown, failures: 0, ...deploymentIn(outcome) },
    journal: null,
    isNews: true,
  });
}

const refusedOutcome = (reason: string): Outcome => ({
  kind: 'refused',
  passes: false,
  reason,
  changed: false,
  notes: [],
});

/** A journal in the store. A shutdown leaves a held revision to the next process; a newer version discards it. */
function journalOf(
  { version }: Preview,
  { previews, run, leaving }: RunContext,
): Journal & { readonly isOver: boolean } {
  let isOver = false;
  return {
    get isOver() {
      return isOver;
    },
    get leavesHeld() {
      return leaving.aborted;
    },
    async keep(kept, redact) {
      isOver = kept === undefined;
      // What ended is stored with its outcome.
      if (kept === undefined) return;
      const deploymentId = deploymentOf(kept.deploy);
      await previews.save(run, {
        journal: toJournalJson({ version, kept } satisfies PreviewJournal, redact),
        ...(deploymentId === undefined ? {} : { known: { deploymentId } }),
      });
    },
  };
}
