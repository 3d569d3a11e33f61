/** The list of claims: what the two documents promise, one claim a sentence, and which of them are proven. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';

/** The ways a claim may be proven: against code in this process, and through a client over a socket. */
export const SIDES = ['in process', 'over HTTP'] as const;
const Side = z.enum(SIDES);
/** One of the ways a claim may be proven. */
export type Side = z.infer<typeof Side>;

/** Which of the two documents a claim is from. */
const Document = z.enum(['control-service', 'agent-server']);

const words = z.string().trim().min(1);

/** Ids are dotted lower-case words; the first one names the document. */
const Id = z.string().regex(/^(control|agent)(\.[a-z0-9]+(-[a-z0-9]+)*){2,}$/, 'not a dotted, lower-case id');

const Claim = z
  .strictObject({
    id: Id,
    document: Document,
    /** The heading it stands under, as the document writes it. */
    section: words,
    claim: words,
    /** `first`: the first part of the services covers it; `later`: what follows does. */
    scope: z.enum(['first', 'later']),
    /** `done` only with a passing test on each of its sides; kept true by the reporter, set by `mark.ts`. */
    state: z.enum(['open', 'done']),
    /** The sides it needs; `over HTTP` where absent. */
    sides: z.array(Side).min(1).optional(),
  })
  .refine((claim) => claim.id.startsWith(claim.document === 'control-service' ? 'control.' : 'agent.'), {
    message: 'the id starts with another document than the claim is from',
    path: ['id'],
  });
/** One row, field, rule or sentence of a document that is true or false of an implementation. */
export type Claim = z.infer<typeof Claim>;

const Silence = z.strictObject({ document: Document, section: words, subject: words, word: words });

const ClaimsFile = z
  .strictObject({
    claims: z.array(Claim),
    /** What a document leaves open without a need for a choice, with a word why. */
    silent: z.array(Silence),
  })
  .check((context) => {
    const seen = new Set<string>();
    for (const [index, { id }] of context.value.claims.entries()) {
      if (seen.has(id)) {
        context.issues.push({
          code: 'custom',
          message: `${id} is there twice`,
          input: id,
          path: ['claims', index, 'id'],
        });
      }
      seen.add(id);
    }
  });
/** The whole of `claims.json`. */
export type ClaimsFile = z.infer<typeof ClaimsFile>;

/** Where the list lies. */
export const claimsPath: URL = new URL('./claims.json', import.meta.url);

/** Checks parsed JSON as a list of claims; throws a `ZodError` that names every entry at fault. */
export function parseClaims(json: unknown): ClaimsFile {
  return ClaimsFile.parse(json);
}

/** Reads and checks the list of claims. */
export function readClaims(path: URL | string = claimsPath): ClaimsFile {
  return parseClaims(JSON.parse(readFileSync(path, 'utf8')));
}

/**
 * The sides on which a claim needs a passing test: over HTTP, as clients see the services. That each service answers the
 * same without a socket is a single test of its own (`test/services/control/in-process.system.test.ts`,
 * `test/services/agent/in-process.system.test.ts`).
 */
export function sidesOf(claim: Pick<Claim, 'sides'>): readonly Side[] {
  return claim.sides ?? ['over HTTP'];
}
