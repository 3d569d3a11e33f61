import { isObject } from '../../../contract/json-object.ts';
import { notFound, type Answer, type ApiCall } from '../exchange.ts';
import { demand, repositoryFor, type Site } from '../site.ts';
import { botOf, withWholeAccounts } from './accounts.ts';
import { pullAnswer } from './pull-answers.ts';
import { deliver } from '../events/deliver.ts';

/** The emulated GitHub stores comments; the App is notified. Only pull requests can be commented on here. */
export async function createComment(call: ApiCall, site: Site): Promise<Answer> {
  const repository = repositoryFor(site, call.params, call.who);
  const record = site.pulls.byNumber(repository.id, Number(call.params['issue_number']));
  if (!record) throw notFound();
  const { status, body } = await site.emulated.ask('POST', call.path, call.headers['authorization'], call.body);
  if (status !== 201 || !isObject(body)) return { status, body };
  const pull = await pullAnswer(site, repository, record);
  const links = {
    url: pull['url'],
    html_url: pull['html_url'],
    diff_url: pull['diff_url'],
    patch_url: pull['patch_url'],
  };
  const fields = ['id', 'node_id', 'number', 'title', 'user', 'state', 'locked', 'body', 'created_at', 'updated_at'];
  const issue = {
    ...Object.fromEntries(fields.map((name) => [name, pull[name]])),
    url: pull['issue_url'],
    pull_request: links,
  };
  const by = call.who.kind === 'person' ? call.who.login : botOf(site).login;
  await deliver(site, repository, 'issue_comment', { action: 'created', issue, comment: body }, by);
  return { status, body: withWholeAccounts(site, body) };
}

export async function deleteComment(call: ApiCall, site: Site): Promise<Answer> {
  const repository = repositoryFor(site, call.params, call.who);
  demand(call.who, repository, 'metadata', 'read');
  const { status, body } = await site.emulated.ask('DELETE', call.path, call.headers['authorization']);
  return { status, body };
}
