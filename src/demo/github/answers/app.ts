import { isObject } from '../../../contract/json-object.ts';
import { notFound, numberAt, paged, pageOf, Refusal, textAt } from '../exchange.ts';
import type { Answer, ApiCall, JsonObject } from '../exchange.ts';
import type { Delivery } from '../events/deliveries.ts';
import type { Repository } from '../repositories.ts';
import { iso, reaches, type Installation, type Site } from '../site.ts';
import { appAnswer, installationAnswer } from './accounts.ts';
import { repositoryAnswer } from './repositories.ts';

/** Only the App itself, by the token that it signs. */
function appOnly({ who }: ApiCall): void {
  if (who.kind !== 'app') throw new Refusal(401, 'A JSON web token could not be decoded');
}

const installed = (site: Site): Installation[] => site.installations.filter(({ isInstalled }) => isInstalled);

export async function getApp(call: ApiCall, site: Site): Promise<Answer> {
  appOnly(call);
  return { status: 200, body: { ...appAnswer(site), installations_count: installed(site).length } };
}

export async function listInstallations(call: ApiCall, site: Site): Promise<Answer> {
  appOnly(call);
  const answers = installed(site).map((each) => installationAnswer(site, each));
  return paged(call, site.url, answers);
}

/** What an installation may reach. */
export async function installationRepositories(call: ApiCall, site: Site): Promise<Answer> {
  const { who } = call;
  if (who.kind !== 'installation') throw new Refusal(403, 'You must authenticate with an installation access token.');
  const own = site.repositories.all().filter((repository) => reaches(who, repository));
  const answers = await Promise.all(own.map((repository) => repositoryAnswer(site, repository)));
  return paged(call, site.url, answers, (page) => ({
    total_count: own.length,
    repository_selection: 'all',
    repositories: page,
  }));
}

/** The emulated GitHub makes the token; what it may do is kept here too, for what is answered here. */
export async function createToken(call: ApiCall, site: Site): Promise<Answer> {
  appOnly(call);
  const installation = installed(site).find(({ id }) => String(id) === call.params['installation_id']);
  if (!installation) throw notFound();
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

/** The same event under the same GUID once more; it is sent after this is answered. */
export async function attemptDelivery(call: ApiCall, site: Site): Promise<Answer> {
  appOnly(call);
  const delivery = site.deliveries.all().find(({ id }) => String(id) === call.params['delivery_id']);
  if (!delivery) throw notFound();
  site.deliveries.again(delivery);
  return { status: 202, body: {} };
}
