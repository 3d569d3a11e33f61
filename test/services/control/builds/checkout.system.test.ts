import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { readBuild } from '../../../../src/services/control/builds/build-folder.ts';
import { explainFetch } from '../../../../src/services/control/builds/git-settings.ts';
import { workplace } from './building.ts';
import { gitOverHttp } from './git-over-http.ts';
import { commit, git, plainAgent, repository, write, writePrograms } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});
const place = (files = plainAgent) => workplace(files, atTheEnd);

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atTheEnd.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return `http://127.0.0.1:${address.port}`;
}

test('clones the head of a branch without its history and returns the commit', async () => {
  const { build, repo, head, dataDir, commits, lines } = place();
  const next = commit(repo, { 'new.txt': 'new' });
  const { commit: built, ...made } = await build();
  expect(built).toBe(next);
  expect(made).toEqual({
    folder: join(dataDir, 'builds/r-1'),
    from: { kind: 'commit', commit: next },
    graphConfigFile: join(dataDir, 'builds/r-1/source/langgraph.json'),
    usesHome: false,
  });
  expect(next).not.toBe(head);
  expect(commits).toEqual([{ sha: next, subject: 'a change', author: 'A Person', authoredAt: expect.any(Date) }]);
  expect(git(join(made.folder, 'source'), 'rev-list', '--all', 'HEAD')).toBe(next);
  expect(lines).toEqual([
    `Cloning ${repo}, ref refs/heads/main.`,
    `Checked out commit ${next}.`,
    'There is no package.json, so no packages are installed.',
  ]);
  expect(readBuild(made.folder)).toEqual(made);
  expect(readdirSync(made.folder).toSorted()).toEqual(['build.json', 'files.jsonl', 'gitconfig', 'home', 'source']);
});

test('reads the message, the author and the time of a commit as bounded text', async () => {
  const { build, repo, commits } = place();
  const message = `\u001b[31m<b>fix</b> \u202e${'x'.repeat(400)}\n\nlandfall-author another`;
  const author = ['--author', `landfall-subject ${'y'.repeat(400)} <a@example.com>`];
  git(
    repo,
    'commit',
    '--quiet',
    '--allow-empty',
    '--date',
    '2026-03-01T10:00:00+02:00',
    ...author,
    '--message',
    message,
  );
  await build();
  const [{ subject, author: by, authoredAt } = { subject: '', author: '', authoredAt: null }] = commits;
  expect(subject).toMatch(/^<b>fix<\/b> \u202ex+$/);
  expect(by).toMatch(/^landfall-subject y+$/);
  expect([subject?.length, by?.length]).toEqual([300, 300]);
  expect(authoredAt).toEqual(new Date('2026-03-01T08:00:00Z'));
});

test('resolves a tag, also an annotated one, to its commit', async () => {
  const { build, repo, head } = place();
  git(repo, 'tag', '--annotate', '--message', 'a release', 'v1');
  git(repo, 'tag', 'plain');
  commit(repo, { 'new.txt': 'new' });
  expect((await build({ request: { repoRef: 'refs/tags/v1' } })).commit).toBe(head);
  expect((await build({ request: { repoRef: 'refs/tags/plain' } })).commit).toBe(head);
});

test('prefers a branch over a tag of the same name', async () => {
  const { build, repo, head } = place();
  git(repo, 'tag', 'v1');
  git(repo, 'switch', '--quiet', '--create', 'v1');
  const next = commit(repo, { 'new.txt': 'new' });
  expect((await build({ request: { repoRef: 'v1' } })).commit).toBe(next);
  expect((await build({ request: { repoRef: 'refs/tags/v1' } })).commit).toBe(head);
});

test('builds a branch whose name looks like a short form of another', async () => {
  const { build, repo } = place();
  git(repo, 'switch', '--quiet', '--create', 'origin/main');
  const next = commit(repo, { 'new.txt': 'new' });
  expect((await build({ request: { repoRef: 'origin/main' } })).commit).toBe(next);
});

