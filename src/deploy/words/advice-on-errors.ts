import { type ControlOperation, type ErrorFacts, isOf, type ServiceError } from '../../contract/service-error.ts';
import type { Host } from './outcomes.ts';

/** What a host calls the settings of its control service, and how it is run again. */
const settings = {
  run: {
    key: 'api-key (LANDFALL_API_KEY in a terminal)',
    tenant: 'tenant-id',
    address: 'base-url',
    again: 'run this again',
  },
  app: { key: 'LANDFALL_API_KEY', tenant: 'LANDFALL_TENANT_ID', address: 'LANDFALL_BASE_URL', again: 'press Re-run' },
} satisfies Record<Host, Record<string, string>>;

/** What a person can do about a failure of the control service: which setting to open, or what to look at first. */
export function adviceOn(error: ErrorFacts, host: Host): string {
  const { kind, problems, status } = error;
  const { key, tenant, address, again } = settings[host];
  const special = byOperation[kind]?.find(([operation]) => isOf(error, operation));
  if (special) return special[1];
  switch (kind) {
    case 'unauthorized':
      return status === 403
        ? `Check what the key in ${key} may do, and set ${tenant}: a key of an organisation needs it.`
        : `Check ${key}: the service does not accept this key.`;
    case 'missing':
      return `Check ${address} with its path prefix: the service has nothing at this address.`;
    case 'conflict':
      return `Find out what else changes the deployment, and ${again}.`;
    case 'busy':
      return `The service is overloaded or broken: ${again} later.`;
    case 'unreachable':
      return `Check ${address}, the network, and HTTPS_PROXY and NO_PROXY.`;
    case 'unreadable':
      return `Check ${address}: what answers there is not a deployment control service.`;
    case 'rejected':
      return problems.length > 0 && host === 'run'
        ? 'Correct the fields that are named: each has an input of its name, with hyphens.'
        : `Correct what the service names, and ${again}.`;
  }
}

const gone = 'Check that the deployment exists in the workspace that the key belongs to.';

/** Failures that one operation explains, the same for all hosts. */
const byOperation: Partial<Record<ServiceError['kind'], readonly (readonly [ControlOperation, string])[]>> = {
  unauthorized: [
    ['upload source', 'Look at the store that the service names for uploads: it did not accept its own address.'],
  ],
  missing: [
    ['request upload', 'This service takes no uploads: choose another source, or another service.'],
    ['delete deployment', 'This service deletes no deployments: delete it where the service is run.'],
    ['redeploy revision', 'This service does not deploy an old revision again: revert the commit and push it.'],
    ['get deployment', gone],
    ['patch deployment', gone],
  ],
  conflict: [
    [
      'create deployment',
      'Choose another name, give the deployment-id of the existing deployment, or delete the tracing project of this name.',
    ],
  ],
  unreachable: [
    ['upload source', 'Check that the address which the service hands out for uploads can be reached from here.'],
  ],
};
