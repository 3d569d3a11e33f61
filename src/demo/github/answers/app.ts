import { isObject } from '../../../kit/json-object.ts';
import {
  notFound,
  paged,
  pageOf,
  Refusal,
  textAt,
  type ApiResponse,
  type ApiCall,
  type JsonObject,
} from '../exchange.ts';
import type { Delivery } from '../deliveries.ts';
import { utc, type Installation, type Site } from '../site.ts';
import { appAnswer, installationAnswer } from './accounts.ts';

/** Only the App itself, by the token that it signs. */
function appOnly({ who }: ApiCall): void {
  if (who.kind !== 'app') throw new Refusal(401, 'A JSON web token could not be decoded');
}

const installed = (site: Site): Installation[] => site.installations.filter(({ isInstalled }) => isInstalled);

export async function getApp(call: ApiCall, site: Site): Promise<ApiResponse> {
  appOnly(call);
  return { status: 200, body: { ...appAnswer(site), installations_count: installed(site).length } };
}

export async function listInstallations(call: ApiCall, site: Site): Promise<ApiResponse> {
  appOnly(call);
  const answers = await Promise.all(installed(site).map((each) => installationAnswer(site, each)));
  return paged(call, site.url, answers);
}

/** The emulated GitHub makes the token; whose it is is kept here too, for what is answered here. */
export async function createToken(call: ApiCall, site: Site): Promise<ApiResponse> {
  appOnly(call);
  const installation = installed(site).find(({ id }) => String(id) === call.params['installation_id']);
  if (!installation) throw notFound();
  const made = await site.emulated.ask('POST', call.path, call.headers['authorization'], call.body);
  if (made.status !== 201 || !isObject(made.body)) return made;
  site.tokens.set(textAt(made.body, 'token') ?? '', installation);
  return { status: 201, body: { ...made.body, expires_at: utc(textAt(made.body, 'expires_at') ?? '') } };
}

/** Newest first; `cursor` names the delivery that the page begins after. */
export async function listDeliveries(call: ApiCall, site: Site): Promise<ApiResponse> {
  appOnly(call);
  const { query } = call;
  const { perPage } = pageOf(query);
  const cursor = query.get('cursor');
  const after = cursor === null ? Number.POSITIVE_INFINITY : Number(/^v1_(\d+)$/.exec(cursor)?.[1] ?? Number.NaN);
  if (Number.isNaN(after)) throw new Refusal(422, 'Invalid cursor');
  const older = site.deliveries.all.filter(({ id, response }) => id < after && response !== undefined).toReversed();
  const page = older.slice(0, perPage);
  const next = `${site.url}/app/hook/deliveries?per_page=${perPage}&cursor=v1_${page.at(-1)?.id ?? 0}`;
  return {
    status: 200,
    body: page.map(deliveryItem),
    ...(older.length > perPage ? { headers: { link: `<${next}>; rel="next"` } } : {}),
  };
}

const deliveryItem = (delivery: Delivery): JsonObject => ({
  id: delivery.id,
  guid: delivery.guid,
  delivered_at: utc(delivery.at),
  redelivery: delivery.isAgain,
  duration: delivery.response?.seconds ?? 0,
  status: delivery.response?.status ?? '',
  status_code: delivery.response?.statusCode ?? 0,
  event: delivery.event,
  action: delivery.action,
  installation_id: delivery.installationId,
  repository_id: delivery.repositoryId,
  throttled_at: null,
});

/** The same event under the same GUID once more; it is sent after this is answered. */
export async function attemptDelivery(call: ApiCall, site: Site): Promise<ApiResponse> {
  appOnly(call);
  const delivery = site.deliveries.all.find(({ id }) => String(id) === call.params['delivery_id']);
  if (!delivery) throw notFound();
  site.deliveries.again(delivery);
  return { status: 202, body: {} };
}
