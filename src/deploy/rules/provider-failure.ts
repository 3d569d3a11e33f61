import type { RunError } from '../../contract/agent/run.ts';

// Failures of a model's provider, as the SDKs of JavaScript and Python name them: an agent that meets one is neither
// right nor wrong.

/** A failure of the provider, and how long it asks to wait (ms). */
export interface ProviderFailure {
  retryAfterMs?: number;
}

/** Classes that only say that the provider refuses for now, or does not answer in time. */
const classes: ReadonlySet<string> = new Set([
  // openai, anthropic, groq, cohere, litellm
  'RateLimitError',
  'OverloadedError',
  'APITimeoutError',
  'APIConnectionTimeoutError',
  'APIConnectionError',
  'ServiceUnavailableError',
  'TooManyRequestsError',
  'GatewayTimeoutError',
  'DeadlineExceededError',
  // Google
  'ResourceExhausted',
  'TooManyRequests',
  'ServiceUnavailable',
  'DeadlineExceeded',
  // Bedrock
  'ThrottlingException',
  'TooManyRequestsException',
  'ServiceQuotaExceededException',
  'ServiceUnavailableException',
  'ModelTimeoutException',
  'ModelNotReadyException',
]);
/** Classes of SDKs that are the provider's failure with a status of 500 and more. */
const serverClasses: ReadonlySet<string> = new Set([
  'InternalServerError',
  'APIError',
  'APIStatusError',
  'ServerError',
]);
/**
 * Classes of the languages, of clients for any HTTP service and of tools: a status of theirs does not say whose it is,
 * and it is the agent that takes no other answer of its tools.
 */
const generalClasses: ReadonlySet<string> = new Set([
  'Error',
  'TypeError',
  'RangeError',
  'AggregateError',
  'Exception',
  'RuntimeError',
  'ValueError',
  'ConnectionError',
  'AxiosError',
  'FetchError',
  'HTTPError',
  'HttpError',
  'HTTPException',
  'HttpException',
  'HTTPStatusError',
  'ClientResponseError',
  'RequestError',
  'ResponseError',
  'StatusCodeError',
  'ToolException',
  'ToolError',
  'ToolInvocationError',
]);
/** A provider that is busy, whichever class says so. 520 to 530 are those of a proxy before it. */
const isBusy = (status: number): boolean =>
  status === 429 || (status >= 502 && status <= 504) || (status >= 520 && status <= 530);

/** Where SDKs write the status into their messages. */
const statuses: readonly RegExp[] = [
  /^(\d{3})(?= |$)/,
  /\bError code: (\d{3})\b/,
  /\bstatus(?:[_ ]code)?:? (\d{3})\b/i,
  /\[(\d{3}) [A-Z][A-Za-z ]+\]/,
  /["']code["']: ?(\d{3})\b/,
];

/** What only providers and their SDKs write. */
const ownWords: readonly RegExp[] = [
  /\b(?:overloaded_error|rate_limit_error|rate_limit_exceeded|insufficient_quota|RESOURCE_EXHAUSTED|MODEL_RATE_LIMIT)\b/,
  /\b(?:Throttling|TooManyRequests|ServiceUnavailable|ModelNotReady|ModelTimeout|ServiceQuotaExceeded)Exception\b/,
  /\blitellm\.(?:RateLimitError|ServiceUnavailableError|InternalServerError|APIConnectionError|Timeout)\b/,
  /\bRate limit reached for\b/,
  /\bmodel is (?:currently )?overloaded\b/i,
  /\bexceeded your current quota\b/i,
  /\bService tier capacity exceeded\b/i,
  /\bmaximum pending requests exceeded\b/,
  /\bError response (?:429|50[2-4]|5[23]\d) while fetching\b/,
  /^Failed after \d+ attempts\. Last error: (?:Too Many Requests|Overloaded|Service Unavailable)\.?$/i,
  /^Overloaded\.?$/i,
];
/** A time limit of the SDKs of openai and anthropic, as LangChain of JavaScript passes it on. */
const isTimeLimit = (name: string, message: string): boolean =>
  name === 'TimeoutError' && message === 'Request timed out.';

/** Whether the error of a run, or one that caused it, is a failure of the model's provider. */
export function providerFailure({ error, message, causes = [] }: RunError): ProviderFailure | undefined {
  // Our own server has the causes of an error after its words, each with its type.
  const [own = '', ...others] = message.split('\nCaused by: ');
  const all = [{ error, message: own }, ...others.map(named), ...causes];
  if (!all.some((each) => isProviders(each)) && !ownWords.some((pattern) => pattern.test(message))) return undefined;
  const retryAfterMs = causes.find((each) => each.retry_after_ms !== undefined)?.retry_after_ms ?? waitIn(message);
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}

function named(text: string): { error: string; message: string } {
  const [, error = 'Error', message = text] = /^([\w.]{1,200}): ([^]*)$/.exec(text) ?? [];
  return { error, message };
}

/** The class without the module that Python may write before it, and without what a bundler adds to it. */
const classOf = (error: string): string => (error.split('.').at(-1) ?? '').replace(/^_/, '').replace(/\d$/, '');

function isProviders(one: { error: string; message?: string | undefined; status?: number | undefined }): boolean {
  const name = classOf(one.error);
  const message = one.message ?? '';
  if (classes.has(name) || isTimeLimit(name, message) || ownWords.some((pattern) => pattern.test(message))) return true;
  if (generalClasses.has(name)) return false;
  const written = statuses.flatMap((pattern) => pattern.exec(message)?.[1] ?? []).map(Number);
  const found = [...(one.status === undefined ? [] : [one.status]), ...written];
  return found.some((status) => isBusy(status) || (status === 500 && serverClasses.has(name)));
}

// The time that a provider asks to wait, as its messages say it.

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `1m30.5s`, `250ms`, `20s` */
const spans = /(\d{1,20}(?:\.\d{1,20})?)(ms|h|m|s)/g;
const written: readonly RegExp[] = [
  /\b(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)/i,
  /["']?retryDelay["']?: ?["'](\d+(?:\.\d+)?s)["']/,
];
const seconds: readonly RegExp[] = [
  /["']?retry-after["']?[:=]? ?["']?(\d+(?:\.\d+)?)/i,
  /\b(?:try again|retry) (?:in|after) (\d+(?:\.\d+)?) ?sec/i,
];

/** The first waiting time in a message (ms); undefined where it says none. */
function waitIn(message: string): number | undefined {
  for (const pattern of written) {
    const found = pattern.exec(message)?.[1];
    if (found === undefined) continue;
    const sum = [...found.matchAll(spans)].reduce(
      (ms, [, count, unit]) => ms + Number(count) * (units[unit ?? ''] ?? 0),
      0,
    );
    return Math.ceil(sum);
  }
  const found = seconds.flatMap((pattern) => pattern.exec(message)?.[1] ?? [])[0];
  return found === undefined ? undefined : Math.ceil(Number(found) * 1_000);
}
