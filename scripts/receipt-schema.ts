// The JSON Schema of receipts, for those who read them: made from the schema that Landfall reads them by.
//   node scripts/receipt-schema.ts     writes landfall-receipt.schema.json
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { format } from 'prettier';
import * as z from 'zod';
import { receipt } from '../src/contract/receipt.ts';

/** Where the schema lies in the project. */
export const receiptSchemaFile = 'landfall-receipt.schema.json';

/** The schema as the file holds it. */
export function receiptSchema(): Promise<string> {
  const { $schema, ...schema } = z.toJSONSchema(receipt);
  const titled = { $schema, title: "A receipt of Landfall's", ...schema };
  return format(JSON.stringify(titled), { parser: 'json', printWidth: 120 });
}

/** Writes the schema below `base`. */
export async function writeReceiptSchema(base: string): Promise<void> {
  await writeFile(join(base, receiptSchemaFile), await receiptSchema());
}

if (import.meta.main) await writeReceiptSchema(dirname(import.meta.dirname));
