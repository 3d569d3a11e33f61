import type { ServiceError } from '../contract/service-error.ts';

/** What a person can do about a failure of the control service: which input to open, or what to look at first. */
export function adviceOn(error: ServiceError): string {
  const { kind, operation, problems, status } = error;
  switch (kind) {
    case 'unauthorized':
      if (operation === 'upload source')
        return 'Look at the store that the service names for uploads: it did not take its own address.';
      return status === 403
        ? 'Check what the key of api-key may do, and give tenant-id: a key of an organisation needs it.'
        : 'Check api-key: the service does not take this key.';
    case 'missing':
      if (operation === 'request upload')
        return 'This service takes no uploads: choose another source, or another service in base-url.';
      if (operation === 'delete deployment')
        return 'This service deletes no deployments: remove it where the service is run.';
      return operation === 'get deployment'
        ? 'Check deployment-id, and the workspace that the key belongs to.'
        : 'Check base-url with its path prefix: the service has nothing at this address.';
    case 'conflict':
      return operation === 'create deployment'
        ? 'Choose another name, give the deployment-id of the one that is there, or delete the tracing project of this name.'
        : 'Look at what changes the deployment at the same time, and run this again.';
    case 'busy':
      return 'Run this again later: the service is overloaded or broken.';
    case 'unreachable':
      if (operation === 'upload source')
        return 'Check that the address which the service hands out for uploads can be reached from here.';
      return 'Check base-url, the network, and HTTPS_PROXY and NO_PROXY.';
    case 'unreadable':
      return 'Check base-url: what answers there does not speak as a deployment control service does.';
    case 'rejected':
      return problems.length > 0
        ? 'Correct the fields that are named: each has an input of its name, with hyphens.'
        : 'Change what the service names, and run this again.';
  }
}
