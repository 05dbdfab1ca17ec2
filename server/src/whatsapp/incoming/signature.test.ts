import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { handshakeChallenge, isSignedByNetwork, networkKey } from './signature.ts'

const secret = 'app-secret'
const body = Buffer.from('{"text":"\\u00e9t\\u00e9 \\/ <b>"}')
const hex = createHmac('sha256', secret).update(body).digest('hex')
const good = `sha256=${hex}`

describe('a webhook needs the signature of the app', () => {
  test.each<[string, boolean, string | string[] | undefined]>([
    ['the right one', true, good],
    ['none', false, undefined],
    ['an empty one', false, ''],
    ['two of them', false, [good, good]],
    ['no prefix', false, hex],
    ['another algorithm', false, `sha1=${hex}`],
    ['an upper-case prefix', false, `SHA256=${hex}`],
    ['upper-case hex', false, `sha256=${hex.toUpperCase()}`],
    ['a short one', false, good.slice(0, -1)],
    ['a long one', false, `${good}0`],
    ['white space around it', false, ` ${good} `],
    ['a line break after it', false, `${good}\n`],
    ['not hex', false, `sha256=${'g'.repeat(64)}`],
    ['one wrong digit', false, `sha256=${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`],
    ['the signature of another secret', false, `sha256=${createHmac('sha256', 'x').update(body).digest('hex')}`],
  ])('%s: %s', (_name, expected, header) => {
    expect(isSignedByNetwork(body, header, networkKey(secret))).toBe(expected)
  })

  test('the signature is over the raw bytes, not over the parsed JSON', () => {
    const rewritten = Buffer.from(JSON.stringify(JSON.parse(body.toString())))
    expect(isSignedByNetwork(rewritten, good, networkKey(secret))).toBe(false)
  })

  test('an app without a secret accepts no signature', () => {
    const unkeyed = `sha256=${createHmac('sha256', '').update(body).digest('hex')}`
    expect(isSignedByNetwork(body, unkeyed, networkKey(''))).toBe(false)
  })
})

describe('the handshake returns the challenge only for the right token', () => {
  test.each<[string, string | null]>([
    ['hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=token+%26+1', '1158201444'],
    ['hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=wrong', null],
    ['hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=', null],
    ['hub.mode=subscribe&hub.challenge=1158201444', null],
    ['hub.mode=unsubscribe&hub.challenge=1158201444&hub.verify_token=token+%26+1', null],
    ['hub.mode=subscribe&hub.verify_token=token+%26+1', null],
    ['hub.mode=subscribe&hub.challenge=1&hub.challenge=2&hub.verify_token=token+%26+1', null],
    ['hub.mode=subscribe&hub.challenge=%3Cscript%3E&hub.verify_token=token+%26+1', null],
    ['hub_mode=subscribe&hub_challenge=1158201444&hub_verify_token=token+%26+1', null],
    ['', null],
  ])('%s', (query, expected) => {
    expect(handshakeChallenge(query, 'token & 1')).toBe(expected)
  })

  test('an app without a verify token accepts no handshake', () => {
    expect(handshakeChallenge('hub.mode=subscribe&hub.challenge=1&hub.verify_token=', '')).toBeNull()
  })
})
