import type { SmokeTest } from '../deploy/file/smoke-test.ts';
import type { Graders } from '../contract/grader.ts';

interface ConnectedGraders {
  /** Absent where no test needs one. */
  graders?: Graders;
  /** The values of their keys, which no output may show. */
  keys: readonly string[];
  close: () => Promise<void>;
}

/** Connects the graders of smoke tests, with their keys from the environment. */
export async function gradersFor(tests: readonly SmokeTest[], userAgent: string): Promise<ConnectedGraders> {
  const graded = tests.flatMap(({ expect }) => expect.flatMap((each) => (each.kind === 'graded' ? [each] : [])));
  if (graded.length === 0) return { keys: [], close: async () => undefined };
  const keyOf = (name: string): string | undefined => process.env[name]?.trim();
  const { connectGraders } = await import('../client/grader.ts');
  const graders = connectGraders({ userAgent, keyOf });
  const names = new Set(graded.flatMap(({ grader: { key } }) => key ?? []));
  return { graders, keys: [...names].flatMap((name) => keyOf(name) || []), close: () => graders.close() };
}
