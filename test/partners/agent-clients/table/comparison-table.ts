import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = join(import.meta.dirname, '../../../../docs/design/agent-comparison.md');

/** The rows of the table in docs/design/agent-comparison.md: contract, public server, ours. */
export function readTable(): [contract: string, theirs: string, ours: string][] {
  return readFileSync(page, 'utf8')
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

/** A row in the table's notation. */
export const lineOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
