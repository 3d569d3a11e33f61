import { fromJson, storableText } from '../../src/kit/json-text.ts';
import { isObject } from '../../src/kit/json-object.ts';

/** A verified webhook, as stored. */
export interface Delivery {
  /** GitHub's GUID, in lower case: the same for a delivery that is sent again. */
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
 * The jobs that handle a delivery. What strangers can send has its own, so that no number of pull requests keeps a push
 * waiting.
 */
export const deliveryJob = 'delivery';
export const strangersJob = 'delivery-of-strangers';

export interface DeliveryJob {
  /** The delivery's GUID. */
  id: string;
  /** Absent where the delivery names none. */
  installationId?: number;
  /** That of the job, for another job of the delivery. */
  group?: string;
}

/** The events that people with write access to the repository, or owners of the account, cause. */
const ownEvents = new Set(
  'push delete check_run check_suite merge_group installation installation_repositories repository'.split(' '),
);

/**
 * The job of a delivery. Of one group one job is worked on at a time: of pushes by repository; of what strangers send by
 * installation, so that a pull request waits for others of its own account alone.
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

/** The indexed fields of a payload; undefined if it is no JSON object. */
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
