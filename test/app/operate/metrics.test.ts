import { describe, expect, test } from 'vitest';
import { countingOctokits, createMetrics } from '../../../app/operate/metrics.ts';
import { startupCheck } from '../../../app/program.ts';

const line = (text: string, name: string): string | undefined => text.split('\n').find((each) => each.startsWith(name));

test('renders the counts in the Prometheus format', async () => {
  const metrics = createMetrics();
  metrics.countWebhook('push', 'stored');
  metrics.countWebhook('push', 'stored');
  metrics.countWebhook(undefined, 'refused');
  metrics.countDelivery('push', 'handled');
  metrics.countGithubRequest('GET /repos/{owner}/{repo}', '200');
  metrics.countRevision('triggered');
  metrics.countEnd('deployed');
  metrics.countCheck('success');
  const text = await metrics.text();
  expect(text.split('\n').filter((each) => each.startsWith('landfall_') && each.includes('{'))).toEqual([
    'landfall_webhooks_total{event="push",result="stored"} 2',
    'landfall_webhooks_total{event="unproven",result="refused"} 1',
    'landfall_deliveries_total{event="push",result="handled"} 1',
    'landfall_github_requests_total{kind="GET /repos/{owner}/{repo}",result="200"} 1',
    'landfall_revisions_total{how="triggered"} 1',
    'landfall_intents_ended_total{end="deployed"} 1',
    'landfall_checks_total{conclusion="success"} 1',
  ]);
  expect(metrics.contentType).toContain('text/plain');
  expect(text).toContain('process_cpu_seconds_total');
});

describe('metrics of the database', () => {
  test('are queried on each scrape, and drop what is gone', async () => {
    const metrics = createMetrics();
    let jobs = [{ name: 'lane', state: 'failed', count: 3 }];
    metrics.setSource({ jobs: async () => jobs, queues: async () => [40_000, 10_000], now: () => 70_000 });
    const first = await metrics.text();
    expect(line(first, 'landfall_jobs{')).toBe('landfall_jobs{name="lane",state="failed"} 3');
    expect(line(first, 'landfall_busy_lanes')).toBe('landfall_busy_lanes 2');
    expect(line(first, 'landfall_oldest_lane_seconds')).toBe('landfall_oldest_lane_seconds 60');
    expect(line(first, 'landfall_database_up')).toBe('landfall_database_up 1');
    jobs = [];
    expect(line(await metrics.text(), 'landfall_jobs{')).toBeUndefined();
  });

  test('are left out while the database is down, which has its own metric', async () => {
    const metrics = createMetrics();
    metrics.setSource({ jobs: () => Promise.reject(new Error('away')), queues: async () => [], now: () => 0 });
    expect(line(await metrics.text(), 'landfall_database_up')).toBe('landfall_database_up 0');
  });
});

test('counts requests to GitHub by kind and result', async () => {
  const metrics = createMetrics();
  const answers = [{ status: 200 }, Object.assign(new Error('gone'), { status: 404 }), new Error('reset')];
  const octokitFor = countingOctokits(
    async () => ({
      request: async () => {
        const answer = answers.shift();
        if (answer instanceof Error || answer === undefined) throw answer;
        throw Object.assign(new Error('not modified'), { status: 304 });
      },
    }),
    metrics,
  );
  const octokit = await octokitFor(1);
  for (let each = 0; each < 3; each += 1) {
    await octokit.request('GET /repos/{owner}/{repo}', { owner: 'o', repo: 'r' }).catch(() => undefined);
  }
  const text = await metrics.text();
  for (const result of ['304', '404', 'no answer']) {
    expect(text).toContain(`landfall_github_requests_total{kind="GET /repos/{owner}/{repo}",result="${result}"} 1`);
  }
});

describe('the first look', () => {
  const look = (control: () => Promise<{ resources: never[]; offset: number }>, appName: () => Promise<string>) =>
    startupCheck({
      control: { listDeployments: control },
      appName,
      apiUrl: 'https://api.github.com',
      baseUrl: 'https://control.example',
    });

  test('reports what was found', async () => {
    const found = look(
      async () => ({ resources: [], offset: 0 }),
      async () => 'landfall-test',
    );
    expect(await found).toEqual([
      'GitHub at https://api.github.com knows this App as landfall-test.',
      'The control service at https://control.example has 0 deployments.',
    ]);
  });

  test('reports wrong settings, and continues', async () => {
    const failing = (words: string) => () => Promise.reject(new Error(words));
    const notFound = () => Promise.reject(Object.assign(new Error('Not Found'), { response: { status: 404 } }));
    const lines = await look(failing('401 Unauthorized.'), notFound);
    expect(lines[0]).toContain('does not know this App (Not Found). Check APP_ID, PRIVATE_KEY');
    expect(lines[1]).toContain('did not list its deployments (401 Unauthorized). Check LANDFALL_BASE_URL');
    const [unreached] = await look(failing('x'), failing('getaddrinfo ENOTFOUND'));
    expect(unreached).toContain('could not be reached (getaddrinfo ENOTFOUND). Check the network');
  });
});
