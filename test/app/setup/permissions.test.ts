import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript-5';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { events, permissions } from '../../../app/setup/manifest.ts';
import type { AnyRoute } from '../../../src/github/client.ts';
import { recorded } from '../../recorded.ts';

const root = resolve(import.meta.dirname, '../../..');

/** What a call needs: one of these permissions at this level, or none where the App speaks for itself. */
type Need = { oneOf: readonly string[]; level: 'read' | 'write' } | 'none' | 'optional';
const read = (...oneOf: string[]): Need => ({ oneOf, level: 'read' });
const write = (...oneOf: string[]): Need => ({ oneOf, level: 'write' });

/** From https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps, as of 2026. */
const needs: { [Route in AnyRoute]?: Need } = {
  'GET /app': 'none',
  // Only people have a login: the App shares the code that asks for it, and never does.
  'GET /user': 'none',
  'GET /app/hook/deliveries': 'none',
  'POST /app/hook/deliveries/{delivery_id}/attempts': 'none',
  'GET /app/installations': 'none',
  'GET /installation/repositories': read('metadata'),
  'GET /repos/{owner}/{repo}': read('metadata'),
  'GET /repos/{owner}/{repo}/collaborators/{username}/permission': read('metadata'),
  'GET /repos/{owner}/{repo}/rules/branches/{branch}': read('metadata'),
  'GET /repos/{owner}/{repo}/branches': read('contents'),
  'GET /repos/{owner}/{repo}/branches/{branch}': read('contents'),
  'GET /repos/{owner}/{repo}/compare/{basehead}': read('contents'),
  'GET /repos/{owner}/{repo}/contents/{path}': read('contents'),
  'GET /repos/{owner}/{repo}/commits/{ref}': read('contents'),
  'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls': read('pull_requests'),
  'GET /repos/{owner}/{repo}/pulls': read('pull_requests'),
  'GET /repos/{owner}/{repo}/pulls/{pull_number}': read('pull_requests'),
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/files': read('pull_requests'),
  'GET /repos/{owner}/{repo}/commits/{ref}/check-runs': read('checks'),
  'GET /repos/{owner}/{repo}/check-runs/{check_run_id}': read('checks'),
  'POST /repos/{owner}/{repo}/check-runs': write('checks'),
  'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}': write('checks'),
  'GET /repos/{owner}/{repo}/commits/{ref}/status': read('statuses'),
  'GET /repos/{owner}/{repo}/environments/{environment_name}': read('actions'),
  'GET /repos/{owner}/{repo}/environments/{environment_name}/deployment-branch-policies': read('actions'),
  'GET /repos/{owner}/{repo}/environments/{environment_name}/deployment_protection_rules': read('actions'),
  // Who is in a team that reviews deploys: its owner may give the App Members (read), which it does not ask for.
  'GET /orgs/{org}/teams/{team_slug}/memberships/{username}': 'optional',
  'GET /repos/{owner}/{repo}/deployments': read('deployments'),
  'POST /repos/{owner}/{repo}/deployments': write('deployments'),
  'GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses': read('deployments'),
  'POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses': write('deployments'),
  'GET /repos/{owner}/{repo}/issues/{issue_number}/comments': read('issues', 'pull_requests'),
  'POST /repos/{owner}/{repo}/issues/{issue_number}/comments': write('issues', 'pull_requests'),
  'GET /repos/{owner}/{repo}/issues/comments/{comment_id}': read('issues', 'pull_requests'),
  'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}': write('issues', 'pull_requests'),
  'DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}': write('issues', 'pull_requests'),
  'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions': write('issues', 'pull_requests'),
};
const needOf = new Map<string, Need>(Object.entries(needs));

/** The routes that a file names, other than in its types. */
function routesIn(file: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node)) return;
    if (ts.isStringLiteralLike(node) && /^(?:GET|POST|PUT|PATCH|DELETE) \//.test(node.text)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
  return found;
}

/** The files that the App runs: those that its program imports, and what they import. */
function filesOfApp(): string[] {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const { fileName } of ts.preProcessFile(readFileSync(file, 'utf8')).importedFiles) {
      if (fileName.startsWith('.') && fileName.endsWith('.ts')) visit(resolve(dirname(file), fileName));
    }
  };
  visit(join(root, 'app/main.ts'));
  return [...seen];
}

const calls = filesOfApp()
  .filter((file) => /^(?:app|src\/github)\//.test(relative(root, file)))
  .flatMap(routesIn);

/** The operations of the document against which the requests of the demo and of journeys are checked. */
const documented = z
  .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
  .parse(recorded('github-openapi/api.github.com.json')).paths;

/** GitHub's own description of each event names the permission that it takes. */
const published = readFileSync(join(root, 'node_modules/@octokit/openapi-webhooks-types/types.d.ts'), 'utf8');
function permissionsOfEvent(event: string): string[] {
  const end = published.search(new RegExp(`post: operations\\["${event.replaceAll('_', '-')}["/]`));
  const text = published.slice(published.lastIndexOf('/**', end), end);
  const [, names = ''] = /at least read-level access for the ((?:"[^"]+"(?: or )?)+)/.exec(text) ?? [];
  return [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => idOf(name));
}
/** The names of permissions in prose, where they are not the id in other letters. */
const ids: Record<string, string> = { 'Commit statuses': 'statuses' };
const idOf = (name: string): string => ids[name] ?? name.toLowerCase().replaceAll(' ', '_');

const levelOf = (permission: string): string | undefined => new Map(Object.entries(permissions)).get(permission);
const hasLevel = ({ oneOf, level }: Exclude<Need, string>): boolean =>
  oneOf.some((each) => levelOf(each) === 'write' || (level === 'read' && levelOf(each) === 'read'));

describe('the permissions of the App', () => {
  test('are of calls that the recorded document of GitHub has', () => {
    const isDocumented = (route: string): boolean => {
      const [method = '', path = ''] = route.split(' ');
      return documented[path]?.[method.toLowerCase()] !== undefined;
    };
    expect(calls.filter((route) => !isDocumented(route))).toEqual([]);
  });

  test('are known for each of its calls', () => {
    expect(calls.length).toBeGreaterThan(12);
    expect(calls.filter((route) => !needOf.has(route))).toEqual([]);
  });

  test('suffice for each of its calls', () => {
    const refused = calls.filter((route) => {
      const need = needOf.get(route) ?? 'none';
      return typeof need !== 'string' && !hasLevel(need);
    });
    expect(refused).toEqual([]);
  });

  test.each(events)('suffice for the event %s', (event) => {
    const oneOf = permissionsOfEvent(event);
    expect(oneOf).not.toEqual([]);
    expect(oneOf.filter((each) => levelOf(each) !== undefined)).not.toEqual([]);
  });

  test('are each needed, at their level, by a call or an event', () => {
    const needed = calls.flatMap((route) => {
      const need = needOf.get(route) ?? 'none';
      const used =
        typeof need === 'string' ? undefined : need.oneOf.find((each) => hasLevel({ ...need, oneOf: [each] }));
      return typeof need === 'string' || used === undefined ? [] : [`${used}: ${need.level}`];
    });
    const received = events.flatMap(permissionsOfEvent).map((each) => `${each}: read`);
    const unused = Object.entries(permissions).filter(
      ([name, level]) => ![...needed, ...received].includes(`${name}: ${level}`),
    );
    expect(unused).toEqual([]);
  });
});
