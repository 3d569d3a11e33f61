import { fromJson } from '../../src/contract/json-text.ts';
import { isObject } from '../../src/contract/json-object.ts';
import { storableText } from './storable-json.ts';

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

/** The job that handles one delivery. */
export const deliveryJob = 'delivery';

export interface DeliveryJob {
  /** The delivery's GUID. */
  id: string;
}

/** The longest action (UTF-16 code units) in its own column; the payload has it whole. */
const longestAction = 100;

/** The indexed fields of a payload; undefined if it is no JSON object. */
export function readIndexedFields(
  text: string,
): Pick<Delivery, 'action' | 'installationId' | 'repositoryId'> | undefined {
  const payload = fromJson(text);
  if (!isObject(payload)) return undefined;
  return {
    action: typeof payload['action'] === 'string' ? storableText(payload['action'].slice(0, longestAction)) : undefined,
    installationId: idOf(payload['installation']),
    repositoryId: idOf(payload['repository']),
  };
}

function idOf(value: unknown): number | undefined {
  const id = isObject(value) ? value['id'] : undefined;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}
