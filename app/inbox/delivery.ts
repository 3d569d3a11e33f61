import { fromJson, storableText } from '../../src/kit/json-text.ts';
import { isObject } from '../../src/kit/json-object.ts';

/** A verified webhook, as stored. */
export interface Delivery {
  /** GitHub's GUID, in lower case; redeliveries have the same one. */
  id: string;
  event: string;
  action: string | undefined;
  installationId: number | undefined;
  repositoryId: number | undefined;
  /** The signed text. */
  payload: string;
  /** ms since the epoch */
  receivedAt: number;
}

/**
 * The jobs that handle deliveries. Events that strangers can cause have their own, so that no number of pull requests
 * delays a push.
 */
export const deliveryJob = 'delivery';
export const strangersJob = 'delivery-of-strangers';

export interface DeliveryJob {
  /** The delivery's GUID. */
  id: string;
  /** Absent if the delivery has no installation. */
  installationId?: number;
  /** The group of the job, to send it again. */
  group?: string;
}

/** The events that only people with write access to the repository, or owners of the account, can cause. */
const ownEvents = new Set(
  'push delete check_run check_suite merge_group installation installation_repositories repository'.split(' '),
);

/**
 * The job of a delivery. Jobs of a group run one after another: events of a repository's own people are grouped by
 * repository, those of strangers by installation, so that a pull request waits only for others of the same account.
 */
export function jobOf({ id, event, installationId, repositoryId }: DeliveryKey): {
  name: string;
  data: DeliveryJob;
  group?: string;
} {
  const isOwn = ownEvents.has(event);
  const [kind, key] =
    isOwn && repositoryId !== undefined ? ['repository', repositoryId] : ['installation', installationId];
  const turn = key === undefined ? {} : { group: `${kind} ${key}` };
  const data = { id, ...(installationId === undefined ? {} : { installationId }), ...turn };
  return { name: isOwn ? deliveryJob : strangersJob, data, ...turn };
}

type DeliveryKey = Pick<Delivery, 'id' | 'event' | 'installationId' | 'repositoryId'>;

/** The longest action (UTF-16 code units) in its own column; the payload has it whole. */
const maxActionLength = 100;

/** The indexed fields of a payload; undefined if it is not a JSON object. */
export function readIndexedFields(
  text: string,
): Pick<Delivery, 'action' | 'installationId' | 'repositoryId'> | undefined {
  const payload = fromJson(text);
  if (!isObject(payload)) return undefined;
  return {
    action:
      typeof payload['action'] === 'string' ? storableText(payload['action'].slice(0, maxActionLength)) : undefined,
    installationId: idOf(payload['installation']),
    repositoryId: idOf(payload['repository']),
  };
}

function idOf(value: unknown): number | undefined {
  const id = isObject(value) ? value['id'] : undefined;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}
