import type { Plan, ToldPlan } from './plan-types.ts';

/** The plan as it may be shown to anybody: without the request, which carries secrets. */
export function withoutRequest(planned: Plan): ToldPlan {
  if (planned.kind === 'none' || planned.kind === 'impossible') return planned;
  const { request: _secret, ...told } = planned;
  return told;
}
