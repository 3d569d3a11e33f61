// Cuts GitHub's own OpenAPI document to the operations that the App and the gateway of the demo speak.
// How to run it, and which version it was run on: test/data/github-openapi/README.md.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import * as z from 'zod';

/** The operations, as GitHub's document spells their paths. */
const operations = `
GET    /app
GET    /app/hook/deliveries
POST   /app/hook/deliveries/{delivery_id}/attempts
GET    /app/installations
POST   /app/installations/{installation_id}/access_tokens
GET    /installation/repositories
DELETE /installation/token
GET    /orgs/{org}/teams/{team_slug}/memberships/{username}
GET    /repos/{owner}/{repo}
GET    /repos/{owner}/{repo}/branches
GET    /repos/{owner}/{repo}/branches/{branch}
POST   /repos/{owner}/{repo}/check-runs
GET    /repos/{owner}/{repo}/check-runs/{check_run_id}
PATCH  /repos/{owner}/{repo}/check-runs/{check_run_id}
GET    /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations
GET    /repos/{owner}/{repo}/collaborators/{username}/permission
GET    /repos/{owner}/{repo}/commits/{ref}
GET    /repos/{owner}/{repo}/commits/{ref}/check-runs
GET    /repos/{owner}/{repo}/commits/{ref}/status
GET    /repos/{owner}/{repo}/compare/{basehead}
GET    /repos/{owner}/{repo}/contents/{path}
GET    /repos/{owner}/{repo}/deployments
POST   /repos/{owner}/{repo}/deployments
GET    /repos/{owner}/{repo}/deployments/{deployment_id}/statuses
POST   /repos/{owner}/{repo}/deployments/{deployment_id}/statuses
GET    /repos/{owner}/{repo}/environments/{environment_name}
GET    /repos/{owner}/{repo}/environments/{environment_name}/deployment-branch-policies
GET    /repos/{owner}/{repo}/environments/{environment_name}/deployment_protection_rules
GET    /repos/{owner}/{repo}/issues/comments/{comment_id}
GET    /repos/{owner}/{repo}/issues/{issue_number}/comments
POST   /repos/{owner}/{repo}/issues/{issue_number}/comments
PATCH  /repos/{owner}/{repo}/issues/comments/{comment_id}
GET    /repos/{owner}/{repo}/pulls/{pull_number}
POST   /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions
GET    /repos/{owner}/{repo}/pulls/{pull_number}/files
GET    /repos/{owner}/{repo}/rules/branches/{branch}
GET    /user
`
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));

const record = z.record(z.string(), z.unknown());
const whole = z.object({
  openapi: z.string(),
  info: z.looseObject({ version: z.string() }),
  paths: z.record(z.string(), record),
  components: z.record(z.string(), record),
});

/** Words for people, which no check reads. */
const wordy = new Set(['description', 'summary', 'example', 'examples', 'externalDocs', 'tags', 'x-github']);

/** Copies a value without the words for people. Names of properties are no keywords and stay. */
function bare(value: unknown, areNames = false): unknown {
  if (Array.isArray(value)) return value.map((each) => bare(each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => areNames || !wordy.has(key))
      .map(([key, each]) => [key, bare(each, !areNames && (key === 'properties' || key === 'content'))]),
  );
}

function* referencesIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    if (key === '$ref' && typeof each === 'string') yield each;
    else yield* referencesIn(each);
  }
}

/** @param version of the package that the document was taken from. */
export function cut(document: unknown, version: string) {
  const { openapi, info, paths, components } = whole.parse(document);
  const taken: Record<string, Record<string, unknown>> = {};
  for (const [method = '', path = ''] of operations) {
    const operation = paths[path]?.[method.toLowerCase()];
    if (operation === undefined) throw new Error(`GitHub's document has no ${method} ${path}`);
    taken[path] = { ...taken[path], [method.toLowerCase()]: bare(operation) };
  }
  const kept: Record<string, Record<string, unknown>> = {};
  const open = [...referencesIn(taken)];
  for (let reference = open.pop(); reference !== undefined; reference = open.pop()) {
    const [, , kind = '', name = ''] = reference.split('/');
    if (kept[kind]?.[name] !== undefined) continue;
    const component = bare(components[kind]?.[name]);
    if (component === undefined) throw new Error(`GitHub's document has no ${reference}`);
    kept[kind] = { ...kept[kind], [name]: component };
    open.push(...referencesIn(component));
  }
  const sorted = Object.fromEntries(
    Object.entries(kept).map(([kind, all]) => [
      kind,
      Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1))),
    ]),
  );
  return {
    openapi,
    info: { title: info['title'], version: info.version, package: version },
    paths: taken,
    components: sorted,
  };
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (!folder) throw new Error('Name the folder of the unpacked package @octokit/openapi.');
  const read = async (file: string): Promise<unknown> => JSON.parse(await readFile(join(folder, file), 'utf8'));
  const { version } = z.object({ version: z.string() }).parse(await read('package.json'));
  const document = cut(await read('generated/api.github.com.json'), version);
  const to = join(dirname(import.meta.dirname), 'test/data/github-openapi/api.github.com.json.gz');
  await writeFile(to, gzipSync(`${JSON.stringify(document)}\n`, { level: 9 }));
}
