import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { curlGaps, toCurl } from './curl.ts'

/** What curl would get from a shell. */
function argumentsOf(command: string): string[] {
  const script = command.replace(/^curl/, 'printf "%s\\0"')
  return execFileSync('sh', ['-c', script], { env: { PARLEY_API_KEY: 'prl_live_test' }, encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)
}

const stored = (text: string | null, state: 'stored' | 'truncated' | 'file' | 'unread' = 'stored') => ({ text, state })
const request = { method: 'POST', route: '/v1/messages', target: '/v1/messages', request_body: null }
const key = ['-H', 'Authorization: Bearer prl_live_test']
const json = ['-H', 'Content-Type: application/json', '--data-raw']

test('the body arrives as it is, whatever it contains', () => {
  for (const text of [`it's "quoted"`, '$HOME `id` \\ !! \n', "'; rm -rf /tmp/none; '", '@/etc/passwd', '%s\\0 é']) {
    const body = JSON.stringify({ text: { body: text } })
    const given = argumentsOf(toCurl('http://localhost', { ...request, request_body: stored(body) }))
    expect(given.slice(0, -1)).toEqual(['-X', 'POST', 'http://localhost/v1/messages', ...key, ...json])
    expect(JSON.parse(given.at(-1) ?? '')).toEqual({ text: { body: text } })
  }
})

test('the path is quoted, and curl does not expand it', () => {
  const target = "/v1/it's/{a,b}/[1-9]?a=$HOME&b=`id`"
  expect(argumentsOf(toCurl('http://localhost', { ...request, method: 'GET', target }))).toEqual([
    '--globoff',
    `http://localhost${target}`,
    ...key,
  ])
})

test('HEAD uses -I, GET needs no option, DELETE names its method', () => {
  const command = (method: string) => toCurl('http://localhost', { ...request, method }).split('\n')[0]
  expect(command('HEAD')).toBe("curl -I 'http://localhost/v1/messages' \\")
  expect(command('GET')).toBe("curl 'http://localhost/v1/messages' \\")
  expect(command('DELETE')).toBe("curl -X DELETE 'http://localhost/v1/messages' \\")
})

test('it says what has to be filled in', () => {
  expect(curlGaps({ ...request, method: 'GET' })).toBeNull()
  expect(curlGaps({ ...request, request_body: stored('{"to":"[redacted: 3 characters]"}') })).toBe(
    'Fill in the redacted values.',
  )
  expect(curlGaps({ ...request, request_body: stored('{"to":"[redacted', 'truncated') })).toBe(
    'Fill in the rest of the body, which was cut and the redacted values.',
  )
  expect(curlGaps({ ...request, target: null })).toBe('Fill in the path and the query string and the body.')
  expect(curlGaps({ ...request, request_body: stored(null, 'file') })).toBe('Fill in the file.')
  expect(curlGaps({ ...request, target: '/v1/x/REDACTED', method: 'GET' })).toBe('Fill in REDACTED in the URL.')
})

test('without a stored body, a placeholder is in its place', () => {
  expect(argumentsOf(toCurl('http://localhost', { ...request, target: null })).at(-1)).toBe('<body>')
  expect(argumentsOf(toCurl('http://localhost', { ...request, request_body: stored(null, 'file') })).at(-1)).toBe(
    'file=@<file>',
  )
})
