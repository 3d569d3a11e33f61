import { expect, test } from 'vitest';
import type { FreezeWindow } from '../../../src/deploy/file/environment-gate.ts';
import { readDesired, readPushed } from '../../../src/deploy/file/read-desired.ts';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';

const file = (environment: string) => ({
  text: `environments:\n  - ${environment}\ndeployments:\n  support: { source: github, repo-ref: main, environment: production }\n`,
  path: 'landfall.yml',
});

const withWindow = (window: string) => file(`{ name: production, freeze: [${window}] }`);

/** What keeps deploys from the one deployment of a file, or the problems of the file. */
function read(input: ReturnType<typeof file>): unknown {
  const result = readDesired({ inputs: {}, file: input, env: {} });
  return result.ok ? result.deployments[0]?.gate : result.problems.map(formatProblem);
}

const utc = (text: string): number => Date.parse(text);
const once = (from: string, until: string): FreezeWindow => ({ kind: 'once', from: utc(from), until: utc(until) });
const weekly = (from: number, until: number, timeZone = 'UTC'): FreezeWindow => ({
  kind: 'weekly',
  from,
  until,
  timeZone,
});
const day = 1440;

test.each<[window: string, read: FreezeWindow[]]>([
  ['{ from: 2026-12-24, until: 2026-12-26 }', [once('2026-12-24T00:00Z', '2026-12-27T00:00Z')]],
  ['{ from: 2026-12-24T18:30, until: 2026-12-26T08:00 }', [once('2026-12-24T18:30Z', '2026-12-26T08:00Z')]],
  ['{ from: 2026-12-24 18:30:15, until: 2026-12-26 }', [once('2026-12-24T18:30:15Z', '2026-12-27T00:00Z')]],
  [
    '{ from: 2026-12-24, until: 2026-12-24, time-zone: Europe/Berlin }',
    [once('2026-12-23T23:00Z', '2026-12-24T23:00Z')],
  ],
  [
    '{ from: 2026-12-24T00:00+01:00, until: 2026-12-25T00:00Z, time-zone: Asia/Tokyo }',
    [once('2026-12-23T23:00Z', '2026-12-25T00:00Z')],
  ],
  ['{ days: [sat, sun] }', [weekly(5 * day, 6 * day), weekly(6 * day, 7 * day)]],
  ['{ days: [mon], from: "00:00", until: "24:00" }', [weekly(0, day)]],
  ['{ days: [fri, fri], from: "16:00" }', [weekly(4 * day + 960, 5 * day)]],
  ['{ days: [sun], from: 16:00, until: 08:00 }', [weekly(6 * day + 960, 7 * day + 480)]],
  ['{ days: [mon], until: 08:00, time-zone: America/New_York }', [weekly(0, 480, 'America/New_York')]],
  ['{ from: fri 16:00, until: mon 08:00 }', [weekly(4 * day + 960, 7 * day + 480)]],
  ['{ from: mon 00:00, until: sun 24:00 }', [weekly(0, 7 * day)]],
  ['{ from: tue 08:00, until: tue 09:00 }', [weekly(day + 480, day + 540)]],
  ['{ days: [mon], reason: No deploys on Mondays }', [{ ...weekly(0, day), reason: 'No deploys on Mondays' }]],
])('reads %s', (window, freeze) => {
  expect(read(withWindow(window))).toEqual({ environment: 'production', hold: false, freeze });
});

test.each([
  ['{ name: production, hold: true }', { environment: 'production', hold: true, freeze: [] }],
  ['{ name: Production, hold: false }', { environment: 'Production', hold: false, freeze: [] }],
  ['{ name: production }', undefined],
  ['production', undefined],
])('the gate of %s', (environment, gate) => {
  expect(read(file(environment))).toEqual(gate);
});

test('the App reads the same', () => {
  expect(readPushed(file('{ name: production, hold: true }'))).toMatchObject({
    deployments: [{ read: { value: { gate: { hold: true, freeze: [] } } } }],
  });
});

test.each([
  ['{ reason: never }', /2:34: .*freeze\[0\]` must have `days`, or both `from` and `until`/],
  ['{ from: 2026-12-24 }', /2:42: .*must have `days`, or both/],
  ['{ days: [fry] }', /2:43: .*days\[0\]` must be one of `mon`.*did you mean `fri`/],
  ['{ days: [] }', /must have at least 1 item/],
  ['{ days: [fri], from: 4pm }', /2:55: .*freeze\[0\].from` must be a time such as `16:00`/],
  ['{ days: [fri], until: 2026-12-24 }', /until` must be a time such as `16:00`/],
  ['{ days: [fri], from: "25:00" }', /from` must be a time/],
  ['{ days: [fri], from: "08:00", until: "08:00" }', /until` must be another time than `from`/],
  ['{ days: [fri], from: "24:00", until: "00:00" }', /until` must be another time than `from`/],
  ['{ days: [fri], from: "24:00" }', /must be another time than `from`/],
  ['{ from: sun 24:00, until: mon 00:00 }', /until` must be another time/],
  ['{ from: fri 16:00, until: fri 16:00 }', /until` must be another time/],
  ['{ from: fri 16:00, until: 2026-12-24 }', /from` must be written as `until` is/],
  ['{ from: 2026-12-24, until: mon 08:00 }', /until` must be written as `from` is/],
  ['{ from: christmas, until: 2026-12-24 }', /from` must be a date such as `2026-12-24`, a date and time/],
  ['{ from: 2026-12-24, until: 2026-02-30 }', /until` must be a date such as/],
  ['{ from: 2026-12-24, until: 2026-12-25T25:00 }', /until` must be a date such as/],
  ['{ from: 2026-12-24, until: 2026-12-23 }', /until` must be later than `from`/],
  ['{ from: 2026-12-24, until: 2026-12-23T00:00+99:00 }', /until` must be a date such as/],
  ['{ days: [mon], time-zone: Europe/Berln }', /2:60: .*time zone of the IANA.*did you mean `Europe\/Berlin`/],
  ['{ days: [mon], time-zone: "+02:00" }', /time-zone` must be a time zone/],
  ['{ days: [mon], timezone: UTC }', /timezone` is not known.*did you mean `time-zone`/],
  ['{ days: [mon], reason: "" }', /reason` must not be empty/],
  ['{ days: [mon], reason: "two\\nlines" }', /reason` must be one line/],
  ['fri', /freeze\[0\]` must be a map/],
])('refuses %s, where it is written', (window, problem) => {
  expect(read(withWindow(window))).toEqual([expect.stringMatching(problem)]);
});
