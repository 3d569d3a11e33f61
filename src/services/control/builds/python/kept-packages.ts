import type { RevisionPackages } from '../../../../contract/control/revision.ts';
import { requirementsOf, type InstalledPackages } from './environment-store.ts';

const interpreterLine = /^# Python ([\w.+-]{1,100})$/;

/** The text that a revision keeps about its environment: the interpreter as a comment, the packages as requirements. */
export const packagesAsText = (installed: Pick<InstalledPackages, 'python' | 'packages'>): string =>
  `# Python ${installed.python}\n${requirementsOf(installed)}`;

/** Parses the text of `packagesAsText`. */
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

/** Removes the user and password of a URL: they may be a token. */
const withoutCredentials = (address: string): string => address.replace(/^([\w+.-]+:\/\/)[^/?#]*@/, '$1');
