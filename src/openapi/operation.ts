import type * as z from 'zod';

/** The HTTP methods of operations. */
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** What an operation answers with one status. */
export interface Answer {
  description: string;
  /** The JSON that is answered; none, or what `type` says, where it is absent. */
  schema?: z.ZodType;
  /** The media type where it is not JSON, or of the other form where there is JSON too. */
  type?: string;
}

/** One operation of a service, as the description of its interface has it. */
export interface Operation<Header extends string, Refused extends number> {
  method: Method;
  /** As in `/v2/deployments/{deployment_id}`. */
  path: string;
  /** What programs call it. */
  id: string;
  /** What people call it, without a full stop. */
  summary: string;
  /** More about it, in sentences. */
  description?: string;
  /** The group it stands in. */
  tag: string;
  query?: z.ZodObject;
  /** The headers that it heeds, by what the service's own terms call them. */
  headers?: readonly Header[];
  /** What is sent; `required` where nothing happens without it. */
  body?: { schema: z.ZodType; required: boolean } | { type: string; required: true };
  /** The responses: success, and errors with a description of their own. */
  answers: Readonly<Record<number, Answer>>;
  /** How it may be refused, beside what every operation has in common. */
  errors?: readonly Refused[];
  /** True where nothing has to be shown to be let in. */
  open?: true;
}
