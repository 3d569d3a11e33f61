import type { FieldProblem } from '../../../contract/service-error.ts';

/** Why a request is refused: 422 with an entry for every invalid field, any other status with sentences. */
export type Refusal =
  | { status: 422; problems: readonly FieldProblem[] }
  | { status: 400 | 401 | 404 | 409 | 412 | 501 | 502; detail: string };

/** A parsed request, or why it is refused. */
export type ValidationResult<T> = { ok: true; value: T } | { ok: false; refusal: Refusal };

export const accepted = <T>(value: T): ValidationResult<T> => ({ ok: true, value });

/** A 400 with every broken rule, one sentence each. */
export const againstRules = (sentences: readonly string[]): { ok: false; refusal: Refusal } => ({
  ok: false,
  refusal: { status: 400, detail: sentences.join(' ') },
});

export const wrongShape = (problems: readonly FieldProblem[]): { ok: false; refusal: Refusal } => ({
  ok: false,
  refusal: { status: 422, problems },
});
