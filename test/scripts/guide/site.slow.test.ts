import { join } from 'node:path/posix';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildGuide, type GuideFiles } from '../../../scripts/guide/build.ts';
import { createSearch, type SearchEntry } from '../../../scripts/guide/browser/search.ts';
import { navigation } from '../../../scripts/guide/navigation.ts';
import { openApiDocument as agentDocument } from '../../../src/services/agent/api/document.ts';
import { openApiDocument as controlDocument } from '../../../src/services/control/api/document.ts';
import { filesBelow } from '../../docs-tables.ts';

let files: GuideFiles;
let pages: (readonly [url: string, html: string])[];
const read = (name: string): string => String(files.get(name));
/** The addresses in an attribute, with the page they are on. */
const addresses = (pattern: RegExp): { url: string; address: string }[] =>
  pages.flatMap(([url, html]) => [...html.matchAll(pattern)].map(([, address = '']) => ({ url, address })));

beforeAll(async () => {
  files = await buildGuide();
  pages = [...files.keys()].filter((name) => name.endsWith('.html')).map((name) => [name, read(name)] as const);
});

test('the navigation has every page of docs once', () => {
  const named = navigation.flatMap((group) => group.pages.map(([file]) => file));
  expect(named.filter((file) => file.startsWith('docs/')).toSorted()).toEqual(filesBelow('docs', /\.md$/).toSorted());
  expect(new Set(named).size).toBe(named.length);
});

test('every link leads to a file of the guide and to an anchor on it', () => {
  const broken = addresses(/ href="([^"]*)"/g).filter(({ url, address }) => {
    if (/^https?:/.test(address)) return false;
    const [path = '', anchor] = address.split('#');
    const target = path === '' ? url : join(url, '..', path);
    return !files.has(target) || (anchor !== undefined && !read(target).includes(` id="${anchor}"`));
  });
  expect(broken).toEqual([]);
});

test('pages load files of the guide only, and have no inline script or style', () => {
  const loaded = addresses(/<(?:script|img|link|iframe|source)\b[^>]*? (?:src|href)="([^"]*)"/g);
  expect(loaded.length).toBeGreaterThan(pages.length * 4);
  expect(loaded.filter(({ url, address }) => !files.has(join(url, '..', address)))).toEqual([]);
  for (const [, html] of pages) expect(html).not.toMatch(/<script>|<style| style="| on[a-z]+="/);
  expect(read('assets/guide.css')).not.toMatch(/url\(|@import/);
});

test('a link that names a file on GitHub names the page', () => {
  expect(read('services.html')).toContain('<a href="self-hosting.html">For a team</a>');
});

describe('the search', () => {
  test.each([
    ['smoke tests', 'deploy-file.html'],
    ['rolback', 'commands.html'],
    ['create a deployment', 'api/control/deployments.html'],
    ['X-Api-K', 'agent-configuration.html'],
  ])('finds %s', (query, page) => {
    const entries: SearchEntry[] = JSON.parse(read('assets/search.json'));
    const found = createSearch(entries)(query).map((result) => result.url.split('#')[0]);
    expect(found).toContain(page);
  });

  test('shows the words around the match, apart from it', () => {
    const text = `${'before '.repeat(40)}the needle ${'after '.repeat(40)}`;
    const [found] = createSearch([{ url: 'a', page: 'A', title: 'A', text }])('needle');
    expect(found?.excerpt[1]).toBe('needle');
    expect(found?.excerpt.join('')).toMatch(/^… .*before the needle after .* …$/);
  });
});

test('llms.txt lists the Markdown of every page, beside its HTML', () => {
  const listed = [...read('llms.txt').matchAll(/\]\(([^)]+)\): /g)].map(([, path = '']) => path);
  expect(listed.toSorted()).toEqual(pages.map(([url]) => url.replace(/html$/, 'md')).toSorted());
  expect(listed.filter((path) => !files.has(path))).toEqual([]);
  expect(read('llms-full.txt')).toContain('# The deploy file');
});

test.each([
  ['control', controlDocument('contract')],
  ['agent', agentDocument()],
])('the reference of the %s service has every operation and schema', (folder, document) => {
  const reference = [...files.keys()].filter((name) => name.startsWith(`api/${folder}/`) && name.endsWith('.md'));
  const text = reference.map(read).join('\n');
  for (const [path, methods] of Object.entries(document.paths))
    for (const method of Object.keys(methods)) expect(text).toContain(`${method.toUpperCase()} ${path}\n`);
  for (const name of Object.keys(document.components.schemas)) expect(text).toContain(`## ${name}\n`);
});