test('builds the default branch without a ref', async () => {
  const { build, repo } = place();
  git(repo, 'switch', '--quiet', '--create', 'trunk');
  const next = commit(repo, { 'new.txt': 'new' });
  expect((await build({ request: { repoRef: undefined } })).commit).toBe(next);
});

test('builds an earlier commit again', async () => {
  const { build, repo, head } = place();
  commit(repo, { 'langgraph.json': 'broken' });
  expect((await build({ request: { commit: head } })).commit).toBe(head);
});

test('discards what an earlier attempt left behind', async () => {
  const { build, dataDir } = place();
  write(join(dataDir, 'builds/r-1'), { 'source/left.txt': 'from a killed attempt' });
  const { folder } = await build();
  expect(existsSync(join(folder, 'source/left.txt'))).toBe(false);
});

test('reports an unknown ref with what to check, and leaves nothing behind', async () => {
  const { reason, repo, dataDir } = place();
  const output = await reason({ request: { repoRef: 'gone' } });
  expect(output).toContain(`${repo} has no ref refs/heads/gone. Check source_revision_config.repo_ref`);
  expect(existsSync(join(dataDir, 'builds/r-1'))).toBe(false);
});

test('rejects a ref that git could take for an option or a pattern', async () => {
  const { reason } = place();
  for (const repoRef of ['--upload-pack=touch', 'ma*n', 'main:refs/heads/x', '+main', 'refs/pull/1/head']) {
    expect(await reason({ request: { repoRef } })).toMatch(/repo_ref/);
  }
});

test.each([
  ['a command instead of a URL', 'ext::sh -c touch% /tmp/x', 'must not contain spaces'],
  ['a command without spaces', 'ext::touch', 'must be the https address'],
  ['an option', '--upload-pack=touch', 'may not begin with a hyphen'],
  ['a folder outside the allowed ones', '/etc', 'this service may not read /etc'],
  ['the same folder as a URL', 'file:///etc', 'this service may not read /etc'],
  ['ssh', 'git@github.com:owner/name', 'names an ssh address'],
  ['the git protocol', 'git://127.0.0.1/name', 'must be the https address'],
  ['plain http to another host', 'http://example.com/owner/name', 'is plain http'],
  ['a password', 'https://user:password@127.0.0.1/owner/name', 'must not contain a user or a password'],
])('rejects %s', async (_, repoUrl, why) => {
  const { reason, root } = place();
  const called = join(root, 'called');
  const programs = writePrograms(join(root, 'bin'), { git: `#!/bin/sh\ntouch ${called}\n` });
  expect(await reason({ request: { repoUrl }, settings: { env: { PATH: programs } } })).toContain(why);
  expect(existsSync(called)).toBe(false);
});

test('follows a symlink to an allowed folder only', async () => {
  const { reason, build, root, allowed, repo, head } = place();
  repository(join(root, 'private'), plainAgent);
  symlinkSync(join(root, 'private'), join(allowed, 'link'));
  expect(await reason({ request: { repoUrl: join(allowed, 'link') } })).toContain('leads out of the folders');
  symlinkSync(repo, join(allowed, 'inside'));
  expect((await build({ request: { repoUrl: join(allowed, 'inside') } })).commit).toBe(head);
});

test('reports that git is missing', async () => {
  const { reason, root } = place();
  expect(await reason({ settings: { env: { PATH: join(root, 'nothing') } } })).toContain('git is not installed');
});

test("ignores the user's git settings, including helpers, hooks and filters", async () => {
  const { build, root, repo } = place();
  commit(repo, { '.gitattributes': '* filter=evil\n' });
  const called = join(root, 'called');
  write(root, {
    'person/.gitconfig': `[filter "evil"]\n\tsmudge = touch ${called}; cat\n[core]\n\thooksPath = ${root}/hooks\n`,
    'hooks/post-checkout': `#!/bin/sh\ntouch ${called}\n`,
  });
  writePrograms(join(root, 'hooks'), { 'post-checkout': `#!/bin/sh\ntouch ${called}\n` });
  await build({ settings: { env: { PATH: process.env.PATH, HOME: join(root, 'person') } } });
  expect(existsSync(called)).toBe(false);
});

