/** What an agent writes to one request, byte for byte. */
export interface RawAnswer {
  /** Written one after the other, each in a turn of its own. */
  pieces: Buffer[];
  /** What becomes of the connection when all is written; one that is kept is ended a little later. */
  end: 'keep' | 'end' | 'reset';
  /** Whether it is written before anything of the request's body is read. */
  early: boolean;
}

export type Random = () => number;
export const oneOf = <T>(random: Random, choices: readonly [T, ...T[]]): T =>
  choices[Math.floor(random() * choices.length)] ?? choices[0];
const chance = (random: Random, of: number): boolean => random() < of;

/** How a text is marked as belonging to one request, wherever in an answer it stands; damage makes no other mark of it. */
export const markerOf = (at: number): string => `<marker-${at}-${at}>`;
export const markersIn = (text: string): number[] =>
  [...text.matchAll(/<marker-(\d+)-\1>/gi)].map(([, digits]) => Number(digits));

const versions = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'ICY'] as const;
const statuses = [
  '200',
  '200',
  '200',
  '204',
  '304',
  '404',
  '500',
  '099',
  '000',
  '100',
  '101',
  '102',
  '103',
  '199',
  '205',
  '600',
  '999',
  '1000',
  '-1',
  'abc',
  '',
] as const;
const controls = [
  '\x00',
  '\x01',
  '\x08',
  '\t',
  '\n',
  '\r',
  '\x0b',
  '\x1b',
  '\x7f',
  '\x80',
  '\xff',
  ' ',
  ':',
  '',
] as const;
const lengths = [
  '0',
  '1',
  '5',
  '99999999',
  '-1',
  '+5',
  '5, 5',
  '5,6',
  '0x5',
  '1e1',
  ' 5 ',
  '5\t',
  '18446744073709551616',
  'NaN',
  '',
] as const;
const codings = [
  'chunked',
  'Chunked',
  'chunked, chunked',
  'gzip, chunked',
  'chunked, gzip',
  'gzip',
  'identity',
  'xchunked',
  '"chunked"',
  ' chunked ',
  '',
] as const;
const oddNames = [
  '__proto__',
  'constructor',
  'x',
  'X-Landfall-Agent-Token',
  'Connection',
  'Keep-Alive',
  'Upgrade',
  'Trailer',
  'Set-Cookie',
  'Date',
  'Proxy-Authenticate',
  'Transfer-Encoding',
  'Content-Length',
  'status',
  ':status',
  '',
  ' x',
  'x ',
  '\xe4',
] as const;
const oddValues = [
  'close',
  'keep-alive, x',
  'timeout=-1',
  'h2c',
  'websocket',
  'a=b',
  '\xe4\xf6\xfc',
  'a\x00b',
  'a\x01b',
  'a\r\n b',
  'a\r b',
  'a\n\tb',
  '',
  ' ',
  'x'.repeat(9_000),
  '99999999999999999999',
] as const;

function statusLine(random: Random, mark: string): string {
  if (chance(random, 0.03)) return oneOf(random, ['', ' ', '\x00', 'hello', mark, '<html>']);
  const reason = chance(random, 0.4) ? `O${oneOf(random, controls)}K${mark}` : 'OK';
  const gap = chance(random, 0.05) ? oneOf(random, controls) : ' ';
  return `${oneOf(random, versions)}${gap}${oneOf(random, statuses)}${gap}${reason}`;
}

function oddHeader(random: Random, mark: string): string {
  const name = chance(random, 0.5) ? oneOf(random, oddNames) : `x${oneOf(random, controls)}y`;
  const value = chance(random, 0.5) ? oneOf(random, oddValues) : `${mark}${oneOf(random, controls)}z`;
  return `${name}${chance(random, 0.9) ? ': ' : oneOf(random, controls)}${value}`;
}

function chunked(random: Random, text: string): string {
  const size = chance(random, 0.7)
    ? text.length.toString(16)
    : oneOf(random, ['zz', '-1', '0x5', 'ffffffffffffffff', '5 ', '', '5;a=b', `5;${'x'.repeat(9_000)}`]);
  const last = oneOf(random, [
    '0\r\n\r\n',
    '0\r\n\r\n',
    '0\r\n\r\n',
    '0\r\nx-late: a\x01b\r\n\r\n',
    '0\r\nContent-Length: 9\r\n\r\n',
    '0\r\n',
    '',
    '\x00\x01',
  ]);
  return `${size}\r\n${text}\r\n${last}`;
}

