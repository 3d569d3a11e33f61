import { describe, expect, test } from 'vitest';
import { webhookSettings } from '../../../../src/services/agent/webhooks/settings.ts';
import type { WebhooksConfig } from '../../../../src/contract/agent/webhook.ts';
import { readGraphConfig } from '../../../../src/agent-folder/graph-config/read.ts';
import { eachClaim } from '../../../conformance/each-claim.ts';

const settings = (webhooks: WebhooksConfig, env: Record<string, string> = {}) =>
  webhookSettings({ webhooks }, env, false);
const headers = (values: Record<string, string>, env: Record<string, string>) => {
  const read = settings({ headers: values }, env);
  return read.ok ? read.settings.headers : read.problems;
};

describe('headers', () => {
  test(
    'a template is replaced by its variable’s value',
    { meta: { claims: ['agent.webhook-config.env-template'] } },
    () => {
      const env = { LG_WEBHOOK_TOKEN: 's3cret', LG_WEBHOOK_B: 'b' };
      expect(
        headers(
          { 'X-A': 'Bearer ${{ env.LG_WEBHOOK_TOKEN }}', 'x-b': '${{env.LG_WEBHOOK_B}}-${{ env.LG_WEBHOOK_B }}' },
          env,
        ),
      ).toEqual({ 'x-a': 'Bearer s3cret', 'x-b': 'b-b' });
    },
  );

  test('a value is not expanded again', () => {
    expect(headers({ a: '${{ env.LG_WEBHOOK_A }}' }, { LG_WEBHOOK_A: '${{ env.LG_WEBHOOK_B }}$&' })).toEqual({
      a: '${{ env.LG_WEBHOOK_B }}$&',
    });
  });

  test('an empty variable counts as set', () =>
    expect(headers({ a: '${{ env.LG_WEBHOOK_A }}' }, { LG_WEBHOOK_A: '' })).toEqual({ a: '' }));

  test(
    'names every missing variable and its position',
    { meta: { claims: ['agent.webhook-config.env-missing'] } },
    () => {
      expect(
        headers(
          { a: '${{ env.LG_WEBHOOK_A }}${{ env.LG_WEBHOOK_B }}', c: '${{ env.LG_WEBHOOK_C }}' },
          { LG_WEBHOOK_B: 'b' },
        ),
      ).toEqual([
        { path: ['webhooks', 'headers', 'a'], message: expect.stringContaining('LG_WEBHOOK_A, which is not set') },
        { path: ['webhooks', 'headers', 'c'], message: expect.stringContaining('LG_WEBHOOK_C, which is not set') },
      ]);
    },
  );

  test('hides a value that is not valid in a header', () => {
    const problems = headers({ a: '${{ env.LG_WEBHOOK_A }}' }, { LG_WEBHOOK_A: 'geheim\r\nx-evil: 1' });
    expect(problems).toEqual([{ path: ['webhooks', 'headers', 'a'], message: expect.stringContaining('line break') }]);
    expect(JSON.stringify(problems)).not.toContain('geheim');
  });
});

describe('the configuration file', () => {
  const read = (webhooks: object): string[] => {
    const text = JSON.stringify({ graphs: { a: './a.ts:a' }, webhooks }, null, 1);
    const result = readGraphConfig(text, 'langgraph.json');
    return result.ok ? [] : result.problems.map(({ line, message }) => `${line}: ${message}`);
  };

  test('may omit webhooks', () => {
    expect(webhookSettings({}, {}, false)).toMatchObject({
      ok: true,
      settings: { disabled: false, headers: {}, rules: { allowedDomains: undefined, maxUrlLength: 65_536 } },
    });
    expect(webhookSettings({ webhooks: null, http: null }, {}, true)).toMatchObject({
      settings: { disabled: false, rules: { privateNetworks: true } },
    });
    expect(webhookSettings({ http: { disable_webhooks: true } }, {}, true)).toMatchObject({
      settings: { disabled: true },
    });
  });

  eachClaim<[string, object, string[]]>([
    [
      'agent.webhook-config.env-prefix-default',
      'a name with the default prefix',
      { headers: { a: '${{ env.LG_WEBHOOK_A }}' } },
      [],
    ],
    [
      'agent.webhook-config.env-prefix-enforced',
      'rejects a name without it, with its line',
      { headers: { a: 'x', b: '${{ env.DATABASE_URI }}' } },
      [expect.stringMatching(/^8: `webhooks\.headers\.b`: names the variable DATABASE_URI, .*LG_WEBHOOK_/)],
    ],
    [
      'agent.webhook-config.env-prefix',
      'env_prefix replaces the default prefix',
      { env_prefix: 'MINE_', headers: { a: '${{ env.MINE_A }}', b: '${{ env.LG_WEBHOOK_A }}' } },
      [expect.stringMatching(/names the variable LG_WEBHOOK_A, .* MINE_/)],
    ],
    [
      '',
      'another template syntax',
      { headers: { a: '${{ secrets.A }}' } },
      [expect.stringContaining('template other than')],
    ],
    [
      '',
      'an invalid name in a template',
      { headers: { a: '${{ env.1A }}' } },
      [expect.stringContaining('template other than')],
    ],
    ['', 'a line break', { headers: { a: 'x\r\ny: 1' } }, [expect.stringContaining('line break')]],
    ['', 'an invalid header name', { headers: { 'a b': 'x' } }, [expect.stringContaining('no name that a header')]],
    [
      '',
      'a header set by the sender',
      { headers: { 'Content-Type': 'x', HOST: 'y' } },
      [expect.stringContaining('set by the server'), expect.stringContaining('set by the server')],
    ],
    [
      '',
      'a domain with a scheme',
      { url: { allowed_domains: ['https://a.example'] } },
      [expect.stringMatching(/allowed_domains\[0\]` must be a host name/)],
    ],
    [
      '',
      'a domain with a port',
      { url: { allowed_domains: ['a.example:8443'] } },
      [expect.stringContaining('must be a host name')],
    ],
    ['', 'a wildcard alone', { url: { allowed_domains: ['*'] } }, [expect.stringContaining('must be a host name')]],
    [
      '',
      'a wildcard in the wrong position',
      { url: { allowed_domains: ['a.*.example', 'a*.example'] } },
      [expect.stringContaining('[0]'), expect.stringContaining('[1]')],
    ],
    [
      '',
      'a wildcard before an address',
      { url: { allowed_domains: ['*.0.0.1'] } },
      [expect.stringContaining('must be a host name')],
    ],
    ['', 'an empty entry', { url: { allowed_domains: [''] } }, [expect.stringContaining('must be a host name')]],
  ])('%s', {}, (_, webhooks, problems) => expect(read(webhooks)).toEqual(problems));
});
