import { storedBodyMax } from '@parley/contract/console/inspector'
import { expect, test } from 'vitest'
import { inRequests, inResponses, redactError, redactJson, redactTarget } from './redact.ts'

const redacted = (value: unknown, kept = inResponses) => JSON.parse(redactJson(value, kept).text)
const id = '0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d'

test('numbers, names, texts, variables, links and coordinates are replaced by their length', () => {
  expect(
    redacted(
      {
        to: '491701234567',
        to_user_id: 'US.13491200000000000001',
        type: 'template',
        template: { name: 'order_update', language: 'en_US', variables: { 'body.first_name': 'Ana', 1: 'x' } },
        text: { body: 'Hello Ana', preview_url: true },
        location: { latitude: 52.52, longitude: 13.405, name: 'home' },
        image: { link: 'https://example.com/ana.jpg', id: `med_${id}` },
        contacts: [{ name: { formatted_name: 'Ana', first_name: null }, phones: [{ phone: '+49 170', type: 'HOME' }] }],
        reference: 'order of Ana',
        sender_id: `snd_${id}`,
      },
      inRequests,
    ),
  ).toEqual({
    to: '[redacted: 12 characters]',
    to_user_id: '[redacted: 23 characters]',
    type: 'template',
    template: {
      name: 'order_update',
      language: 'en_US',
      variables: { 'body.first_name': '[redacted: 3 characters]', 1: '[redacted: 1 character]' },
    },
    text: { body: '[redacted: 9 characters]', preview_url: '[redacted: boolean]' },
    location: {
      latitude: '[redacted: number]',
      longitude: '[redacted: number]',
      name: '[redacted: 4 characters]',
    },
    image: { link: '[redacted: 27 characters]', id: `med_${id}` },
    contacts: [
      {
        name: { formatted_name: '[redacted: 3 characters]', first_name: null },
        phones: [{ phone: '[redacted: 7 characters]', type: '[redacted: 4 characters]' }],
      },
    ],
    reference: '[redacted: 12 characters]',
    sender_id: `snd_${id}`,
  })
})

test('a field that is usually shown is redacted if its value is not what it should be', () => {
  expect(
    redacted({
      to: 491701234567,
      sender_id: '491701234567',
      type: 'call me at 491701234567',
      status: 491701234567,
      total: 491701234567,
      created_at: 'when Ana was born',
      template: { name: '491701234567' },
      message_id: 'wamid.HBgMNDkxNzAxMjM0NTY3',
      code: 'whsec_abc',
      id: 'prl_live_abc',
    }),
  ).toEqual({
    to: '[redacted: number]',
    sender_id: '[redacted: 12 characters]',
    type: '[redacted: 23 characters]',
    status: '[redacted: number]',
    total: '[redacted: number]',
    created_at: '[redacted: 17 characters]',
    template: { name: '[redacted: 12 characters]' },
    message_id: '[redacted: 26 characters]',
    code: '[redacted: 9 characters]',
    id: '[redacted: 12 characters]',
  })
})

const answers = {
  status: 'pregnant',
  code: 4711,
  type: 'HIV',
  total: 7,
  since: '1990-05-01T00:00:00Z',
  smoker: true,
  id,
}
const hiddenAnswers = {
  status: '[redacted: 8 characters]',
  code: '[redacted: number]',
  type: '[redacted: 3 characters]',
  total: '[redacted: number]',
  since: '[redacted: 20 characters]',
  smoker: '[redacted: boolean]',
  id: '[redacted: 36 characters]',
}

test.each([
  ['the answers of a form', { object: 'flow_response', response: { ...answers, more: [answers] } }],
  ['an update of the network', { type: 'network.update', data: { value: { messages: [answers] } } }],
  ['unsupported contents', { data: [{ unsupported: { content: { data: answers } } }] }],
])('%s are redacted whatever their fields are called', (_, value) => {
  const text = JSON.stringify(redacted(value))
  for (const answer of ['pregnant', '4711', 'HIV', '1990', 'true', id]) expect(text).not.toContain(answer)
  expect(text).toContain(JSON.stringify(hiddenAnswers).slice(1, -1))
})

test.each([
  ['variables', { template: { variables: answers } }],
  ['the data of a form', { template: { flow: { data: answers } } }],
  ['parameters', { interactive: { type: 'flow', action: { parameters: { flow_action_payload: { data: answers } } } } }],
  ['a misplaced field', answers],
  ['a misplaced field of a template', { messages: [{ template: { ...answers, name: 'ok', language: 'en' } }] }],
])('%s of a request are redacted whatever their fields are called', (_, value) => {
  const text = redactJson(value, inRequests).text
  for (const answer of ['pregnant', '4711', 'HIV', '1990']) expect(text).not.toContain(answer)
})

test('responses keep IDs, statuses, times and counts', () => {
  const message = { id: `msg_${id}`, object: 'message', status: 'queued', created_at: '2026-03-10T09:00:00.000Z' }
  const list = { object: 'list', data: [{ ...message, credits: 2, to: '1' }], has_more: false, total: 3 }
  expect(redacted(list)).toEqual({ ...list, data: [{ ...message, credits: 2, to: '[redacted: 1 character]' }] })
})

