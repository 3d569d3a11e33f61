import { expect, test } from 'vitest';
import { providerFailure } from '../../../src/deploy/rules/provider-failure.ts';

test.each<[sdk: string, error: string, message: string, retryAfterMs?: number]>([
  ['openai of JavaScript', 'RateLimitError', '429 Rate limit reached for gpt-4o. Please try again in 1.2s.', 1_200],
  ['openai, a quota', 'Error', '429 You exceeded your current quota, please check your plan and billing details.'],
  ['openai, a server that is down', 'InternalServerError', '500 The server had an error while processing your request'],
  ['openai, an overload', 'InternalServerError', '503 That model is currently overloaded with other requests.'],
  ['openai, a time limit', 'APIConnectionTimeoutError', 'Request timed out.'],
  [
    'openai of Python',
    'RateLimitError',
    "Error code: 429 - {'error': {'message': 'Please try again in 1m30s.'}}",
    90_000,
  ],
  ['openai of Python, its time limit', 'openai.APITimeoutError', 'Request timed out.'],
  ['anthropic', 'RateLimitError', '429 {"type":"error","error":{"type":"rate_limit_error","message":"wait"}}'],
  ['anthropic, an overload', 'InternalServerError', '529 {"type":"error","error":{"type":"overloaded_error"}}'],
  ['anthropic in a stream', 'APIError', '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'],
  ['anthropic of Python', 'OverloadedError', "Error code: 529 - {'type': 'error'}"],
  [
    'google of JavaScript',
    'GoogleGenerativeAIFetchError',
    '[GoogleGenerativeAI Error]: Error fetching from https://g.test: [429 Too Many Requests] {"retryDelay":"17s"}',
    17_000,
  ],
  ['google genai', 'ApiError', '{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}'],
  ['google genai, an overload', 'ServerError', "503 UNAVAILABLE. {'error': {'code': 503}}"],
  ['google of Python', 'ResourceExhausted', '429 Resource has been exhausted (e.g. check quota).'],
  ['mistral', 'SDKError', 'API error occurred: Status 429\nBody: {"message":"Requests rate limit exceeded"}'],
  ['mistral in LangChain of Python', 'HTTPStatusError', 'Error response 429 while fetching https://api.mistral.test'],
  ['cohere of JavaScript', 'TooManyRequestsError', 'Status code: 429\nBody: {}'],
  ['cohere of Python', 'ApiError', "headers: {'retry-after': '7'}, status_code: 429, body: {}", 7_000],
  ['bedrock', 'ThrottlingException', 'Too many requests, please wait before trying again.'],
  [
    'bedrock of Python',
    'ClientError',
    'An error occurred (ThrottlingException) when calling the Converse operation (reached max retries: 4)',
  ],
  ['LangChain of JavaScript', 'Error', 'Busy\n\nTroubleshooting URL: https://docs.test/errors/MODEL_RATE_LIMIT/'],
  ['litellm', 'Exception', 'litellm.RateLimitError: AzureException'],
  ['a client that repeats', 'AI_RetryError', 'Failed after 3 attempts. Last error: Overloaded'],
  ['a time limit in LangChain of JavaScript', 'TimeoutError', 'Request timed out.'],
  ['a time limit, with its cause', 'TimeoutError', 'Request timed out.\nCaused by: Error: the socket was closed'],
  ['an error of a node whose cause it is', 'Error', 'no reply\nCaused by: openai.InternalServerError: 503 busy'],
  ['a bundled agent', '_RateLimitError', '429 slow down'],
])('finds a failure of the provider: %s', (_, error, message, retryAfterMs) =>
  expect(providerFailure({ error, message })).toEqual(retryAfterMs === undefined ? {} : { retryAfterMs }),
);

test.each([
  ['Error', 'boom'],
  ['TypeError', "Cannot read properties of undefined (reading '429')"],
  ['AuthenticationError', '401 Incorrect API key provided'],
  ['BadRequestError', '400 This model has a maximum context length of 8192 tokens'],
  ['NotFoundError', 'Error code: 404 - the model does not exist'],
  ['Error', '500 lines are too many'],
  ['ToolException', 'The order 503 is not there'],
  ['GraphRecursionError', 'Recursion limit of 25 reached'],
  ['AxiosError', 'Request failed with status code 503'],
  ['HTTPError', 'Response code 503 (Service Unavailable)'],
  ['HTTPStatusError', "Server error '503 Service Unavailable' for url 'https://shop.test/orders'"],
  ['Error', '503 Service Unavailable'],
  ['Error', 'Service Unavailable'],
  ['Error', 'Request timed out.'],
  ['TimeoutError', 'Request timed out: GET https://shop.test/orders'],
  ['Error', 'no order\nCaused by: AxiosError: Request failed with status code 503'],
  ['TimeoutError', 'The run took longer than a run may take on this server.'],
])('takes no other error for one: %s: %s', (error, message) =>
  expect(providerFailure({ error, message })).toBeUndefined(),
);

test('finds it in what caused the error, with the time to wait', () => {
  const causes = [{ error: 'APICallError', status: 429, retry_after_ms: 3_000 }];
  expect(providerFailure({ error: 'Error', message: 'no answer', causes })).toEqual({ retryAfterMs: 3_000 });
});

test.each(['Error', 'AxiosError', 'HTTPError'])('takes no status of a tool for one: %s', (error) => {
  const causes = [{ error, status: 503, retry_after_ms: 3_000 }];
  expect(providerFailure({ error: 'Error', message: 'the shop does not answer', causes })).toBeUndefined();
});
