import type * as z from 'zod';

/** The methods that anything here is asked by. */
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The headers that an operation may heed, by what they are called in `parameters.ts`. */
export type HeaderName = 'fieldNames' | 'idempotencyKey' | 'ifMatch' | 'lastEventId' | 'contentDigest';

/** What an operation answers with one status. */
export interface Answer {
  description: string;
  /** The JSON that is answered; none, or what `type` says, where it is absent. */
  schema?: z.ZodType;
  /** The media type where it is not JSON. */
  type?: string;
}

/** The refusals that several operations share, by their statuses; `errors.ts` says what each means. */
export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 412 | 413 | 415 | 422 | 502 | 507;

/** One operation of the service, as the description of its interface has it. */
export interface Operation {
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
  headers?: readonly HeaderName[];
  /** What is sent; `required` where nothing happens without it. */
  body?: { schema: z.ZodType; required: boolean } | { type: string; required: true };
  /** What is answered when it goes well. */
  answers: Readonly<Record<number, Answer>>;
  /** How it may be refused, beside what every operation has in common. */
  errors?: readonly ErrorStatus[];
  /** True where no key is asked for. */
  open?: true;
}
