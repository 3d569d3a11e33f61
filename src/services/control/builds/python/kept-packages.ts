import type { RevisionPackages } from '../../../../contract/control/revision.ts';
import { requirementsOf, type Installed } from './environment-store.ts';

const interpreterLine = /^# Python ([\w.+-]{1,100})$/;

/** What is kept of an environment with a revision: the interpreter as a comment, and the packages as requirements. */
export const keptText = (installed: Pick<Installed, 'python' | 'packages'>): string =>
  `# Python ${installed.python}\n${requirementsOf(installed)}`;

/** Reads what was kept with a revision. */
export function readKeptPackages(text: string): RevisionPackages {
  let python: string | null = null;
  const packages: RevisionPackages['packages'] = [];
  for (const line of text.split('\n')) {
    const [, version] = interpreterLine.exec(line) ?? [];
    const [, name, exact, address] = /^([\w.-]+)(?:==(\S+)| @ (\S.*))$/.exec(line) ?? [];
    if (version !== undefined) python ??= version;
    else if (name !== undefined)
      packages.push({
        name,
        version: exact ?? null,
        address: address === undefined ? null : withoutCredentials(address),
      });
  }
  return { python, packages };
}

/** An index or a repository may be named with a token. */
const withoutCredentials = (address: string): string => address.replace(/^([\w+.-]+:\/\/)[^/?#]*@/, '$1');
