import { ServiceError } from '../contract/service-error.ts';
import { inWords } from './duration.ts';
import { asLine } from './harmless.ts';

/** What went wrong in one sentence, and what to do about it in another. */
export interface Explanation {
  reason: string;
  advice: string;
}

/** Turns a failure of one of the two services into words that name the input to open. */
export function explain(error: ServiceError): Explanation {
  return { reason: asLine(error.message, 1000), advice: adviceFor(error) };
}

function adviceFor({ kind, status, retryAfterMs, problems, effect }: ServiceError): string {
  switch (kind) {
    case 'unauthorized':
      return status === 403
        ? 'Check that the key of api-key may do this, and give tenant-id: a key of an organisation needs it.'
        : 'Check the api-key input: the service does not know this key.';
    case 'missing':
      return 'Check the deployment-id input, base-url with its path prefix, and the workspace that the key belongs to.';
    case 'conflict':
      return 'Something of this name is there already: choose another name, or give the deployment-id of the one that is meant.';
    case 'busy':
      return retryAfterMs === undefined
        ? 'The service is overloaded or broken: run this step again later.'
        : `The service asks to come back in ${inWords(retryAfterMs)}: run this step again then, or raise timeout-minutes.`;
    case 'unreachable':
      return effect === 'unknown'
        ? 'Look at the deployment before you run this step again: the request may have taken effect.'
        : 'Check base-url, the network between this machine and the service, and HTTPS_PROXY and NO_PROXY.';
    case 'unreadable':
      return 'Check base-url: what answered there does not speak as a deployment control service or an agent server does.';
    case 'rejected':
      return problems.length > 0
        ? 'Correct the fields that are named; each is an input of the same name with hyphens.'
        : 'Change what the sentence of the service names, and run this step again.';
  }
}
