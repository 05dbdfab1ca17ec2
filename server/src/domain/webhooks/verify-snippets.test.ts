import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { python, typescript } from '../../../../console/src/parts/verify-snippets.ts'
import { tempFolder } from '../../../testing/temp-folder.ts'
import { signatureHeaders, signingKeysOf } from '../deliveries/engine/signature.ts'

const secret = `whsec_${randomBytes(32).toString('base64')}`
const another = `whsec_${randomBytes(32).toString('base64')}`
const body = Buffer.from('{"id":"2f1e0d9c","text":"¡Hola! 👋 \\u00e9","n":1.0}')
const nowSeconds = Math.floor(Date.now() / 1000)

const signed = (seconds: number, ...keys: string[]) =>
  signatureHeaders(
    (keys.length > 0 ? keys : [secret]).map(signingKeysOf),
    '2f1e0d9c-8b7a-4695-8473-625140fedcba',
    seconds,
    body,
  )[1] ?? ''

const good = signed(nowSeconds)
const cases: [name: string, header: string, body: Buffer, secret: string, isValid: boolean][] = [
  ['a genuine delivery', good, body, secret, true],
  ['with spaces after commas', good.replace(',', ', '), body, secret, true],
  ['two signatures, the second one valid', signed(nowSeconds, another, secret), body, secret, true],
  ['two signatures, the first one valid', signed(nowSeconds, secret, another), body, secret, true],
  ['two signatures, none valid', signed(nowSeconds, another, another), body, secret, false],
  ['parts in another order', good.split(',').reverse().join(), body, secret, true],
  ['250 seconds old', signed(nowSeconds - 250), body, secret, true],
  ['400 seconds old', signed(nowSeconds - 400), body, secret, false],
  ['400 seconds ahead', signed(nowSeconds + 400), body, secret, false],
  ['another body', good, Buffer.concat([body, Buffer.from(' ')]), secret, false],
  ['another secret', signed(nowSeconds, another), body, secret, false],
  ['a timestamp that was not signed', good.replace(/t=\d+/, `t=${nowSeconds + 1}`), body, secret, false],
  ['no header', '', body, secret, false],
  ['only a timestamp', `t=${nowSeconds}`, body, secret, false],
  ['a cut signature', good.slice(0, -2), body, secret, false],
  ['nonsense', 'v1=t,t=v1,,=', body, secret, false],
  ['an endless timestamp', `t=${'9'.repeat(400)},v1=${'0'.repeat(64)}`, body, secret, false],
  ['an empty secret, signed with an empty secret', signed(nowSeconds, ''), body, '', false],
]

const hasPython = spawnSync('python3', ['--version']).status === 0

/** Runs a snippet with all cases and returns for each whether the snippet accepted it. */
function runSnippet(command: string, file: string, code: string): boolean[] {
  const path = join(tempFolder(), file)
  writeFileSync(path, code)
  const input = JSON.stringify(cases.map(([, header, body, secret]) => [header, body.toString('base64'), secret]))
  const { stdout, stderr } = spawnSync(command, [path], { input, encoding: 'utf8' })
  expect(stderr).not.toMatch(/Traceback|SyntaxError/)
  return JSON.parse(stdout) as boolean[]
}

const expected = cases.map(([name, , , , isValid]) => [name, isValid])
const named = (accepted: boolean[]) => cases.map(([name], index) => [name, accepted[index]])

test('the TypeScript snippet accepts valid deliveries only', () => {
  const harness = `import { readFileSync } from 'node:fs'
${typescript}
const cases = JSON.parse(readFileSync(0, 'utf8')) as [string, string, string][]
console.log(JSON.stringify(cases.map(([header, body, secret]) => {
  try {
    verifyDelivery(Buffer.from(body, 'base64'), header || undefined, secret)
    return true
  } catch {
    return false
  }
})))`
  expect(named(runSnippet(process.execPath, 'verify.mts', harness))).toEqual(expected)
})

test.skipIf(!hasPython)('the Python snippet accepts valid deliveries only', () => {
  const harness = `${python}

import base64, json, sys
accepted = []
for header, body, secret in json.load(sys.stdin):
    try:
        verify_delivery(base64.b64decode(body), header, secret)
        accepted.append(True)
    except ValueError:
        accepted.append(False)
print(json.dumps(accepted))
`
  expect(named(runSnippet('python3', 'verify.py', harness))).toEqual(expected)
})
