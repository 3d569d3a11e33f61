import { agentAddress } from '../../contract/control/deployment.ts';
import type { DeployRun } from './deploy-run.ts';

/** Where the live agent answers: as requested, or as the service reports it. It may be no URL. */
export const liveAddress = ({ request, known }: DeployRun): string | undefined =>
  request.agentUrl ?? (known.deployment && agentAddress(known.deployment));

/** The client of an agent at an address; undefined where there is none. */
export const clientAt = <Client>(
  address: string | undefined,
  connect: ((url: string) => Client) | undefined,
): Client | undefined => (address !== undefined && URL.canParse(address) ? connect?.(address) : undefined);
