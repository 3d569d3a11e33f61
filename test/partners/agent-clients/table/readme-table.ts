import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const readme = join(import.meta.dirname, '../../../../src/agent-server/README.md');
const heading = '## The contract, the public server and ours';

/** The lines of the table in the README of the agent server: contract, public server, ours. */
export function readTable(): [contract: string, theirs: string, ours: string][] {
  const [, section = ''] = readFileSync(readme, 'utf8').split(`${heading}\n`);
  return section
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .filter((line) => !/^\|[- |]+\|$/.test(line))
    .map((line) => {
      const [contract = '', theirs = '', ours = ''] = line
        .slice(1, -1)
        .split(' | ')
        .map((cell) => cell.trim());
      return [contract, theirs, ours];
    });
}

/** A line as it stands there. */
export const lineOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
