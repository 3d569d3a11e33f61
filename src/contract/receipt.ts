import * as z from 'zod';
import { outcomeKinds } from './outcome-kinds.ts';

// The receipt of a deploy, a rollback or a deletion: a statement of in-toto (https://in-toto.io/Statement/v1), which
// actions/attest can sign. docs/receipts.md describes it; receipt.schema.json derives from this.

/** The type of the predicate. An incompatible change gets another number. */
export const receiptType = 'urn:landfall:receipt:v1';
const statementType = 'https://in-toto.io/Statement/v1';

/** The longest text of a receipt, in characters. */
export const maxReceiptText = 500;

/** How many entries each of its lists has at most. */
export const maxReceiptList = 100;

const text = z.string().max(maxReceiptText);
/** An id is part of a path: `..` would lead elsewhere. */
const id = text.regex(/^(?!\.{0,2}$)/, 'must be an id');
const digest = text.regex(/^sha256:[0-9a-f]{64}$/, 'must be a digest');
const commit = text.regex(/^[0-9a-f]{40,64}$/, 'must be a commit');
const time = z.iso.datetime({ precision: 3 });
const count = z.int().min(0);
const ms = z.number().min(0);
const list = <Item extends z.ZodType>(item: Item) => z.array(item).max(maxReceiptList);

/** The verdict on one smoke test: counts, codes and times, and no text of a request or an answer. */
const receiptTest = z.strictObject({
  name: text,
  verdict: z.enum(['passed', 'failed', 'unproven']),
  attempts: count,
  /** Why nothing is proven. */
  because: text.nullable(),
  /** How many expectations there are, and how many of them held. */
  expectations: count,
  held: count,
  first_event_ms: ms.nullable(),
  total_ms: ms.nullable(),
  /** Of a test that counts answers. */
  answers: count.nullable(),
  right_answers: count.nullable(),
  /** Of a test against the live revision. */
  comparison: list(
    z.strictObject({
      measure: text,
      verdict: z.enum(['worse', 'no-worse', 'undecided', 'not-measured']),
      decides: z.boolean(),
      p_value: z.number().min(0).max(1),
    }),
  ),
});

const receiptVerdict = z.strictObject({
  result: z.enum(['passed', 'failed', 'unproven', 'none']),
  /** Whether the revision got traffic before its tests; null if that is not known. */
  verified: z.enum(['before-traffic', 'after-traffic']).nullable(),
  tests: list(receiptTest),
});

/** The run of a workflow that deployed. */
const receiptWorkflow = z.strictObject({
  repository: text,
  /** The workflow's file and ref, as `acme/agents/.github/workflows/deploy.yml@refs/heads/main`. */
  workflow: text.nullable(),
  event: text,
  actor: text,
  commit: text,
  run_id: text,
  run_attempt: count,
  run_url: text.nullable(),
});

export const receiptPredicate = z.strictObject({
  operation: z.enum(['deploy', 'rollback', 'delete']),
  /** One of the values of the Action's output `outcome`. */
  outcome: z.enum(outcomeKinds),
  passes: z.boolean(),
  /** Whether anything was written to the service. */
  changed: z.boolean(),
  /** The control service: its base address, and the tenant of the deployment. */
  service: z.strictObject({ address: text, tenant_id: text.nullable() }),
  deployment: z.strictObject({ id, name: text.nullable() }),
  /** The revision that the outcome is about, and what it was built from. */
  revision: z
    .strictObject({
      id,
      /** `sha256:` and the digest of every file that was built. */
      build_digest: digest.nullable(),
      commit: commit.nullable(),
      /** `sha256:` and the digest of the uploaded folder. */
      source_digest: digest.nullable(),
      image: text.nullable(),
    })
    .nullable(),
  /** What a rollback brought back, and the revision that it made for that. */
  rollback: z.strictObject({ to_revision_id: id, revision_id: id.nullable(), done: z.boolean() }).nullable(),
  /** What was planned: the names of the fields, never a value. */
  plan: z
    .strictObject({
      kind: z.enum(['create', 'patch', 'none', 'impossible']),
      fields: list(z.strictObject({ field: text, makes_revision: z.boolean() })),
    })
    .nullable(),
  /** How the revision came to its end, as the run saw it. */
  rollout: z
    .strictObject({
      result: z.enum(['in-progress', 'live', 'failed', 'superseded', 'interrupted', 'timed-out']),
      statuses: list(z.strictObject({ status: text, at: time })),
    })
    .nullable(),
  verdict: receiptVerdict,
  /** The program, and the run of a workflow where it is one. The App signs nothing: its receipts are in its checks. */
  by: z.strictObject({ program: z.enum(['action', 'cli', 'app']), workflow: receiptWorkflow.nullable() }),
  started_at: time,
  ended_at: time,
  landfall_version: text,
});
export type ReceiptPredicate = z.infer<typeof receiptPredicate>;
export type ReceiptWorkflow = z.infer<typeof receiptWorkflow>;

/** A digest by its algorithm, as in-toto names them: `sha256`, `gitCommit`. */
const digestSet = z.record(z.string().regex(/^[A-Za-z0-9_]{1,30}$/), z.string().regex(/^[0-9a-f]{1,128}$/));

/** A statement about one subject. */
export const receipt = z.strictObject({
  _type: z.literal(statementType),
  subject: z.array(z.strictObject({ name: text, digest: digestSet })).length(1),
  predicateType: z.literal(receiptType),
  predicate: receiptPredicate,
});
export type Receipt = z.infer<typeof receipt>;

/** A signed statement, as DSSE has it. */
export const signedEnvelope = z.object({ payloadType: z.string(), payload: z.base64() });

/** The same in a bundle of Sigstore, which brings the certificate. */
export const signedBundle = z.object({ dsseEnvelope: signedEnvelope });
