import { isObject } from '../../../contract/json-object.ts';
import { notFound, numberAt, Refusal, textAt, type Answer, type ApiCall, type JsonObject } from '../exchange.ts';
import { paged, pageOf } from '../page.ts';
import { installationOf, iso, repositoryFor, type Installation, type Site } from '../site.ts';
import type { Repository } from '../repositories.ts';
import type { Delivery } from '../events/deliveries.ts';
import { appAnswer, installationAnswer } from './app-answers.ts';
import { repositoryAnswer } from './repository-answers.ts';

/** Only the App itself, by the token that it signs. */
function appOnly({ who }: ApiCall): void {
  if (who.kind !== 'app') throw new Refusal(401, 'A JSON web token could not be decoded');
}

const installed = (site: Site): Installation[] => site.installations.filter(({ isInstalled }) => isInstalled);

function installationAt(call: ApiCall, site: Site): Installation {
  appOnly(call);
  const found = installed(site).find(({ id }) => String(id) === call.params['installation_id']);
  if (!found) throw notFound();
  return found;
}

export async function getApp(call: ApiCall, site: Site): Promise<Answer> {
  appOnly(call);
  return { status: 200, body: { ...appAnswer(site), installations_count: installed(site).length } };
}

export async function listInstallations(call: ApiCall, site: Site): Promise<Answer> {
  appOnly(call);
  const answers = installed(site).map((each) => installationAnswer(site, each));
  return paged(call, site.url, answers);
}

export async function getInstallation(call: ApiCall, site: Site): Promise<Answer> {
  return { status: 200, body: installationAnswer(site, installationAt(call, site)) };
}

export async function installationOfRepository(call: ApiCall, site: Site): Promise<Answer> {
  appOnly(call);
  const repository = repositoryFor(site, call.params, {
    kind: 'person',
    login: [...site.people.keys()][0] ?? '',
    token: '',
  });
  const found = installationOf(site, repository);
  if (!found) throw notFound();
  return { status: 200, body: installationAnswer(site, found) };
}

/** The emulated GitHub makes the token; what it may do is kept here too, for what is answered here. */
export async function createToken(call: ApiCall, site: Site): Promise<Answer> {
  const installation = installationAt(call, site);
  const body = call.sent === '' ? {} : call.body;
  const made = await site.emulated.ask('POST', call.path, call.headers['authorization'], body);
  if (made.status !== 201 || !isObject(made.body)) return made;
  const token = textAt(made.body, 'token') ?? '';
  const given = made.body['permissions'];
  const permissions = isObject(given)
    ? Object.fromEntries(Object.entries(given).map(([name, level]) => [name, String(level)]))
    : {};
  const expiresAt = Date.parse(textAt(made.body, 'expires_at') ?? '');
  const narrowed = narrowedTo(made.body, site);
  const repositoryIds = narrowed && new Set(narrowed.map(({ id }) => id));
  const narrow = repositoryIds ? { repositoryIds } : {};
  site.tokens.set(token, { installationId: installation.id, permissions, ...narrow, expiresAt });
  const repositories = narrowed && (await Promise.all(narrowed.map((each) => repositoryAnswer(site, each))));
  return { status: 201, body: { ...made.body, ...(repositories ? { repositories } : {}), expires_at: iso(expiresAt) } };
}

/** The repositories that a token is limited to, if it is limited. */
function narrowedTo(made: JsonObject, site: Site): Repository[] | undefined {
  const listed = made['repositories'];
  if (!Array.isArray(listed)) return undefined;
  return listed.flatMap((each) => {
    const id = isObject(each) ? numberAt(each, 'id') : undefined;
    const repository = id === undefined ? undefined : site.repositories.byId(id);
    return repository ?? [];
  });
}

/** A token ends itself. */
export async function endToken({ who }: ApiCall, site: Site): Promise<Answer> {
  if (who.kind !== 'installation') throw new Refusal(403, 'You must authenticate with an installation access token.');
  site.tokens.delete(who.token);
  return { status: 204 };
}

export async function getHookConfig(call: ApiCall, site: Site): Promise<Answer> {
  appOnly(call);
  const { webhookUrl } = site.app;
  const url = webhookUrl === undefined ? {} : { url: webhookUrl };
  return { status: 200, body: { content_type: 'json', insecure_ssl: '0', secret: '********', ...url } };
}

export async function setHookConfig(call: ApiCall, site: Site): Promise<Answer> {
  appOnly(call);
  site.app.webhookUrl = textAt(call.body, 'url') ?? site.app.webhookUrl;
  site.app.webhookSecret = textAt(call.body, 'secret') ?? site.app.webhookSecret;
  return getHookConfig(call, site);
}

/** Newest first; `cursor` names the delivery that the page begins after. */
export async function listDeliveries(call: ApiCall, site: Site): Promise<Answer> {
  appOnly(call);
  const { query } = call;
  const { perPage } = pageOf(query);
  const cursor = query.get('cursor');
  const after = cursor === null ? Number.POSITIVE_INFINITY : Number(/^v1_(\d+)$/.exec(cursor)?.[1] ?? Number.NaN);
  if (Number.isNaN(after)) throw new Refusal(422, 'Invalid cursor');
  const older = site.deliveries
    .all()
    .filter(({ id, response }) => id < after && response !== undefined)
    .toReversed();
  const page = older.slice(0, perPage);
  const last = page.at(-1);
  const next = `${site.url}/app/hook/deliveries?per_page=${perPage}&cursor=v1_${last?.id ?? 0}`;
  return {
    status: 200,
    body: page.map(deliveryItem),
    ...(older.length > perPage ? { headers: { link: `<${next}>; rel="next"` } } : {}),
  };
}

const deliveryItem = (delivery: Delivery): JsonObject => ({
  id: delivery.id,
  guid: delivery.guid,
  delivered_at: iso(delivery.at),
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

function deliveryAt(call: ApiCall, site: Site): Delivery {
  appOnly(call);
  const delivery = site.deliveries.byId(Number(call.params['delivery_id']));
  if (!delivery) throw notFound();
  return delivery;
}

export async function getDelivery(call: ApiCall, site: Site): Promise<Answer> {
  const delivery = deliveryAt(call, site);
  const { request, response, url } = delivery;
  const body = {
    ...deliveryItem(delivery),
    url,
    request: { headers: request.headers, payload: request.payload },
    response: { headers: response?.headers ?? null, payload: response?.payload ?? null },
  };
  return { status: 200, body };
}

/** The same event under the same GUID once more; it is sent after this is answered. */
export async function attemptDelivery(call: ApiCall, site: Site): Promise<Answer> {
  site.deliveries.again(deliveryAt(call, site));
  return { status: 202, body: {} };
}

/** What the person who accepted the App's manifest brings back: everything that the App has to know. */
export async function convertManifest(call: ApiCall, site: Site): Promise<Answer> {
  const code = call.params['code'] ?? '';
  if (!site.codes.delete(code)) throw notFound();
  const { clientId, clientSecret, webhookSecret, privateKey } = site.app;
  const secrets = { client_id: clientId, client_secret: clientSecret, webhook_secret: webhookSecret, pem: privateKey };
  return { status: 201, body: { ...appAnswer(site), ...secrets } };
}

/** Every installation may ask this often an hour; the gateway counts nothing and says so. */
export async function rateLimit(_: ApiCall, site: Site): Promise<Answer> {
  const reset = Math.floor(site.clock.now() / 1000) + 3600;
  const rate = { limit: 5000, used: 0, remaining: 5000, reset };
  return { status: 200, body: { resources: { core: rate, search: { ...rate, limit: 30, remaining: 30 } }, rate } };
}
