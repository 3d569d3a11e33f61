import {
  baselineRequest,
  maxPathLength,
  maxBaselineAnswers,
  type BaselineRequest,
  type StoredBaseline,
} from '../../contract/control/baseline.ts';
import { shownInstead } from '../../contract/masking/mask.ts';
import type { Redact } from '../words/format-expectation.ts';
import type { Sample } from './verdict-types.ts';

// What is kept of a test's answers with the revision that gave them: counts, times and paths, and no text.

/** The time that is kept of a request that the agent refused: a real answer takes longer. */
const refusedMs = 0;

/** The newest answers that fit; undefined where they can't be kept as they are: a shortened path would look like another one. */
export function toBaselineRequest(samples: readonly Sample[], redact: Redact): BaselineRequest | undefined {
  const isKept = (names: readonly string[] = []): boolean =>
    names.length <= maxPathLength && names.every((name) => redact(name) === name);
  if (!samples.every(({ nodes, tools }) => isKept(nodes) && isKept(tools))) return undefined;
  for (let most = maxBaselineAnswers; most >= 1; most = Math.floor(most / 2)) {
    const answers = samples
      .slice(-most)
      .map(({ answer, firstEventMs, totalMs, nodes = [], tools = [], tokens, cost }) => ({
        answer,
        first_event_ms: firstEventMs ?? null,
        total_ms: totalMs ?? refusedMs,
        nodes: [...nodes],
        tools: [...tools],
        tokens: tokens ?? null,
        cost: cost ?? null,
      }));
    const request = baselineRequest.safeParse({ answers });
    if (request.success) return request.data;
  }
  return undefined;
}

/** The kept answers; undefined where they can't be compared. */
export function samplesOf({ answers }: Pick<StoredBaseline, 'answers'>): Sample[] | undefined {
  const samples = answers.flatMap(({ answer, nodes, tools, ...measured }): Sample[] => {
    if (answer !== 'right' && answer !== 'wrong' && answer !== 'late') return [];
    const paths = { nodes, tools: tools ?? [] };
    if ([...paths.nodes, ...paths.tools].some((name) => name.includes(shownInstead))) return [];
    const { first_event_ms, total_ms, tokens, cost } = measured;
    const times = { firstEventMs: first_event_ms ?? undefined, totalMs: total_ms === refusedMs ? undefined : total_ms };
    return [{ answer, ...times, ...paths, tokens: tokens ?? undefined, cost: cost ?? undefined }];
  });
  // Leaving out some would make the others look better or worse than all.
  return samples.length === answers.length ? samples : undefined;
}
