import type { FieldProblem } from '../../../contract/service-error.ts';
import { contextSchemaOf, contextErrors } from './context-schema.ts';
import { memberOf } from '../members.ts';
import type { Graph } from './graph.ts';

/** How a context is validated. */
export interface ContextValidationOptions {
  /** True if values may be missing: each run completes an assistant's context. */
  mayLack: boolean;
  /** The part of the context that the request sent; only its keys are checked for typos. */
  sent?: Record<string, unknown> | undefined;
  /** The path in the request of a context key; below `context` by default. */
  placeOf?: (key: string | number) => string[];
}

const belowContext = ['body', 'context'];

/** Validates a context against the graph's context schema. Returns every invalid value, none if there is no schema. */
export async function contextProblems(
  graph: Graph,
  context: Record<string, unknown>,
  { mayLack, sent = {}, placeOf = () => belowContext }: ContextValidationOptions,
): Promise<FieldProblem[]> {
  if (graph['_validateContext'] === undefined) return [];
  const problems = unknownFields(graph, sent);
  try {
    await graph['_validateContext'](context);
    return problems;
  } catch (error) {
    const issues = issuesOf(error);
    if (issues === undefined) throw error;
    const broken = issues.flatMap((issue) => {
      const [key] = issue.path;
      const isAbsent = valueAt(context, issue.path) === undefined;
      if (mayLack && isAbsent) return [];
      const loc = [...(key === undefined ? belowContext : placeOf(key)), ...issue.path];
      return isAbsent && issue.code === 'invalid_type'
        ? [{ loc, msg: 'Field required', type: 'missing' }]
        : [{ loc, msg: issue.message, type: issue.code }];
    });
    return [...broken, ...problems];
  }
}

function unknownFields(graph: Graph, sent: Record<string, unknown>): FieldProblem[] {
  const schema = contextSchemaOf(graph);
  if (schema === undefined) return [];
  const known = Object.keys(schema.shape).map((name) => `"${name}"`);
  return contextErrors(sent, schema).map(([key, meant]) => ({
    loc: [...belowContext, key],
    msg: `The context of this graph has ${known.join(', ')}; did you mean "${meant}"?`,
    type: 'extra_forbidden',
  }));
}

interface Issue {
  path: (string | number)[];
  message: string;
  code: string;
}

/** The issues of a schema library's error, of any version. */
function issuesOf(error: unknown): Issue[] | undefined {
  const issues = memberOf(error, 'issues');
  if (!Array.isArray(issues)) return undefined;
  return issues.map((issue: unknown) => {
    const path = memberOf(issue, 'path');
    return {
      path: Array.isArray(path) ? path.map((part) => (typeof part === 'number' ? part : String(part))) : [],
      message: String(memberOf(issue, 'message')),
      code: String(memberOf(issue, 'code')),
    };
  });
}

const valueAt = (value: unknown, path: Issue['path']): unknown => path.reduce<unknown>(memberOf, value);
