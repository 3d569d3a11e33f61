import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { navigation } from '../scripts/guide/navigation.ts';
import { anchorsOf, filesBelow, pages, readPage } from './docs-tables.ts';

const root = dirname(import.meta.dirname);

/** Whether there is such a page, with such a section if one is named. */
const exists = (page: string, anchor: string | undefined): boolean =>
  existsSync(join(root, page)) && (anchor === undefined || anchorsOf(page).includes(anchor));

describe.each(pages)('%s', (page) => {
  test('has no broken links', () => {
    const links = [...readPage(page).matchAll(/\]\(([^)#:]*)(?:#([^)]*))?\)/g)];
    const broken = links.filter(
      ([, path = '', anchor]) => !exists(path === '' ? page : join(dirname(page), path), anchor),
    );
    expect(broken.map(([link]) => link)).toEqual([]);
  });
});

test.each(['src', 'app', 'test', 'bench', 'scripts', 'python'])('comments in %s name pages that exist', (folder) => {
  const missing = filesBelow(folder, /\.(tsx?|[cm]js|py|css)$/).flatMap((file) => {
    const comments = readFileSync(join(root, file), 'utf8').match(/^\s*(\/\/|\/?\*|#).*$/gm) ?? [];
    const named = [...comments.join('\n').matchAll(/(?<![\w./:-])([\w./-]+\.md)\b(?:#([\w-]+))?/g)];
    return named
      .filter(([, page = '', anchor]) => !exists(page, anchor) && !exists(join(dirname(file), page), anchor))
      .map(([name]) => `${file}: ${name}`);
  });
  expect(missing).toEqual([]);
});

test('the index of the design notes lists every one', () => {
  const listed = [...readPage('docs/design/README.md').matchAll(/^- \[[\w-]+\]\(([\w-]+\.md)\)/gm)].map(
    ([, name = '']) => name,
  );
  const notes = readdirSync(join(root, 'docs/design')).filter((name) => name !== 'README.md');
  expect(listed.toSorted()).toEqual(notes.toSorted());
});

/** The names of the members of a file's interface `States`. */
const statesOf = (page: string): string[] => {
  const [, states = ''] = /interface States \{([\s\S]*?)\n\}/.exec(readPage(page)) ?? [];
  return [...states.matchAll(/^ {2}(\w+): /gm)].map(([, state = '']) => state);
};

test.each([
  ['an intent', 1, 'app/reconcile/intent.ts'],
  ['a run', 2, 'src/deploy/machine/deploy-state.ts'],
])('the state diagram of %s has its states', (_, nth, page) => {
  const diagram = readPage('docs/design/deploy-machine.md').split('stateDiagram-v2\n')[nth]?.split('```')[0] ?? '';
  const drawn = [...diagram.matchAll(/^ *(\S+) --> ([^\s:]+)/gm)].flatMap(([, from = '', to = '']) => [from, to]);
  expect(new Set(drawn.filter((state) => state !== '[*]'))).toEqual(new Set(statesOf(page)));
});

// Reference and design notes may be longer. The list may only shrink.
const longPages = [
  'docs/action.md',
  'docs/app.md',
  'docs/cli.md',
  'docs/clients.md',
  'docs/commands.md',
  'docs/comparisons.md',
  'docs/console.md',
  'docs/kubernetes.md',
  'docs/previews.md',
  'docs/self-hosting.md',
  'docs/services.md',
  'docs/troubleshooting.md',
  'docs/verdicts.md',
];

test('pages for a task have at most 150 lines', () => {
  const tasks = navigation.filter(({ title }) => !['Reference', 'Design notes'].includes(title));
  const long = tasks
    .flatMap(({ pages }) => pages.map(([file]) => file))
    .filter((file) => file.startsWith('docs/') && file !== 'docs/threats.md')
    .filter((file) => readPage(file).trimEnd().split('\n').length > 150);
  expect(long.toSorted()).toEqual(longPages);
});
