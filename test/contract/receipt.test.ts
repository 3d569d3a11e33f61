import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { receiptSchema, receiptSchemaFile } from '../../scripts/receipt-schema.ts';

test('the JSON schema of receipts is the one that npm run build writes', async () => {
  const text = readFileSync(join(import.meta.dirname, '../..', receiptSchemaFile), 'utf8');
  expect(text).toBe(await receiptSchema());
});