test('leaves Git LFS files as pointers, whatever is configured', async () => {
  const { build, root, repo } = place();
  const called = join(root, 'called');
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 5\n`;
  commit(repo, {
    '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
    '.lfsconfig': `[lfs]\n\turl = file://${root}\n[lfs "customtransfer.evil"]\n\tpath = touch\n\targs = ${called}\n`,
    'model.bin': pointer,
  });
  writePrograms(join(root, 'bin'), { 'git-lfs': `#!/bin/sh\ntouch ${called}\ncat\n` });
  const filter =
    '[filter "lfs"]\n\tprocess = git-lfs filter-process\n\tsmudge = git-lfs smudge -- %f\n\trequired = true\n';
  write(root, { 'person/.gitconfig': filter });
  const env = { PATH: `${join(root, 'bin')}:${process.env.PATH}`, HOME: join(root, 'person') };
  const { folder } = await build({ settings: { env } });
  expect(readFileSync(join(folder, 'source/model.bin'), 'utf8')).toBe(pointer);
  expect(existsSync(called)).toBe(false);
});

test('does not fetch submodules', async () => {
  const { build, root, repo } = place();
  const called = join(root, 'called');
  write(repo, { '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ext::touch ${called}\n` });
  git(repo, 'update-index', '--add', '--cacheinfo', `160000,${git(repo, 'rev-parse', 'HEAD')},x`);
  git(repo, 'add', '.gitmodules');
  git(repo, 'commit', '--quiet', '--message', 'a submodule');
  const { folder } = await build();
  expect(readdirSync(join(folder, 'source/x'))).toEqual([]);
  expect(existsSync(called)).toBe(false);
});

test('clones a repository on this machine over http', async () => {
  const { build, head, allowed } = place();
  const origin = await serve(gitOverHttp(allowed));
  expect((await build({ request: { repoUrl: `${origin}/agent/.git` } })).commit).toBe(head);
});

test('does not follow a redirect from one protocol to another', async () => {
  const { reason, repo } = place();
  const origin = await serve((_request, response) => response.writeHead(302, { location: `file://${repo}` }).end());
  expect(await reason({ request: { repoUrl: `${origin}/agent` } })).toContain('could not be');
});

test('reports a private repository without prompting for a password', async () => {
  const { reason } = place();
  const origin = await serve((_request, response) =>
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end(),
  );
  expect(await reason({ request: { repoUrl: `${origin}/agent` } })).toContain('is private or does not exist');
});

test.each([
  ["fatal: couldn't find remote ref refs/heads/x", 'has no ref x'],
  ['fatal: remote error: upload-pack: not our ref abc', 'has no ref x'],
  ["fatal: could not read Username for 'https://h': terminal prompts disabled", 'is private or does not exist'],
  ["fatal: repository 'https://h/x/' not found", 'There is no git repository'],
  ["fatal: unable to access 'https://h/': The requested URL returned error: 403", 'is private or does not exist'],
  ["fatal: '/x' does not appear to be a git repository", 'There is no git repository'],
  ["fatal: '/srv/agents-401/x' does not appear to be a git repository", 'There is no git repository'],
  ["fatal: unable to access 'https://h/': Could not resolve host: h", 'could not be reached'],
  ['fatal: something new', 'could not be cloned'],
])('%s: %s', (printed, output) => {
  expect(explainFetch(printed, { repoUrl: 'https://h/x', refText: 'ref x' })).toContain(output);
});

test('records the built commit with the build', async () => {
  const { build, head } = place();
  const { folder } = await build();
  expect(JSON.parse(readFileSync(join(folder, 'build.json'), 'utf8'))).toEqual({
    commit: head,
    graphConfigPath: 'source/langgraph.json',
    usesHome: false,
  });
});

test.each(['', '{"commit":', '{"commit":1}'])('ignores a build record that holds %j', async (left) => {
  const { build } = place();
  const { folder } = await build();
  expect(readBuild(folder)?.folder).toBe(folder);
  writeFileSync(join(folder, 'build.json'), left);
  expect(readBuild(folder)).toBeUndefined();
});
