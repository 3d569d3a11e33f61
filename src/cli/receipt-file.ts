import { readFileSync, statSync } from 'node:fs';
import {
  receipt as receiptShape,
  receiptType,
  signedBundle,
  signedEnvelope,
  type Receipt,
} from '../contract/receipt.ts';
import { hasCode, missingCodes } from '../kit/errors.ts';
import { isObject } from '../kit/json-object.ts';
import { fromJson } from '../kit/json-text.ts';
import { problemsOf } from '../kit/diagnostics/issues.ts';
import { parseText } from '../kit/diagnostics/parse.ts';
import { problemOfFile, type Problem } from '../kit/diagnostics/problem.ts';

/** A receipt as it was found. */
export interface FoundReceipt {
  receipt: Receipt;
  /** Whether it comes from a signed envelope. */
  isSigned: boolean;
}

/** The receipts in a file, or what is wrong with it. */
export type ReadReceipts = { ok: true; receipts: FoundReceipt[] } | { ok: false; problems: Problem[] };

/** The longest file, in bytes: a file of GitHub has at most 30 bundles of some 20 kB. */
const maxFileBytes = 8 * 1024 * 1024;

/** The longest statement, in characters. */
const maxStatementLength = 1024 * 1024;

const notReceipt =
  'this is no receipt: name a file that Landfall wrote, or a bundle of Sigstore that gh attestation download wrote';

/** Reads a receipt, also in the text of a check of the App, a signed envelope (DSSE), a Sigstore bundle, or one bundle a line as GitHub's command line writes. */
export function readReceipts(path: string): ReadReceipts {
  const read = readBoundedText(path);
  if (typeof read !== 'string') return { ok: false, problems: [read] };
  const inCheck = receiptsOfCheck(read);
  if (inCheck.length > 0)
    return joined(
      inCheck.map((text) => statement(text, path, false)),
      path,
    );
  const whole = fromJson(read);
  if (isObject(whole) && !isEnvelope(whole)) return statement(read, path, false);
  const texts = whole === undefined ? read.split(/\r?\n/).filter((line) => line.trim() !== '') : [read];
  return joined(
    texts.map((text) => signed(fromJson(text), path)),
    path,
  );
}

/** The receipts in a text of the App's check: blocks of JSON in Markdown. */
function receiptsOfCheck(text: string): string[] {
  const blocks: string[] = [];
  let block: string[] | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (line === '```json') block = [];
    else if (line === '```' && block) {
      blocks.push(block.join('\n'));
      block = undefined;
    } else block?.push(line);
  }
  return blocks.filter((each) => each.includes(receiptType));
}

function joined(found: readonly ReadReceipts[], path: string): ReadReceipts {
  const receipts = found.flatMap((each) => (each.ok ? each.receipts : []));
  const problems = found.flatMap((each) => (each.ok ? [] : each.problems));
  if (problems.length > 0) return { ok: false, problems };
  if (receipts.length === 0) return { ok: false, problems: [problemOfFile(path, notReceipt)] };
  return { ok: true, receipts };
}

function readBoundedText(path: string): string | Problem {
  try {
    const found = statSync(path);
    if (!found.isFile()) return problemOfFile(path, 'this is not a file: name the file of a receipt');
    if (found.size > maxFileBytes) {
      return problemOfFile(path, `this is larger than ${maxFileBytes} bytes, so it was not read: a receipt is smaller`);
    }
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const why = hasCode(error, ...missingCodes) ? 'there is no such file' : `it cannot be read (${String(error.code)})`;
    return problemOfFile(path, `${why}: name the file of a receipt`);
  }
}

const isEnvelope = (value: unknown): boolean =>
  signedEnvelope.safeParse(value).success || signedBundle.safeParse(value).success;

/** The receipt in an envelope; none where the envelope holds something else, as a provenance of SLSA. */
function signed(value: unknown, path: string): ReadReceipts {
  const read = signedBundle.safeParse(value);
  const inner = read.success ? read.data.dsseEnvelope : signedEnvelope.safeParse(value).data;
  if (!inner) return { ok: false, problems: [problemOfFile(path, notReceipt)] };
  const text = Buffer.from(inner.payload, 'base64').toString('utf8');
  const content = fromJson(text);
  if (!isObject(content) || content['predicateType'] !== receiptType) return { ok: true, receipts: [] };
  return statement(text, path, true);
}

function statement(text: string, path: string, isSigned: boolean): ReadReceipts {
  const parsed = parseText(text, path, { longest: maxStatementLength, isJson: true });
  if (!parsed.ok) return { ok: false, problems: parsed.problems };
  const { value } = parsed;
  if (!isObject(value) || value['predicateType'] !== receiptType) {
    return { ok: false, problems: [problemOfFile(path, notReceipt)] };
  }
  const checked = receiptShape.safeParse(value);
  if (checked.success) return { ok: true, receipts: [{ receipt: checked.data, isSigned }] };
  return { ok: false, problems: problemsOf(checked.error.issues, { schema: receiptShape, value, places: parsed }) };
}
