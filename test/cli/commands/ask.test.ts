import { describe, expect, test } from 'vitest';
import { questionInput } from '../../../src/cli/commands/question-input.ts';
import { RunAnswer } from '../../../src/cli/commands/run-answer.ts';
import { Terminal } from '../../../src/cli/terminal.ts';

const text = { type: 'string' };

describe('a question becomes', () => {
  test.each([
    ['a message', { messages: { type: 'array' }, other: text }, [], { messages: [{ role: 'user', content: 'Hi' }] }],
    ['the only text', { name: text, count: { type: 'integer' } }, [], { name: 'Hi' }],
    ['the only text that is needed', { name: text, mood: text }, ['mood'], { mood: 'Hi' }],
    ['the text with a usual name', { said: text, question: text }, [], { question: 'Hi' }],
    ['what may be anything', { input: {}, said: { title: 'said' } }, [], { input: 'Hi' }],
    ['a text that may be null', { name: { anyOf: [text, { type: 'null' }] } }, [], { name: 'Hi' }],
  ])('%s', (_, properties, required, input) => {
    expect(questionInput('Hi', { input_schema: { properties, required } })).toEqual({ ok: true, input });
  });

  test('nothing where the graph has several texts', () => {
    const properties = { one: text, two: text, mode: { enum: ['a'], type: 'string' } };
    expect(questionInput('Hi', { input_schema: { properties } })).toEqual({
      ok: false,
      fields: ['one', 'two', 'mode'],
    });
  });
});

describe('an answer', () => {
  const chunk = (id: string, content: unknown) => ({
    event: 'messages',
    data: [{ id, type: 'AIMessageChunk', content }, {}],
  });

  test('is the text of the messages as they come', () => {
    const answer = new RunAnswer(['messages']);
    const events = [
      { event: 'metadata', data: { run_id: 'r1' } },
      chunk('m1', 'Let me '),
      chunk('m1', [{ type: 'text', text: 'see.' }]),
      { event: 'messages', data: [{ id: 't1', type: 'tool', content: '42' }, {}] },
      chunk('m2', 'It is 42.'),
      { event: 'values', data: { messages: [] } },
    ];
    expect(events.map((event) => answer.read(event))).toEqual(['', 'Let me ', 'see.', '', '\nIt is 42.', '']);
    expect(answer).toMatchObject({ runId: 'r1', whole: 'Let me see.\nIt is 42.' });
  });

  test.each([
    [
      'the last message of the agent',
      {
        messages: [
          { type: 'human', content: 'Hi' },
          { type: 'ai', content: 'Hello' },
        ],
      },
      'Hello',
    ],
    ['the only text that the run added', { input: 'Ada', output: 'hello Ada', steps: ['a'] }, 'hello Ada'],
    ['JSON of what the run added', { input: 'Ada', a: 'x', b: 'y' }, '{\n  "a": "x",\n  "b": "y"\n}'],
  ])('without streamed messages is %s', (_, data, whole) => {
    const answer = new RunAnswer(['input']);
    answer.read({ event: 'values', data });
    expect(answer.whole).toBe(whole);
  });

  test('says what the run waits for, and why it failed', () => {
    const answer = new RunAnswer([]);
    answer.read({ event: 'values', data: { __interrupt__: [{ value: 'Refund?' }] } });
    answer.read({ event: 'error', data: { error: 'Failure', message: 'no model' } });
    expect(answer).toMatchObject({ question: 'Refund?', error: { error: 'Failure', message: 'no model' } });
  });
});

test('a text in parts is written word by word, with secrets masked and without commands', () => {
  const written: string[] = [];
  const terminal = new Terminal({ out: (part) => void written.push(part), err: () => undefined });
  terminal.hide('canary-secret');
  for (const part of ['The key is can', 'ary-sec', 'ret, a : colon\n::err', 'or::x \u001b[31mred'])
    terminal.write(part);
  terminal.endText();
  expect(written.join('')).toBe('The key is ***, a : colon\n| ::error::x red\n');
});
