import { describe, expect, test } from 'vitest';
import { readRepoUrl } from '../../../../src/services/control/deployments/validation/repo-url.ts';

const allowed = ['/srv/git'];

describe('accepted addresses', () => {
  test.each([
    ['https', 'https://github.com/acme/agent', { kind: 'network', url: 'https://github.com/acme/agent' }],
    ['https with a port', 'https://git.example.com:8443/a/b.git', { kind: 'network' }],
    ['https in capitals', 'HTTPS://github.com/a/b', { kind: 'network', url: 'https://github.com/a/b' }],
    ['http to this machine', 'http://127.0.0.1:8080/a.git', { kind: 'network' }],
    ['http to another address of this machine', 'http://127.10.20.30/a.git', { kind: 'network' }],
    ['http to this machine by its name', 'http://localhost:8080/a.git', { kind: 'network' }],
    ['an @ in the path', 'https://example.com/a@b:c', { kind: 'network' }],
    ['a folder below an allowed one', '/srv/git/agent', { kind: 'folder', path: '/srv/git/agent' }],
    ['an allowed folder itself', '/srv/git', { kind: 'folder', path: '/srv/git' }],
    ['a folder whose name starts with two dots', '/srv/git/..agent', { kind: 'folder', path: '/srv/git/..agent' }],
    ['the same as a file address', 'file:///srv/git/agent', { kind: 'folder', path: '/srv/git/agent' }],
  ])('%s', (_, url, read) => expect(readRepoUrl(url, allowed)).toMatchObject({ ok: true, ...read }));
});

const start = (path: string) => `Start it with \`npm run local -- --allow-git ${path}\`, or upload the folder instead.`;

describe('refused addresses', () => {
  const blanks = 'must not contain spaces or control characters';
  const advice = 'must be the https address of a git repository, as in https://host/owner/name';
  const ssh = 'names an ssh address, for which this service has no key; use the https address of the repository';
  const http = 'is plain http, which is taken for this machine only; use https';
  const password = 'must not contain a user or a password; an integration or a public repository needs none';
  const query = 'must not contain a query or a fragment';
  const outside = (path: string) => `: this service may not read ${path}, only what is in /srv/git. ${start(path)}`;

  test.each([
    ['an option of git', '--upload-pack=touch /tmp/x', blanks],
    ['an option without blanks', '-oProxyCommand=x', 'may not begin with a hyphen'],
    ['a helper that runs a command', 'ext::sh%20-c%20id', advice],
    ['a helper beside a protocol that is taken', 'https::https://example.com/a', advice],
    ['a helper within an address', 'https://example.com/a::b', advice],
    ['an address of IPv6, which looks like a helper', 'http://[::1]:8080/a.git', advice],
    ['a file address behind a helper', 'fd::17/foo', advice],
    ['ssh', 'ssh://git@example.com/a.git', ssh],
    ['ssh with an option as its host', 'ssh://-oProxyCommand=x/a', ssh],
    ['the short spelling of ssh', 'git@example.com:a/b.git', ssh],
    ['the git protocol', 'git://example.com/a.git', advice],
    ['ftp', 'ftp://example.com/a.git', advice],
    ['plain http to another host', 'http://example.com/a.git', http],
    ['plain http to a name that only starts like this machine', 'http://127.0.0.1.example.com/a.git', http],
    ['plain http to a name that only ends like this machine', 'http://a127.0.0.1/a.git', advice],
    ['a password', 'https://user:secret-value@example.com/a.git', password],
    ['a password alone', 'https://:secret-value@example.com/a.git', password],
    ['a token as the user', 'https://secret-value@example.com/a.git', password],
    ['a query', 'https://example.com/a.git?x=1', query],
    ['a fragment', 'https://example.com/a.git#x', query],
    ['a host alone', 'https://example.com/', 'names a host but no repository on it'],
    ['a single slash', 'https:/example.com/a', advice],
    ['a single slash before another address', 'https:/example.com/https://a/b', advice],
    ['a folder that is not allowed', '/etc', outside('/etc')],
    ['a folder that only starts like an allowed one', '/srv/git-private/a', outside('/srv/git-private/a')],
    ['the folder above an allowed one', '/srv', outside('/srv')],
    ['a way out', '/srv/git/../../etc', outside('/etc')],
    ['a way out in a file address', 'file:///srv/git/..%2f..%2fetc', advice],
    ['a backslash in a file address', 'file:///srv/git/a%5Cb', advice],
    ['a NUL in a file address', 'file:///srv/git/a%00b', advice],
    ['a file address of another host', 'file://host/srv/git/a', advice],
    ['a file address with a query', 'file:///srv/git/a?x', advice],
    ['a file address with a fragment', 'file:///srv/git/a#x', advice],
    ['a relative folder', './agent', advice],
    ['a line break', 'https://example.com/a\n--upload-pack=x', blanks],
    ['a DEL character', 'https://example.com/a\u007f', blanks],
    ['nothing', ' ', blanks],
  ])('%s', (_, url, why) => {
    const problem = `source_config.repo_url${why.startsWith(':') ? why : ` ${why}.`}`;
    expect(readRepoUrl(url, allowed)).toEqual({ ok: false, problem });
  });

  test('every folder, if none is allowed', () => {
    expect(readRepoUrl('/srv/git/agent', [])).toMatchObject({
      ok: false,
      problem: `source_config.repo_url: this service may not read /srv/git/agent. ${start('/srv/git/agent')}`,
    });
  });

  test('a folder that is not allowed, with its resolved path and the allowed ones', () => {
    expect(readRepoUrl('file:///srv/git/../agent', ['/srv/git', '/srv/more'])).toMatchObject({
      ok: false,
      problem: expect.stringContaining(' may not read /srv/agent, only what is in /srv/git, /srv/more. '),
    });
  });
});
