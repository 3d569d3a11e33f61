import type { PageGroup } from './layout.ts';
import type { Page } from './page.ts';

/** The list of pages for language models (https://llmstxt.org). What may be left out is under `Optional`. */
export function llmsText(groups: readonly PageGroup[]): string {
  const [start] = groups.flatMap((group) => group.pages);
  const lists = groups.map(({ title, pages }) => {
    const lines = pages.map(({ title, url, summary }) => `- [${title}](${markdownAt(url)}): ${firstSentence(summary)}`);
    return `## ${title === 'Design notes' ? 'Optional' : title}\n\n${lines.join('\n')}`;
  });
  return `# Landfall\n\n> ${firstSentence(start?.summary ?? '')}\n\n${lists.join('\n\n')}\n`;
}

/** The text of all pages but the design notes, one after another. */
export const llmsFullText = (groups: readonly PageGroup[]): string =>
  groups
    .filter(({ title }) => title !== 'Design notes')
    .flatMap(({ pages }) =>
      pages.map(({ url, markdown }: Page) => `<!-- ${markdownAt(url)} -->\n\n${markdown.trim()}\n`),
    )
    .join('\n');

/** Where the Markdown of a page is: beside its HTML. */
export const markdownAt = (url: string): string => url.replace(/html$/, 'md');

const firstSentence = (text: string): string => /^.*?\.(?= |$)/.exec(text)?.[0] ?? text;
