import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileFieldNames } from '../../../src/deploy/file/deployment-fields.ts';
import { readDesired } from '../../../src/deploy/file/read-desired.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/deploy-file.md'), 'utf8');
const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text);

test('every file that the page shows is read without a problem', () => {
  expect(blocks).toHaveLength(15);
  for (const text of blocks) {
    expect(
      readDesired({
        inputs: {},
        file: { text, path: 'landfall.yml' },
        cases: { read: (path) => ({ text: path.endsWith('.jsonl') ? '{ "input": 1 }' : '- input: 1' }) },
      }),
    ).toMatchObject({ ok: true });
  }
});

test('the page names every field of a deployment, and no other', () => {
  const [, table = ''] = /## Fields\n([\s\S]*?)\n## /.exec(page) ?? [];
  const named = [...table.matchAll(/^\| (`[^|]+`) +\|/gm)].flatMap(([, cell = '']) =>
    cell.replaceAll('`', '').split(', '),
  );
  expect(named.toSorted()).toEqual([...fileFieldNames].toSorted());
});
