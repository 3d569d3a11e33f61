import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'rolldown';
import { openApiDocument as agentDocument } from '../../src/services/agent/api/document.ts';
import { openApiDocument as controlDocument } from '../../src/services/control/api/document.ts';
import { apiPages } from './api-pages.ts';
import type { SearchEntry } from './browser/search.ts';
import { layOut, type PageGroup } from './layout.ts';
import { llmsFullText, llmsText, markdownAt } from './llms.ts';
import { navigation } from './navigation.ts';
import { readPage } from './page.ts';
import { renderPage } from './render.ts';

const root = join(import.meta.dirname, '../..');

/** The files of the guide, by their path. */
export type GuideFiles = ReadonlyMap<string, string | Uint8Array>;

/** Builds the guide from the pages of the repository and the documents of the services, in memory. */
export async function buildGuide(): Promise<GuideFiles> {
  const groups = await readGroups();
  const pages = groups.flatMap((group) => group.pages);
  const byFile = new Map(pages.map((page) => [page.file, page]));
  const files = new Map<string, string | Uint8Array>();
  for (const page of pages) {
    const { html, images } = renderPage(page, byFile);
    files.set(page.url, layOut(page, html, groups));
    files.set(markdownAt(page.url), page.markdown);
    for (const [url, file] of images) files.set(url, await readFile(join(root, file)));
  }
  files.set('llms.txt', llmsText(groups));
  files.set('llms-full.txt', llmsFullText(groups));
  files.set('assets/search.json', JSON.stringify(searchEntries(groups)));
  files.set('assets/icon.svg', await readFile(join(root, 'src/console/icon.svg')));
  files.set('assets/guide.css', await readStyles());
  for (const [name, code] of await bundleScripts()) files.set(`assets/${name}`, code);
  return files;
}

async function readGroups(): Promise<PageGroup[]> {
  const written = await Promise.all(
    navigation.map(async ({ title, pages }) => ({
      title,
      pages: await Promise.all(
        pages.map(async ([file, label]) => readPage(file, label, await readFile(join(root, file), 'utf8'))),
      ),
    })),
  );
  const generated = [
    { folder: 'docs/api/control', label: 'Control service', document: controlDocument('contract') },
    { folder: 'docs/api/agent', label: 'Agent server', document: agentDocument() },
  ].map((source) => ({ title: `API: ${source.label.toLowerCase()}`, pages: apiPages(source) }));
  return [...written.slice(0, -1), ...generated, ...written.slice(-1)];
}

const searchEntries = (groups: readonly PageGroup[]): SearchEntry[] =>
  groups.flatMap((group) =>
    group.pages.flatMap((page) =>
      page.sections.map(({ title, anchor, text }) => ({
        url: anchor === '' ? page.url : `${page.url}#${anchor}`,
        page: page.title,
        title,
        text,
        ...(group.title === 'Design notes' || page.url === 'changelog.html' ? { isBackground: true } : {}),
      })),
    ),
  );

/** The console's colours, and the styles of the guide. */
async function readStyles(): Promise<string> {
  const [console, own] = await Promise.all(
    ['src/console/styles/base.css', 'scripts/guide/browser/guide.css'].map((path) =>
      readFile(join(root, path), 'utf8'),
    ),
  );
  return [...((console ?? '').match(/^:root[^{]*\{[^}]*\}/gm) ?? []), own].join('\n\n');
}

async function bundleScripts(): Promise<[string, string][]> {
  const bundle = async (name: string, format: 'es' | 'iife'): Promise<string> => {
    const { output } = await build({
      input: join(import.meta.dirname, 'browser', name),
      platform: 'browser',
      tsconfig: join(import.meta.dirname, 'browser/tsconfig.json'),
      output: { format, minify: true, comments: { legal: false } },
      write: false,
    });
    return output[0].code;
  };
  return [
    ['theme.js', await bundle('theme.ts', 'iife')],
    ['guide.js', await bundle('main.ts', 'es')],
  ];
}
