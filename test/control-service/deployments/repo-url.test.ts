import { describe, expect, test } from 'vitest';
import { readRepoUrl } from '../../../src/control-service/deployments/validation/repo-url.ts';

const allowed = ['/srv/git'];

describe('accepted addresses', () => {
  test.each([
    ['https', 'https://github.com/acme/agent', { kind: 'network', url: 'https://github.com/acme/agent' }],
    ['https with a port', 'https://git.example.com:8443/a/b.git', { kind: 'network' }],
    ['http to this machine', 'http://127.0.0.1:8080/a.git', { kind: 'network' }],
    ['a folder below an allowed one', '/srv/git/agent', { kind: 'folder', path: '/srv/git/agent' }],
    ['an allowed folder itself', '/srv/git', { kind: 'folder', path: '/srv/git' }],
    ['a folder whose name starts with two dots', '/srv/git/..agent', { kind: 'folder', path: '/srv/git/..agent' }],
    ['the same as a file address', 'file:///srv/git/agent', { kind: 'folder', path: '/srv/git/agent' }],
  ])('%s', (_, url, read) => expect(readRepoUrl(url, allowed)).toMatchObject({ ok: true, ...read }));
});

describe('refused addresses', () => {
  test.each([
    ['an option of git', '--upload-pack=touch /tmp/x'],
    ['an option without blanks', '-oProxyCommand=x'],
    ['a helper that runs a command', 'ext::sh%20-c%20id'],
    ['a helper beside a protocol that is taken', 'https::https://example.com/a'],
    ['a file address behind a helper', 'fd::17/foo'],
    ['ssh', 'ssh://git@example.com/a.git'],
    ['ssh with an option as its host', 'ssh://-oProxyCommand=x/a'],
    ['the short spelling of ssh', 'git@example.com:a/b.git'],
    ['the git protocol', 'git://example.com/a.git'],
    ['ftp', 'ftp://example.com/a.git'],
    ['plain http to another host', 'http://example.com/a.git'],
    ['plain http to a name that only starts like this machine', 'http://127.0.0.1.example.com/a.git'],
    ['a password', 'https://user:secret-value@example.com/a.git'],
    ['a token as the user', 'https://secret-value@example.com/a.git'],
    ['a query', 'https://example.com/a.git?x=1'],
    ['a host alone', 'https://example.com/'],
    ['a single slash', 'https:/example.com/a'],
    ['a folder that is not allowed', '/etc'],
    ['a folder that only starts like an allowed one', '/srv/git-private/a'],
    ['a way out', '/srv/git/../../etc'],
    ['a way out in a file address', 'file:///srv/git/..%2f..%2fetc'],
    ['a file address of another host', 'file://host/srv/git/a'],
    ['a relative folder', './agent'],
    ['a line break', 'https://example.com/a\n--upload-pack=x'],
    ['nothing', ' '],
  ])('%s', (_, url) => {
    const read = readRepoUrl(url, allowed);
    expect(read).toMatchObject({ ok: false, problem: expect.stringMatching(/^source_config\.repo_url .*\.$/) });
    expect(JSON.stringify(read)).not.toContain('secret-value');
  });

  test('every folder, if none is allowed', () => {
    expect(readRepoUrl('/srv/git/agent', [])).toMatchObject({
      ok: false,
      problem:
        'source_config.repo_url names /srv/git/agent, a folder of this machine that the service was not started to allow (--allow-git DIR): no folder is allowed.',
    });
  });

  test('a folder that is not allowed, with its resolved path and the allowed ones', () => {
    expect(readRepoUrl('file:///srv/git/../agent', ['/srv/git', '/srv/more'])).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/ names \/srv\/agent, .*: allowed is what lies in \/srv\/git, \/srv\/more\.$/),
    });
  });
});
