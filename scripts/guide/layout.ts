import { dirname, relative } from 'node:path/posix';
import { version } from '../../src/kit/version.ts';
import type { Page } from './page.ts';

/** The pages of a group of the navigation. */
export interface PageGroup {
  title: string;
  pages: readonly Page[];
}

/** The whole document of a page: it loads files of the guide only, and has no inline script or style. */
export function layOut(page: Page, content: string, groups: readonly PageGroup[]): string {
  const fromPage = (url: string): string => relative(dirname(page.url), url);
  const root = fromPage('.') || '.';
  const link = ({ url, label }: Page): string =>
    `<a href="${fromPage(url)}"${url === page.url ? ' aria-current="page"' : ''}>${escape(label)}</a>`;
  const pages = groups.flatMap((group) => group.pages);
  const at = pages.indexOf(page);
  const neighbour = (other: Page | undefined, word: string): string =>
    other
      ? `<a class="${word.toLowerCase()}" href="${fromPage(other.url)}"><small>${word}</small>${escape(other.label)}</a>`
      : '';
  const outline = page.sections.filter(({ depth }) => depth === 2 || depth === 3);
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(page.url === 'index.html' ? 'Landfall' : `${page.title} · Landfall`)}</title>
<meta name="description" content="${escape(page.summary.slice(0, 200))}">
<link rel="icon" href="${root}/assets/icon.svg">
<link rel="stylesheet" href="${root}/assets/guide.css">
<script src="${root}/assets/theme.js"></script>
<script src="${root}/assets/guide.js" type="module"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<button type="button" id="menu" aria-expanded="false" aria-controls="navigation" aria-label="Pages">☰</button>
<a class="home" href="${fromPage('index.html')}"><img src="${root}/assets/icon.svg" alt="" width="24" height="24">Landfall</a>
<span class="version">${version}</span>
<button type="button" id="search"><span>Search</span><kbd>Ctrl K</kbd></button>
<button type="button" id="theme" aria-label="Theme">◐</button>
</header>
<nav id="navigation" aria-label="Pages">
${groups
  .map(
    ({ title, pages }) =>
      `<details${pages.includes(page) || title !== 'Design notes' ? ' open' : ''}><summary>${escape(title)}</summary>\n${pages.map(link).join('\n')}\n</details>`,
  )
  .join('\n')}
</nav>
<main id="content">
<article>
${content}
</article>
<nav class="neighbours" aria-label="Neighbouring pages">${neighbour(pages[at - 1], 'Previous')}${neighbour(pages[at + 1], 'Next')}</nav>
</main>
<aside>${
    outline.length < 2
      ? ''
      : `<nav aria-label="On this page"><p>On this page</p>\n${outline
          .map(
            ({ depth, title, anchor }) =>
              `<a href="#${anchor}"${depth === 3 ? ' class="deeper"' : ''}>${escape(title)}</a>`,
          )
          .join('\n')}</nav>`
  }</aside>
<dialog id="finder" aria-label="Search">
<input type="search" placeholder="Search the guide" aria-label="Search the guide" autocomplete="off" spellcheck="false">
<div role="status"></div>
<ol></ol>
</dialog>
</body>
</html>
`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text: string): string => text.replaceAll(/[&<>"]/g, (mark) => entities[mark] ?? mark);
