import { codeOf } from '../kit/errors.ts';

/**
 * Why there is no complete response:
 * - `timeout`: not received by the deadline
 * - `silent`: a stream was silent for too long
 * - `unreachable`: no DNS name, no connection, or closed before a response started
 * - `untrusted`: the certificate was not accepted
 * - `cut`: it ended early
 * - `garbled`: it is not HTTP
 * - `too-large`: it exceeds the limit
 */
export type SendFailureReason = 'timeout' | 'silent' | 'unreachable' | 'untrusted' | 'cut' | 'garbled' | 'too-large';

/** A request without a complete response. */
export interface SendFailure {
  reason: SendFailureReason;
  /** Whether any of the request may have reached the service. */
  sent: boolean;
  /** The status, if the response had started. */
  status?: number | undefined;
  /** A description without any part of the request. */
  detail: string;
}

const certificateCodes =
  /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:GET|VERIFY|DECODE)_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|UND_ERR_PRX_TLS)/;

/** Classifies a network error. Uses only its code: messages may contain addresses. */
export function failureOf(error: Error, { sent, status }: Pick<SendFailure, 'sent' | 'status'>): SendFailure {
  const code = nestedCodeOf(error);
  const failure = (reason: SendFailureReason, words: string): SendFailure => ({
    reason,
    sent,
    status,
    detail: code === '' ? words : `${words} (${code})`,
  });

  if (certificateCodes.test(code)) {
    return failure(
      'untrusted',
      'its certificate was not accepted: for an authority of your own set NODE_EXTRA_CA_CERTS to its file',
    );
  }
  // The parser's errors have no code. At the end of a connection (EOF) they only mean that the response is incomplete.
  if (error.name === 'HTTPParserError' && !error.message.includes('EOF')) {
    return failure('garbled', 'what answered is not HTTP');
  }
  if (status !== undefined) return failure('cut', 'the answer ended before it was whole');
  const tunnel = /^Proxy response \((\d+)\)/.exec(error.message)?.[1];
  if (tunnel) return failure('unreachable', `the proxy answered ${tunnel} instead of a tunnel`);
  if (error.message.startsWith('Proxy Authentication Required')) {
    return { ...failure('unreachable', 'the proxy wants a user and a password'), sent: false };
  }
  const description = error.name === 'HTTPParserError' ? closed : descriptionByCode[code];
  return failure('unreachable', description ?? 'the connection failed');
}

const closed = 'the connection was closed before a response started';
const notFound = 'the name of the host was not found';
const tooLate = 'no connection in time';
const descriptionByCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: notFound,
  EAI_AGAIN: notFound,
  UND_ERR_CONNECT_TIMEOUT: tooLate,
  ETIMEDOUT: tooLate,
  ECONNRESET: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
};

/** The error's own code, or the first one of its nested errors. */
function nestedCodeOf(error: unknown): string {
  const code = codeOf(error);
  if (code !== '' || !(error instanceof Error)) return code;
  if (error instanceof AggregateError) return error.errors.map(nestedCodeOf).find(Boolean) ?? '';
  return nestedCodeOf(error.cause);
}
