/**
 * Sets the state of every claim to what the last whole run proved: `node test/conformance/mark.ts`, after `npm test`.
 * Says which claims changed, and which a passing test carries on one side only.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as prettier from 'prettier';
import { claimsPath, readClaims } from './claims.ts';
import { judgeClaims, markClaims, tally } from './proof.ts';
import { readRunRecord, runRecordPath } from './run-record.ts';

const listPath = fileURLToPath(claimsPath);
const recordPath = fileURLToPath(runRecordPath);

if (existsSync(recordPath)) {
  const list = readClaims();
  const record = readRunRecord(recordPath);
  const { proven, partly } = judgeClaims(list.claims, record.tests);
  const claims = markClaims(list.claims, proven);
  for (const [index, claim] of claims.entries()) {
    if (claim.state !== list.claims[index]?.state) console.log(`${claim.state}: ${claim.id}`);
  }
  for (const [id, missing] of partly) console.log(`open: ${id} still needs a test ${missing.join(' and ')}`);
  const style = await prettier.resolveConfig(listPath);
  writeFileSync(
    listPath,
    await prettier.format(JSON.stringify({ ...list, claims }, undefined, 2), { ...style, filepath: listPath }),
  );
  console.log(`${tally(claims)}, by the run that ended ${record.ended}`);
} else {
  console.error('No whole run of the tests is on record yet. Run npm test without a filter, then this again.');
  process.exitCode = 1;
}
