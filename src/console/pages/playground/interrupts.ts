import * as z from 'zod';
import { fromJson } from '../../../kit/json-text.ts';
import type { ThreadState } from '../../../contract/agent/thread.ts';

/** A question of a graph that waits for its answer. */
export interface Interrupt {
  /** Undefined with old engines. */
  id: string | undefined;
  value: unknown;
  node: string;
}

type DecisionKind = 'approve' | 'edit' | 'respond' | 'reject';

/** An action that a person decides about. */
export interface ActionRequest {
  name: string;
  args: Record<string, unknown>;
  description: string | undefined;
  allowed: readonly DecisionKind[];
}

/** The value that resumes an interrupt: a decision about each action, or any JSON. */
export type ResumeFormat =
  | { kind: 'actions'; form: 'decisions' | 'camel-decisions' | 'list' | 'single'; actions: readonly ActionRequest[] }
  | { kind: 'free' };

/** A person's decision about an action. */
export interface Decision {
  kind: DecisionKind;
  /** The arguments after an edit. */
  args?: Record<string, unknown> | undefined;
  /** The text of a response, or the reason of a rejection. */
  message?: string | undefined;
}

const args = z.record(z.string(), z.unknown());
const decisionKinds = ['approve', 'edit', 'reject', 'respond'] as const;

/** Request of the human-in-the-loop middleware in Python; that of JavaScript follows. */
const middleware = z.object({
  action_requests: z.array(z.object({ name: z.string(), args, description: z.string().nullish() })).min(1),
  review_configs: z.array(z.object({ action_name: z.string(), allowed_decisions: z.array(z.string()) })),
});
const camelMiddleware = z
  .object({
    actionRequests: middleware.shape.action_requests,
    reviewConfigs: z.array(z.object({ actionName: z.string(), allowedDecisions: z.array(z.string()) })),
  })
  .transform(({ actionRequests, reviewConfigs }) => ({
    action_requests: actionRequests,
    review_configs: reviewConfigs.map(({ actionName, allowedDecisions }) => ({
      action_name: actionName,
      allowed_decisions: allowedDecisions,
    })),
  }));

/** The older format, of agent inboxes. */
const inboxRequest = z.object({
  action_request: z.object({ action: z.string(), args }),
  config: z.object({
    allow_accept: z.boolean().optional(),
    allow_edit: z.boolean().optional(),
    allow_respond: z.boolean().optional(),
    allow_ignore: z.boolean().optional(),
  }),
  description: z.string().nullish(),
});
type InboxRequest = z.infer<typeof inboxRequest>;

/** Detects the format of an interrupt. */
export function resumeFormatOf(value: unknown): ResumeFormat {
  const pythonRequest = middleware.safeParse(value);
  if (pythonRequest.success) return { kind: 'actions', form: 'decisions', actions: modernActions(pythonRequest.data) };
  const javaScriptRequest = camelMiddleware.safeParse(value);
  if (javaScriptRequest.success)
    return { kind: 'actions', form: 'camel-decisions', actions: modernActions(javaScriptRequest.data) };
  const many = z.array(inboxRequest).min(1).safeParse(value);
  if (many.success) return { kind: 'actions', form: 'list', actions: many.data.map(inboxAction) };
  const one = inboxRequest.safeParse(value);
  if (one.success) return { kind: 'actions', form: 'single', actions: [inboxAction(one.data)] };
  return { kind: 'free' };
}

function modernActions({ action_requests, review_configs }: z.infer<typeof middleware>): ActionRequest[] {
  return action_requests.map(({ name, args, description }, index) => {
    const config = review_configs.find(({ action_name }) => action_name === name) ?? review_configs[index];
    const allowed = decisionKinds.filter((kind) => config?.allowed_decisions.includes(kind) ?? kind !== 'respond');
    return { name, args, description: description ?? undefined, allowed };
  });
}

function inboxAction({ action_request, config, description }: InboxRequest): ActionRequest {
  const allowed: DecisionKind[] = [];
  if (config.allow_accept) allowed.push('approve');
  if (config.allow_edit) allowed.push('edit');
  if (config.allow_respond) allowed.push('respond');
  if (config.allow_ignore) allowed.push('reject');
  return { name: action_request.action, args: action_request.args, description: description ?? undefined, allowed };
}

/** The value that resumes the graph with these decisions, one for each action. */
export function resumeValue(
  format: Extract<ResumeFormat, { kind: 'actions' }>,
  decisions: readonly Decision[],
): unknown {
  const { form, actions } = format;
  const each = decisions.map((decision, index) => ({ decision, action: actions[index] }));
  if (form === 'list' || form === 'single') {
    const answers = each.map(({ decision, action }) => inboxAnswer(decision, action?.name ?? ''));
    // Inboxes send a list for a single request too.
    return answers;
  }
  const editedKey = form === 'decisions' ? 'edited_action' : 'editedAction';
  return {
    decisions: each.map(({ decision: { kind, args, message }, action }) => {
      if (kind === 'edit') return { type: 'edit', [editedKey]: { name: action?.name, args: args ?? action?.args } };
      return { type: kind, ...(message === undefined || message === '' ? {} : { message }) };
    }),
  };
}

function inboxAnswer({ kind, args, message }: Decision, action: string): object {
  if (kind === 'edit') return { type: 'edit', args: { action, args } };
  if (kind === 'respond') return { type: 'response', args: message ?? '' };
  return { type: kind === 'approve' ? 'accept' : 'ignore', args: null };
}

/** The command that resumes the interrupts: a single value, or the values by the ids of the interrupts. */
export function resumeCommand(answers: readonly { interrupt: Interrupt; value: unknown }[]): { resume: unknown } {
  const [first] = answers;
  if (answers.length === 1 && first) return { resume: first.value };
  return { resume: Object.fromEntries(answers.map(({ interrupt, value }) => [interrupt.id ?? '', value])) };
}

const storedInterrupt = z.looseObject({ id: z.string().optional(), value: z.unknown() });

/** The interrupts of a state with the names of their nodes. */
export function interruptsOf(state: ThreadState | undefined): Interrupt[] {
  return (state?.tasks ?? []).flatMap(({ name, interrupts }) =>
    (interrupts ?? []).flatMap((each) => {
      const parsed = storedInterrupt.safeParse(each);
      return parsed.success ? [{ id: parsed.data.id, value: parsed.data.value, node: name }] : [];
    }),
  );
}

/** Parses an answer as JSON; any other text is the answer itself. */
export function readAnswer(text: string): unknown {
  const value = fromJson(text);
  return value === undefined ? text : value;
}
