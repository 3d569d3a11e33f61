import type { HostedRepository, PreviewRequest, SweepRequest } from '../deploy/machine/preview.ts';
import type { Workflow } from '../deploy/file/workflow.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';
import type { Problem } from '../kit/diagnostics/problem.ts';
import type { PreviewSubject } from './read-preview.ts';
import { endedWhilePacking, packSourceDir, runOptionsOf, withServices, type DeployInputs } from './run-deployment.ts';

/** What a run about previews is given by its host. */
export interface PreviewInputs
  extends
    Pick<DeployInputs, 'options' | 'userAgent' | 'receipt' | 'signal' | 'mask'>,
    Pick<SweepRequest, 'isClosed' | 'entry'> {
  subject: PreviewSubject;
  emit: (event: DeployEvent) => void;
}

/** The same about that of a pull request. */
export interface PullRequestInputs
  extends PreviewInputs, Pick<PreviewRequest, 'pull' | 'approvedSha' | 'isRequested' | 'eventSha' | 'valueOfVariable'> {
  workflow?: Workflow | undefined;
  /** The outcome of a run whose folder can't be packed. */
  refuse: (problems: readonly Problem[]) => Outcome;
}

/** Connects the clients, and creates, updates or removes the preview of a pull request. */
export async function runPreviewOf({ refuse, ...inputs }: PullRequestInputs): Promise<Outcome> {
  const { runPreview } = await import('../deploy/machine/preview.ts');
  return withRequest(inputs, (request) =>
    runPreview({
      ...inputs,
      ...request,
      pack: async (desired) => {
        const packed = await packSourceDir({ mode: 'deploy', desired }, inputs.options, inputs.signal);
        if (packed.kind === 'ended') return { ok: false, outcome: endedWhilePacking };
        if (packed.kind === 'packed') return { ok: true, ...(packed.tarball ? { tarball: packed.tarball } : {}) };
        return { ok: false, outcome: refuse(packed.problems) };
      },
    }),
  );
}

/** Connects the clients, and removes the previews of a repository that are over. */
export async function sweepPreviewsOf(inputs: PreviewInputs, repository: HostedRepository): Promise<Outcome> {
  const { sweepPreviews } = await import('../deploy/machine/preview.ts');
  return withRequest(inputs, (request) => sweepPreviews(request, repository));
}

function withRequest(
  { options, subject, userAgent, receipt, mask, signal, emit, isClosed, entry }: PreviewInputs,
  work: (request: SweepRequest) => Promise<Outcome>,
): Promise<Outcome> {
  const { agentUrl: _, ...runOptions } = runOptionsOf(options);
  const { smokeTests, deployment } = subject;
  const modeOf = ({ kind }: Outcome) => (kind === 'deleted' ? 'delete' : 'deploy');
  return withServices({ options, userAgent, receipt, smokeTests, modeOf, mask }, (services) =>
    work({ ...runOptions, ...services, signal, emit, isClosed, entry, deployment }),
  );
}
