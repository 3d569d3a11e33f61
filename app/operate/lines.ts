import { isObject } from '../../src/contract/json-object.ts';
import type { FailingJob } from '../../src/postgres/queue-jobs.ts';
import type { StoredDelivery } from '../inbox/deliveries.ts';

/** A failing job, as two lines of text. */
export const jobLines = ({ id, name, data, state, attempts, at, problem }: FailingJob): string[] => [
  `${id}  ${name}  ${state === 'failed' ? 'failed for good' : 'comes again'} ${at.toISOString()}  after ${times(attempts)}  ${JSON.stringify(data)}`,
  `    ${oneLine(problem)}`,
];

/** A delivery, as a line or two. */
export function deliveryLines(delivery: StoredDelivery): string[] {
  const { id, event, action, repositoryId, receivedAt, lastError } = delivery;
  const what = [event, action].filter((part) => part !== undefined).join('.');
  const where = repositoryId === undefined ? '' : `  repository ${repositoryId}`;
  const first = `${id}  ${new Date(receivedAt).toISOString()}  ${what}${where}  ${standing(delivery)}`;
  return lastError === undefined ? [first] : [first, `    ${oneLine(lastError)}`];
}

function standing({ handledAt, attempts, decision }: StoredDelivery): string {
  if (handledAt === undefined) return attempts === 0 ? 'waits' : `failed ${times(attempts)}`;
  const { kind, why } = isObject(decision) ? decision : {};
  if (typeof kind !== 'string') return 'handled';
  return typeof why === 'string' ? `${kind}: ${oneLine(why)}` : kind;
}

const times = (count: number): string => (count === 1 ? 'one attempt' : `${count} attempts`);

/** Escapes control characters in untrusted text, which a terminal would execute. */
const oneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, 500);