test('names that are numbers, texts or secrets are redacted', () => {
  expect(redacted({ '491701234567': 1, 'Ana Lima': true, prl_live_abc: null, 'a.b-c_1': false })).toEqual({
    '[redacted] 1': '[redacted: number]',
    '[redacted] 2': '[redacted: boolean]',
    '[redacted] 3': null,
    'a.b-c_1': false,
  })
})

test('a body is cut at the limit, and a large one costs no more than that', () => {
  const rows = Array.from({ length: 100_000 }, () => ({ type: 'text', id: `msg_${id}` }))
  let reads = 0
  const counted = new Proxy(rows, {
    get(all, name) {
      reads++
      return Reflect.get(all, name)
    },
  })
  const { text, state } = redactJson(counted, inResponses)
  expect([text.length, state]).toEqual([storedBodyMax, 'truncated'])
  expect(reads).toBeLessThan(2_000)
  // "[" and "[]]", and "null," for each other item.
  const longest = redactJson([...Array((storedBodyMax - 4) / 5).fill(null), []], inResponses)
  expect([longest.text.length, longest.state]).toEqual([storedBodyMax, 'stored'])
  expect(redactJson('x'.repeat(1_000_000), inResponses).text).toBe('"[redacted: 1000000 characters]"')
})

test.each([
  [
    '/v1/messages?limit=5&to=491701234567&status=failed&code=4711&type=HIV',
    '/v1/messages',
    {},
    '/v1/messages?limit=5&to=REDACTED&status=failed&code=REDACTED&type=REDACTED',
  ],
  [`/v1/messages/msg_${id}`, '/v1/messages/:id', { id: `msg_${id}` }, `/v1/messages/msg_${id}`],
  ['/v1/messages/491701234567', '/v1/messages/:id', { id: '491701234567' }, '/v1/messages/REDACTED'],
  ['/v1/nothing/Ana/491701234567', null, {}, '/REDACTED'],
  ['/v1/me?prl_live_abc=1', '/v1/me', {}, '/v1/me?%5Bredacted%5D=REDACTED'],
])('the target %s is stored as %s', (url, pattern, params, expected) => {
  const query = Object.fromEntries(new URLSearchParams(url.split('?')[1] ?? ''))
  expect(redactTarget(pattern, params, query)).toBe(expected)
})

test('an error response keeps its field errors, without what the client chose', () => {
  const error = {
    type: 'invalid_request_error',
    code: 'validation_failed',
    message: '"template.variables.491701234567" is not a known field.',
    request_id: `req_${id}`,
    doc_url: 'http://localhost/docs/errors#validation_failed',
    param: 'template.variables.491701234567',
    errors: [
      {
        param: 'template.variables.491701234567',
        code: 'unknown',
        message: 'The template has no variable "491701234567".',
      },
      {
        param: 'to',
        code: 'invalid',
        message: 'Enter the phone number in international format, for example 491701234567.',
      },
      { param: 'whsec_abc', code: 'unknown', message: '"whsec_abc" is not a known field.' },
    ],
    details: { required_scope: 'messages:send', granted_scopes: ['senders:read'], ip: '192.0.2.1', who: 'Ana' },
  }
  expect(JSON.parse(redactError(JSON.stringify({ error })).text)).toEqual({
    error: {
      ...error,
      message: '"template.variables.[redacted]" is not a known field.',
      param: 'template.variables.[redacted]',
      errors: [
        {
          param: 'template.variables.[redacted]',
          code: 'unknown',
          message: 'The template has no variable "[redacted]".',
        },
        error.errors[1],
        { param: '[redacted]', code: 'unknown', message: '"[redacted]" is not a known field.' },
      ],
      details: { ...error.details, who: '[redacted: 3 characters]' },
    },
  })
})

test('the part of the body that the JSON parser quotes is not stored', () => {
  for (const body of ['{"to": 49170x}', '{"text":"Ana', 'Ana Lima', '{"a":"b"} Ana', '{"4":Q', '["a" "Ana" 49170]']) {
    let message = ''
    try {
      JSON.parse(body)
    } catch (error) {
      message = `The request body is not valid JSON: ${(error as Error).message}`
    }
    const { text } = redactError(JSON.stringify({ error: { code: 'invalid_json', message } }))
    expect(JSON.parse(text).error.message).toBe('The request body is not valid JSON.')
  }
})

test('a long list of field errors is shortened, and stays JSON', () => {
  const errors = Array.from({ length: 20 }, (_, at) => ({
    param: 'a',
    code: 'unknown',
    message: `${at} ${'é'.repeat(900)}`,
  }))
  const { text, state } = redactError(JSON.stringify({ error: { code: 'validation_failed', message: 'x', errors } }))
  expect(state).toBe('truncated')
  expect(text.length).toBeLessThanOrEqual(storedBodyMax)
  expect(JSON.parse(text).error.errors).toHaveLength(5)
})