/** One answer whose head and body are mostly as they may be, with something odd at a few places. */
function message(random: Random, mark: string): string {
  const body = `${mark}${'body '.repeat(Math.floor(random() * 40))}`;
  const plainHead = chance(random, 0.6);
  const head = [plainHead ? 'HTTP/1.1 200 OK' : statusLine(random, mark)];
  const oddHeaders = chance(random, 0.7) ? 0 : 1 + Math.floor(random() * 3);
  for (let count = 0; count < oddHeaders; count += 1) head.push(oddHeader(random, mark));
  if (chance(random, 0.02)) head.push(...Array.from({ length: 3_000 }, (_, at) => `x-${at}: ${mark}`));
  const framed = random();
  let content = body;
  if (framed < 0.45) head.push(`Content-Length: ${body.length}`);
  else if (framed < 0.6) {
    head.push('Transfer-Encoding: chunked');
    content = chunked(random, body);
  } else if (framed < 0.75) {
    head.push(`Content-Length: ${oneOf(random, lengths)}`);
    if (chance(random, 0.3)) head.push(`Content-Length: ${oneOf(random, lengths)}`);
  } else if (framed < 0.9) {
    head.push(`Transfer-Encoding: ${oneOf(random, codings)}`);
    if (chance(random, 0.4)) head.push(`Transfer-Encoding: ${oneOf(random, codings)}`);
    if (chance(random, 0.3)) head.push(`Content-Length: ${oneOf(random, lengths)}`);
    content = chance(random, 0.7) ? chunked(random, body) : body;
  }
  const line = chance(random, 0.05) ? oneOf(random, ['\n', '\r', '\n\r', '\r\n\r\n']) : '\r\n';
  return `${head.join(line)}${line}${line}${content}`;
}

/** Changes, doubles or takes away a few bytes. */
function damage(random: Random, text: string): string {
  let damaged = text;
  for (let times = Math.floor(random() * 4); times > 0; times -= 1) {
    const at = Math.floor(random() * damaged.length);
    const gone = Math.floor(random() * 3);
    damaged = `${damaged.slice(0, at)}${oneOf(random, controls)}${damaged.slice(at + gone)}`;
  }
  return damaged;
}

/** The answer to the request of this number. */
export function rawAnswer(random: Random, at: number): RawAnswer {
  const mark = markerOf(at);
  let text = message(random, mark);
  if (chance(random, 0.15)) {
    const informational = oneOf(random, [
      '100 Continue',
      '102 Processing',
      '103 Early Hints',
      '199 \x01',
      '101 Switching Protocols',
    ]);
    text =
      `HTTP/1.1 ${informational}\r\nlink: ${mark}${oneOf(random, controls)}\r\n\r\n`.repeat(
        1 + Math.floor(random() * 20),
      ) + text;
  }
  // Bytes after a response, in the same packet, belong to no request.
  if (chance(random, 0.2)) text += message(random, mark);
  if (chance(random, 0.2)) text = damage(random, text);
  if (chance(random, 0.1)) text = text.slice(0, Math.floor(random() * text.length));
  if (chance(random, 0.03)) text = Array.from({ length: 200 }, () => String.fromCharCode(random() * 256)).join('');
  const bytes = Buffer.from(text, 'latin1');
  const pieces: Buffer[] = [];
  // Split only before the end of the first head: whatever follows an answer has to be there when it ends.
  const headEnd = Math.max(text.indexOf('\r\n\r\n'), 0);
  let from = 0;
  for (let left = headEnd; left > 0 && chance(random, 0.4); left = headEnd - from) {
    const to = from + 1 + Math.floor(random() * left);
    pieces.push(bytes.subarray(from, to));
    from = to;
  }
  pieces.push(bytes.subarray(from));
  return { pieces, end: oneOf(random, ['keep', 'keep', 'end', 'end', 'reset']), early: chance(random, 0.5) };
}
