import { describe, expect, test } from 'vitest';
import { retryDelayMs } from '../../../src/services/listener/work-client.ts';
import { readListenerCommand } from '../../../src/services/listener/listener-command.ts';

describe('waiting after a failure', () => {
  test.each([
    ['the first wait is short', 1, 1, 0, 500],
    ['and half of it at the least', 1, 0, 0, 250],
    ['it doubles', 4, 1, 0, 4_000],
    ['up to half a minute', 40, 1, 0, 30_000],
    ['and is never shorter than Retry-After', 1, 0, 7_000, 7_000],
  ])('%s', (_, failures, random, requested, ms) => {
    expect(retryDelayMs(failures, random, requested)).toBe(ms);
  });
});

describe('the command line', () => {
  const env = { LANDFALL_API_KEY: 'a-key', LANDFALL_BASE_URL: 'https://service.test', LANDFALL_COMPUTE_ID: 'cluster' };
  const read = (args: string[], more: Record<string, string | undefined> = {}) =>
    readListenerCommand(args, { ...env, ...more }, () => 'key-of-a-file\n');

  test('everything may come from the environment', () => {
    expect(read([], { LANDFALL_K8S_NAMESPACES: 'agents, more' })).toEqual({
      kind: 'run',
      connection: { baseUrl: 'https://service.test', apiKey: 'a-key', tenantId: undefined, allowHttp: false },
      listener: { computeId: 'cluster', namespaces: ['agents', 'more'] },
      atOnce: 4,
      leaseSeconds: 60,
      cluster: {
        kubeconfig: undefined,
        context: undefined,
        rolloutWithinMs: 600_000,
        failureGraceMs: 30_000,
        cacheImage: undefined,
        databaseImage: undefined,
        storageClass: undefined,
        privateWebhooks: false,
      },
    });
  });

  test('what is given on the command line wins', () => {
    const args = '--base-url https://other.test --compute-id two --namespaces a --kubeconfig k --context c --at-once 2';
    expect(read([...args.split(' '), '--lease', '9', '--api-key-file', 'file', '--tenant-id', 't'])).toMatchObject({
      connection: { baseUrl: 'https://other.test', apiKey: 'key-of-a-file', tenantId: 't' },
      listener: { computeId: 'two', namespaces: ['a'] },
      cluster: { kubeconfig: 'k', context: 'c' },
      atOnce: 2,
      leaseSeconds: 9,
    });
  });

  test('webhooks into private networks are let through where that is said', () => {
    expect(read(['--private-webhooks'])).toMatchObject({ cluster: { privateWebhooks: true } });
  });

  test('what the parts of deployments are made of is named', () => {
    const args =
      '--cache-image mirror.test/redis:7.4 --database-image mirror.test/postgres:17 --storage-class fast.ssd';
    expect(read(args.split(' '))).toMatchObject({
      cluster: {
        cacheImage: 'mirror.test/redis:7.4',
        databaseImage: 'mirror.test/postgres:17',
        storageClass: 'fast.ssd',
      },
    });
  });

  test.each([
    ['an image that is none', ['--cache-image', 'Not An Image'], {}, /--cache-image is the address/],
    ['an empty image', ['--database-image', ''], {}, /--database-image is the address/],
    ['a storage class that is none', ['--storage-class', 'Fast_1'], {}, /--storage-class is the name/],
    ['no address', [], { LANDFALL_BASE_URL: undefined }, /--base-url/],
    ['plain http off loopback', ['--base-url', 'http://service.test'], {}, /plain http/],
    ['no cluster', [], { LANDFALL_COMPUTE_ID: '' }, /--compute-id/],
    ['a cluster with blanks', ['--compute-id', 'my cluster'], {}, /--compute-id must/],
    ['a namespace that is none', ['--namespaces', 'A_b'], {}, /--namespaces must/],
    ['no key', [], { LANDFALL_API_KEY: ' ' }, /LANDFALL_API_KEY/],
    ['a lease of a second', ['--lease', '1'], {}, /--lease is a number from 2 to 600/],
    ['a flag with a slip in it', ['--namespace', 'a'], {}, /--namespace; did you mean --namespaces\?/],
    ['nothing at once', ['--at-once', '0'], {}, /--at-once is a number/],
    ['a flag that is none', ['--api-key', 'secret'], {}, /^Unknown option --api-key\.$/],
  ])('%s is reported', (_, args, more, said) => {
    const end = read(args, more);
    expect(end.kind === 'wrong' && end.problems.join('\n')).toMatch(said);
  });

  test('plain http off loopback may be allowed', () => {
    expect(read(['--base-url', 'http://service.test', '--allow-http'])).toMatchObject({ kind: 'run' });
  });

  test('every problem is reported at once', () => {
    const end = readListenerCommand(['--lease', 'long'], {});
    expect(end.kind === 'wrong' && end.problems).toHaveLength(4);
  });
});
