import {
  baselineRequest,
  longestPath,
  mostBaselineAnswers,
  type BaselineRequest,
  type StoredBaseline,
} from '../contract/control/baseline.ts';
import { shownInstead } from '../contract/mask.ts';
import type { Redact } from './format-expectation.ts';
import type { Sample } from './verdict-types.ts';

// What is kept of a test's answers with the revision that gave them: counts, times and paths, and no text.

/** The newest answers that fit; undefined where they can't be kept as they are: a shortened path would look like another one. */
export function toBaselineRequest(samples: readonly Sample[], redact: Redact): BaselineRequest | undefined {
  if (samples.some(({ nodes = [] }) => nodes.length > longestPath || nodes.some((name) => redact(name) !== name))) {
    return undefined;
  }
  for (let most = mostBaselineAnswers; most >= 1; most = Math.floor(most / 2)) {
    const answers = samples.slice(-most).map(({ answer, firstEventMs, totalMs, nodes = [], tokens }) => ({
      answer,
      first_event_ms: firstEventMs ?? null,
      total_ms: totalMs,
      nodes: [...nodes],
      tokens: tokens ?? null,
    }));
    const request = baselineRequest.safeParse({ answers });
    if (request.success) return request.data;
  }
  return undefined;
}

/** The kept answers; undefined where they can't be compared. */
export function samplesOf({ answers }: StoredBaseline): Sample[] | undefined {
  const samples = answers.flatMap(({ answer, first_event_ms, total_ms, nodes, tokens }): Sample[] => {
    if (answer !== 'right' && answer !== 'wrong' && answer !== 'late') return [];
    if (nodes.some((name) => name.includes(shownInstead))) return [];
    return [
      { answer, firstEventMs: first_event_ms ?? undefined, totalMs: total_ms, nodes, tokens: tokens ?? undefined },
    ];
  });
  // Leaving out some would make the others look better or worse than all.
  return samples.length === answers.length ? samples : undefined;
}
