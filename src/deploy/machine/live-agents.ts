import { agentAddress, type IdleAfter } from '../../contract/control/deployment.ts';
import { messageOf } from '../../kit/errors.ts';
import type { Named } from '../file/desired.ts';
import type { PreviewOf } from '../rules/preview.ts';
import { tryCall } from '../smoke/try-call.ts';
import type { DeployRun, RunTerms } from './deploy-run.ts';
import { findDeployment } from './find-deployments.ts';

/** Where the live agent answers: as requested, or as the service reports it. It may be no URL. */
export const liveAddress = ({ request, known }: DeployRun): string | undefined =>
  request.agentUrl ?? (known.deployment && agentAddress(known.deployment));

/** The client of an agent at an address; undefined where there is none. */
export const clientAt = <Client>(
  address: string | undefined,
  connect: ((url: string) => Client) | undefined,
): Client | undefined => (address !== undefined && URL.canParse(address) ? connect?.(address) : undefined);

/** What a run about a preview knows besides. */
export interface PreviewRun {
  /** No deployment without its mark is changed or deleted. */
  key: PreviewOf;
  /** Nothing but the commit of the request may be built: one of a fork, which a person approved. */
  mustPin?: boolean;
  /** The deployment that it is a preview of: it is compared with its live agent. */
  production: Named;
  /** When its agent is scaled to zero, where the service does that. */
  idleAfter?: IdleAfter | undefined;
  /** Clients of that agent; absent: those of the run. */
  agents?: Pick<RunTerms, 'agentAt' | 'threadsAt'>;
}

/** The live agent of a deployment. */
export interface ProductionAgent {
  address: string;
  revisionId: string;
}

/**
 * The live agent of the deployment that a run is a preview of, by the client that is connected; undefined for every
 * other run, and where nothing is live. It is looked up once.
 */
export async function productionAgent<Client>(
  run: DeployRun,
  connectOf: (agents: Pick<RunTerms, 'agentAt' | 'threadsAt'>) => ((url: string) => Client) | undefined,
): Promise<Client | undefined> {
  const { previewRun } = run.request;
  if (!previewRun) return undefined;
  run.known.production ??= await lookUp(run);
  return clientAt(run.known.production?.address, connectOf(previewRun.agents ?? run.request));
}

/** One that can't be read is noted: the preview is still tested, and compared with nothing. */
async function lookUp(run: DeployRun): Promise<ProductionAgent | null> {
  const { previewRun, control, signal } = run.request;
  if (!previewRun) return null;
  const found = await tryCall(findDeployment(previewRun.production, control, signal));
  if (!found.ok) run.note({ code: 'production-unread', text: messageOf(found.error) });
  if (!found.ok || !found.value.ok) return null;
  const { deployment } = found.value;
  run.sawBeside(deployment);
  const [address, revisionId] = [agentAddress(deployment), deployment.active_revision_id];
  return address && revisionId ? { address, revisionId } : null;
}
