import type { FieldProblem } from '../../contract/service-error.ts';
import type { Graph } from './graph.ts';

/**
 * Holds a context to the graph's context schema.
 *
 * @param mayLack true where values may come later: an assistant's context is completed by each run's.
 * @returns every value that breaks the schema, none where there is no schema.
 */
export async function contextProblems(
  graph: Graph,
  context: Record<string, unknown>,
  { mayLack }: { mayLack: boolean },
): Promise<FieldProblem[]> {
  if (graph['_validateContext'] === undefined) return [];
  try {
    await graph['_validateContext'](context);
    return [];
  } catch (error) {
    const issues = issuesOf(error);
    if (issues === undefined) throw error;
    return issues.flatMap((issue) => {
      if (mayLack && valueAt(context, issue.path) === undefined) return [];
      return [{ loc: ['body', 'context', ...issue.path], msg: issue.message, type: issue.code }];
    });
  }
}

interface Issue {
  path: (string | number)[];
  message: string;
  code: string;
}

/** The issues of a schema library's error, of whichever version of it the agent has. */
function issuesOf(error: unknown): Issue[] | undefined {
  const issues: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'issues') : undefined;
  if (!Array.isArray(issues)) return undefined;
  return issues.map((issue: object) => {
    const path: unknown = Reflect.get(issue, 'path');
    return {
      path: Array.isArray(path) ? path.map((part) => (typeof part === 'number' ? part : String(part))) : [],
      message: String(Reflect.get(issue, 'message')),
      code: String(Reflect.get(issue, 'code')),
    };
  });
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, part) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, part) : undefined),
    value,
  );
}
