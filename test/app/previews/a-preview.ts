import { readDeployFile } from '../../../app/targets/file-entries.ts';
import type { DesiredDeployment } from '../../../src/deploy/file/desired.ts';
import type { PreviewTerms } from '../../../src/deploy/file/preview-fields.ts';
import type { FileDeployment } from '../../../src/deploy/file/read-desired.ts';
import type { PreviewRequest } from '../../../app/previews/preview-store.ts';

export const repository = { installationId: 1, repositoryId: 70, owner: 'acme', name: 'agents' };
export const commitOf = (letter: string): string => letter.repeat(40);

/** The production of every test, whose secrets no preview gets. */
export const previewed = (preview = '{}', entry = 'support'): string => `
deployments:
  ${entry}:
    source: github
    repo-url: https://github.com/acme/agents
    repo-ref: main
    graph-config-path: langgraph.json
    secrets: [PRODUCTION_KEY]
    preview: ${preview}
`;

/** The deployments of a file of the default branch. */
export function entriesOf(text: string): readonly FileDeployment[] {
  const { entries, notes } = readDeployFile({ text });
  if (notes.length > 0) throw new Error(notes.join('\n'));
  return entries;
}

/** The one deployment of such a file, and its terms. */
function entryOf(text = previewed()): { deployment: DesiredDeployment; terms: PreviewTerms } {
  const [entry] = entriesOf(text);
  if (!entry?.read.ok) throw new Error(JSON.stringify(entry));
  const { preview: terms, ...deployment } = entry.read.value;
  if (!terms) throw new Error('the file has no preview');
  return { deployment, terms };
}

/** A request for the preview of a commit of a pull request. */
export const requestOf = (number: number, commit: string, changedAt = 0, text = previewed()): PreviewRequest => {
  const { deployment, terms } = entryOf(text);
  const repositoryUrl = 'https://github.com/acme/agents';
  const at = { repositoryId: repository.repositoryId, number };
  return {
    key: { ...at, entry: 'support' },
    name: `support-pr-${number}`,
    wanted: {
      kind: 'deploy',
      commit,
      pull: { ...at, repositoryUrl, headUrl: repositoryUrl, headRef: 'next', isFork: false },
      deployment,
      terms,
    },
    known: { changedAt, goneAt: null, failures: 0 },
  };
};
