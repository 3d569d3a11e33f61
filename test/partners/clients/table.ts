import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { afterAll, describe, expect, test } from 'vitest';
import { resultOf } from './case.ts';
import type { ClientCase } from './case.ts';
import type { BothServers } from './servers.ts';

const page = join(import.meta.dirname, '../../../docs/clients.md');

/** With this environment variable, a run writes its results into the table instead of comparing them. */
const updates = process.env['LANDFALL_UPDATE_CLIENTS'] === '1';

/** A row of the table. The versions whose results are the same share one. */
interface Row {
  client: string;
  versions: string;
  feature: string;
  ours: string;
  theirs: string;
}

/** Declares tests that run each case on both servers at once, and compare the results with the table of docs/clients.md. */
export function testClients(cases: readonly ClientCase[], given: () => Pick<BothServers, 'ours' | 'theirs'>): void {
  const results = new Map<ClientCase, Row>();
  const clients = new Set(cases.map(({ client }) => client));
  const committed = readRows();

  describe.concurrent.each([...clients])('%s', (client) => {
    test.each(cases.filter((each) => each.client === client))('$version: $feature', async (each) => {
      const { ours, theirs } = given();
      const { version, feature } = each;
      const row = committed.find((row) => sameFeature(row, each) && row.versions.split(', ').includes(version));
      const [byOurs, first] = await Promise.all([resultOf(each, ours), resultOf(each, theirs)]);
      // On a busy machine the public server drops connections: what it can do is compared, and not how steady it is.
      const byTheirs = first === row?.theirs ? first : await resultOf(each, theirs);
      results.set(each, { client, versions: version, feature, ours: byOurs, theirs: byTheirs });
      const seen = { ours: byOurs, public: byTheirs };
      expect(seen).toEqual(updates ? seen : { ours: row?.ours, public: row?.theirs });
    });
  });

  test('the table has no other features of these clients', () => {
    const listed = committed.filter(({ client }) => clients.has(client));
    const known = listed.flatMap((row) => row.versions.split(', ').map((version) => keyOf({ ...row, version })));
    const tried = cases.map(keyOf).toSorted();
    expect(updates ? tried : known.toSorted()).toEqual(tried);
  });

  afterAll(async () => {
    if (updates) await writeRows(clients, merged(cases.flatMap((each) => results.get(each) ?? [])));
  });
}

const sameFeature = (row: Row, { client, feature }: { client: string; feature: string }): boolean =>
  row.client === client && row.feature === feature;

const keyOf = ({ client, version, feature }: Omit<ClientCase, 'run'>): string => `${client} ${version}: ${feature}`;

/** Joins the rows of the versions of a client that give the same results. */
function merged(rows: readonly Row[]): Row[] {
  const all: Row[] = [];
  for (const row of rows) {
    const same = all.find((other) => sameFeature(other, row) && other.ours === row.ours && other.theirs === row.theirs);
    if (same) same.versions += `, ${row.versions}`;
    else all.push({ ...row });
  }
  return all;
}

const head = '| client | versions | feature | ours | public server |';

/** The table in the page, and the text before and after it. */
function readPage(): { before: string; lines: string[]; after: string } {
  const text = readFileSync(page, 'utf8');
  const lines = text.split('\n');
  const isTable = (line: string) => line.startsWith('|');
  const start = lines.findIndex(isTable);
  const end = lines.findLastIndex(isTable) + 1;
  return {
    before: lines.slice(0, start).join('\n'),
    lines: lines.slice(start + 2, end),
    after: lines.slice(end).join('\n'),
  };
}

function readRows(): Row[] {
  return readPage().lines.map((line) => {
    const [client = '', versions = '', feature = '', ours = '', theirs = ''] = line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
    return { client: client.replaceAll('`', ''), versions, feature, ours, theirs };
  });
}

/** Replaces the rows of these clients; others' rows stay. */
async function writeRows(clients: ReadonlySet<string>, rows: readonly Row[]): Promise<void> {
  const { before, after } = readPage();
  const all = [...readRows().filter(({ client }) => !clients.has(client)), ...rows];
  const lines = all
    .toSorted((a, b) => a.client.localeCompare(b.client))
    .map(
      ({ client, versions, feature, ours, theirs }) =>
        `| \`${client}\` | ${versions} | ${feature} | ${ours} | ${theirs} |`,
    );
  const text = [before, head, '| --- | --- | --- | --- | --- |', ...lines, after].join('\n');
  writeFileSync(page, await format(text, { ...(await resolveConfig(page)), filepath: page }));
}
