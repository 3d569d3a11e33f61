import nock from 'nock';
import { Probot } from 'probot';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { changedPaths, maxListedFiles } from '../../../app/github/github-client.ts';
import { AppOctokit } from '../../../app/github/installation-clients.ts';

const api = 'https://api.github.com';
const at = { repository: { installationId: 1, repositoryId: 7, owner: 'acme', name: 'agent' }, number: 3 };
const file = (filename: string, former?: string) => ({
  sha: 'a'.repeat(40),
  filename,
  status: former ? 'renamed' : 'modified',
  ...(former ? { previous_filename: former } : {}),
});

beforeEach(() => nock.disableNetConnect());
afterEach(() => {
  nock.cleanAll();
  nock.enableNetConnect();
});

/** The pages of files that GitHub lists. */
const lists = (pages: readonly (readonly object[])[]) => {
  for (const [index, page] of pages.entries()) {
    nock(api)
      .get('/repos/acme/agent/pulls/3/files')
      .query({ per_page: '100', page: String(index + 1) })
      .reply(200, JSON.stringify(page), { 'content-type': 'application/json' });
  }
};

const client = async () => new Probot({ githubToken: 'a-token', Octokit: AppOctokit, logLevel: 'fatal' }).auth();
const full = (start: number) => Array.from({ length: 100 }, (_, index) => file(`f${start + index}`));

test('every page is read, and a renamed file counts under both names', async () => {
  lists([full(0), [file('new.yml', '.github/landfall.yml')]]);
  const paths = await changedPaths(await client(), at);
  expect(paths).toHaveLength(102);
  expect(paths).toEqual(expect.arrayContaining(['f0', 'f99', 'new.yml', '.github/landfall.yml']));
  expect(nock.isDone()).toBe(true);
});

test("ignores a list of GitHub's maximum length: it may be cut", async () => {
  lists(Array.from({ length: maxListedFiles / 100 }, (_, index) => full(index * 100)));
  expect(await changedPaths(await client(), at)).toBeUndefined();
  expect(nock.isDone()).toBe(true);
});
