import { isObject } from '../../../kit/json-object.ts';
import {
  notFound,
  pageResponse,
  pageOf,
  Refusal,
  textAt,
  type ApiResponse,
  type ApiCall,
  type JsonObject,
} from '../exchange.ts';
import type { Delivery } from '../deliveries.ts';
import { utc, type Installation, type GitHubState } from '../state.ts';
import { appAnswer, installationAnswer } from './accounts.ts';

/** @throws Refusal unless the caller is the App itself, by the token that it signs. */
function requireApp({ caller }: ApiCall): void {
  if (caller.kind !== 'app') throw new Refusal(401, 'A JSON web token could not be decoded');
}

const activeInstallations = (state: GitHubState): Installation[] =>
  state.installations.filter(({ isInstalled }) => isInstalled);

export async function getApp(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  requireApp(call);
  return { status: 200, body: { ...appAnswer(state), installations_count: activeInstallations(state).length } };
}

export async function listInstallations(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  requireApp(call);
  const answers = await Promise.all(activeInstallations(state).map((each) => installationAnswer(state, each)));
  return pageResponse(call, state.url, answers);
}

/** `emulate` creates the token. The gateway records its installation, to identify callers by itself. */
export async function createToken(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  requireApp(call);
  const installation = activeInstallations(state).find(({ id }) => String(id) === call.params['installation_id']);
  if (!installation) throw notFound();
  const created = await state.emulator.request('POST', call.path, call.headers['authorization'], call.body);
  if (created.status !== 201 || !isObject(created.body)) return created;
  state.installationTokens.set(textAt(created.body, 'token') ?? '', installation);
  return { status: 201, body: { ...created.body, expires_at: utc(textAt(created.body, 'expires_at') ?? '') } };
}

/** Lists deliveries, newest first; `cursor` names the last delivery of the page before. */
export async function listDeliveries(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  requireApp(call);
  const { query } = call;
  const { perPage } = pageOf(query);
  const cursor = query.get('cursor');
  const after = cursor === null ? Number.POSITIVE_INFINITY : Number(/^v1_(\d+)$/.exec(cursor)?.[1] ?? Number.NaN);
  if (Number.isNaN(after)) throw new Refusal(422, 'Invalid cursor');
  const older = state.deliveries.all.filter(({ id, response }) => id < after && response !== undefined).toReversed();
  const page = older.slice(0, perPage);
  const next = `${state.url}/app/hook/deliveries?per_page=${perPage}&cursor=v1_${page.at(-1)?.id ?? 0}`;
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
  redelivery: delivery.isRedelivery,
  duration: delivery.response?.seconds ?? 0,
  status: delivery.response?.status ?? '',
  status_code: delivery.response?.statusCode ?? 0,
  event: delivery.event,
  action: delivery.action,
  installation_id: delivery.installationId,
  repository_id: delivery.repositoryId,
  throttled_at: null,
});

/** Redelivers an event under its GUID, without waiting for the outcome. */
export async function attemptDelivery(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  requireApp(call);
  const delivery = state.deliveries.all.find(({ id }) => String(id) === call.params['delivery_id']);
  if (!delivery) throw notFound();
  state.deliveries.redeliver(delivery);
  return { status: 202, body: {} };
}
