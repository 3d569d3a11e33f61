import type { Plan, ReportedPlan } from './plan-types.ts';

/** The plan as it may be shown to anybody: without the request, which carries secrets. */
export function withoutRequest(planned: Plan): ReportedPlan {
  if (planned.kind === 'none' || planned.kind === 'impossible') return planned;
  const { request: _secret, ...reported } = planned;
  return reported;
}
