import { withoutFullStop } from '../../../kit/plain-text.ts';
import type { ServiceError } from '../../../contract/service-error.ts';
import * as z from 'zod';

/** A refusal or failure of the cluster, as a message with what to do. Not masked yet. */
export function clusterProblem(error: ServiceError, server: string, namespace: string): string {
  const { kind, operation, status, detail } = error;
  const detailText = detail === undefined ? '' : `: ${withoutFullStop(detail)}`;
  switch (kind) {
    case 'unreachable':
      return `The cluster at ${server} could not be reached${detailText}. Check the server of the kubeconfig's context, and the way from here to it.`;
    case 'unauthorized':
      if (status === 401)
        return `The cluster at ${server} did not accept the credentials. Check the user of the kubeconfig's context.`;
      if (/exceeded quota|limitrange|maximum (?:\S+ )?usage/i.test(detail ?? '')) {
        return `The namespace ${namespace} has no room: ${operation} was refused${detailText}. Raise its quota, or ask for less in source_config.resource_spec.`;
      }
      return `The cluster refused to ${operation} in the namespace ${namespace}${detailText}. Give this account a role there that lets it get, list, patch, create and delete what a deployment is made of, and read pods, their logs and events.`;
    case 'missing':
      if (/namespaces? "?[^\s"]{0,63}"? not found/i.test(detail ?? '')) return missingNamespace(namespace);
      return `The cluster knows nothing of what it takes to ${operation}${detailText}. It may be too old: Kubernetes 1.30 or newer is needed.`;
    case 'conflict':
      return `The cluster did not ${operation}: something else holds it${detailText}. Rename or remove what stands in the namespace ${namespace} under that name.`;
    case 'rejected':
      return `The cluster refused to ${operation}${detailText}. Change source_config.resource_spec.`;
    case 'busy':
    case 'unreadable':
      return `The cluster at ${server} could not ${operation} (${status === undefined ? 'its response was unreadable' : `it answered ${status}`})${detailText}. Try again once it is available.`;
  }
}

/** We never create a namespace: its owner decides what may run in it. */
export const missingNamespace = (namespace: string): string =>
  `The cluster has no namespace ${namespace}. Make it, or name another one in source_config.listener_config.k8s_namespace when the deployment is created.`;

export const missingServiceAccount = (name: string, namespace: string): string =>
  `The service account ${name} is not in the namespace ${namespace}. It has to be there beforehand: make it, or change source_config.resource_spec.service_account_name.`;

/** Without this message the pull would fail as if there were no credentials: a cluster ignores the Secret silently. */
export const wrongPullSecret = (name: string, namespace: string, type: string): string =>
  `The Secret ${name} in the namespace ${namespace} is of the type ${type}, with which a cluster pulls no image. Make it by kubectl create secret docker-registry, or change source_config.resource_spec.image_pull_secrets.`;

export const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;

export const podEvent = z.looseObject({
  reason: z.string().default(''),
  message: z.string().default(''),
  type: z.string().default(''),
  lastTimestamp: z.string().nullish(),
  eventTime: z.string().nullish(),
});
export type PodEvent = z.infer<typeof podEvent>;

/** The time of the last occurrence, if known; strings that sort by time. */
export const occurredAt = ({ lastTimestamp, eventTime }: PodEvent): string => lastTimestamp ?? eventTime ?? '';

/** The event reasons that name a cause: all others repeat its consequences. */
const causeReasons = new Set(['Failed', 'FailedMount', 'FailedAttachVolume', 'Unhealthy', 'FailedScheduling']);

/** Whether an event says more than that something is retried: `Error: ImagePullBackOff` names a state, not a cause. */
export const isInformative = ({ reason, message }: PodEvent): boolean =>
  reason !== 'BackOff' && !/^Error: \w+$/.test(message);

export const namesCause = (event: PodEvent): boolean => causeReasons.has(event.reason) && isInformative(event);

/** Whether an event no longer matters once a container of the pod has run. */
export const isResolvedOnceRun = ({ reason }: PodEvent): boolean =>
  reason === 'FailedScheduling' || reason === 'FailedMount' || reason === 'FailedAttachVolume';

export const describeEvent = ({ reason, message }: PodEvent): string => `${reason}: ${withoutFullStop(message)}.`;
