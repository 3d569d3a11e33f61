import type { PreviewRequest } from '../deploy/machine/preview.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';
import type { Problem } from '../kit/diagnostics/problem.ts';
import type { PreviewSubject } from './read-preview.ts';
import { endedWhilePacking, packSourceDir, runOptionsOf, withServices, type DeployInputs } from './run-deployment.ts';

/** What a run about a preview is given by its host. */
export interface PreviewInputs
  extends
    Pick<DeployInputs, 'options' | 'userAgent' | 'receipt' | 'signal' | 'mask' | 'workflow'>,
    Pick<
      PreviewRequest,
      'pull' | 'approvedSha' | 'isRequested' | 'eventSha' | 'changedLabel' | 'valueOfVariable' | 'isClosed'
    > {
  subject: PreviewSubject;
  emit: (event: DeployEvent) => void;
  /** The outcome of a run whose folder can't be packed. */
  refuse: (problems: readonly Problem[]) => Outcome;
}

/** Connects the clients, and creates, updates or removes the preview of a pull request. */
export async function runPreviewOf({
  options,
  subject,
  userAgent,
  receipt,
  refuse,
  ...inputs
}: PreviewInputs): Promise<Outcome> {
  const { runPreview } = await import('../deploy/machine/preview.ts');
  const { agentUrl: _, ...runOptions } = runOptionsOf(options);
  const { smokeTests, deployment } = subject;
  const modeOf = ({ kind }: Outcome) => (kind === 'deleted' ? 'delete' : 'deploy');
  return withServices({ options, userAgent, receipt, smokeTests, modeOf, mask: inputs.mask }, (services) =>
    runPreview({
      ...runOptions,
      ...inputs,
      ...services,
      deployment,
      pack: async (desired) => {
        const packed = await packSourceDir({ mode: 'deploy', desired }, options, inputs.signal);
        if (packed.kind === 'ended') return { ok: false, outcome: endedWhilePacking };
        if (packed.kind === 'packed') return { ok: true, ...(packed.tarball ? { tarball: packed.tarball } : {}) };
        return { ok: false, outcome: refuse(packed.problems) };
      },
    }),
  );
}
