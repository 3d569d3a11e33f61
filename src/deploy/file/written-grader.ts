import * as z from 'zod';
import { readAddress } from '../../kit/base-address.ts';
import { duration, ruled } from './written-text.ts';
import type { Expectation } from './smoke-test.ts';
import type { WrittenExpectation } from './written-expectations.ts';

const openAi = 'https://api.openai.com/v1';
const defaultTimeoutMs = 30_000;
const maxTimeoutMs = 120_000;

/** Each is sent to a model for every answer. */
const maxGraded = 20;

const modelName = z.string().trim().min(1).max(200);

/** The models that grade the answers of a test. The key is only named: the file holds no secret. */
export const writtenGrader = z
  .strictObject({
    model: modelName.optional(),
    'embedding-model': modelName.optional(),
    'base-url': ruled(z.string().trim(), addressProblem).default(openAi),
    key: ruled(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,255}$/, 'must be the name of an environment variable; never a value'),
      keyProblem,
    ).optional(),
    timeout: duration(100, maxTimeoutMs).prefault(`${defaultTimeoutMs}ms`),
  })
  .refine((grader) => grader.model !== undefined || grader['embedding-model'] !== undefined, {
    message: 'must name a model: `model` for judges, `embedding-model` for `by: meaning`',
  });
type WrittenGrader = z.infer<typeof writtenGrader>;

/** Names of credentials for GitHub, for the runner and for control services, and of the Action's inputs. */
const otherCredentials =
  /^(?:GITHUB_|GH_TOKEN$|GH_ENTERPRISE_TOKEN$|ACTIONS_|RUNNER_|INPUT_|LANDFALL_|LANGSMITH_|LANGCHAIN_|LANGGRAPH_)/i;

/** Who may change the file may choose the address: a pull request must not send such a credential there. */
function keyProblem(name: string): string | undefined {
  if (!otherCredentials.test(name)) return undefined;
  return 'must not name a credential for something else: GitHub, the runner, a control service or an input of the Action. Keep the key of the grader in a variable of its own';
}

function addressProblem(written: string): string | undefined {
  const read = readAddress(written);
  return read.ok ? undefined : `is not used: ${read.problem}`;
}

const modelFor = (kind: 'judge' | 'meaning', grader: WrittenGrader | undefined): string | undefined =>
  kind === 'judge' ? grader?.model : grader?.['embedding-model'];

/** What the grader of a test lacks for what it is to grade. */
export function missingOfGrader(expect: readonly WrittenExpectation[], grader: WrittenGrader | undefined): string[] {
  const graded = expect.filter(({ kind }) => kind === 'graded').length;
  if (graded > maxGraded)
    return [`must not grade more than ${maxGraded} expectations of one test, and grades ${graded}`];
  const kinds = new Set(expect.flatMap((each) => (each.kind === 'graded' ? [each.grading.kind] : [])));
  return [...kinds]
    .filter((kind) => modelFor(kind, grader) === undefined)
    .map((kind) =>
      kind === 'judge' ? 'must have a `model` for `judge`' : 'must have an `embedding-model` for `by: meaning`',
    );
}

/** The expectations with the model that grades each. */
export function withGrader(expect: readonly WrittenExpectation[], grader: WrittenGrader | undefined): Expectation[] {
  return expect.flatMap((each): Expectation[] => {
    if (each.kind !== 'graded') return [each];
    const model = modelFor(each.grading.kind, grader);
    if (!grader || model === undefined) return [];
    const { key, timeout: timeoutMs, 'base-url': baseUrl } = grader;
    return [{ ...each, grader: { baseUrl, model, timeoutMs, ...(key === undefined ? {} : { key }) } }];
  });
}
