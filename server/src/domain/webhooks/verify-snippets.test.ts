import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { python, sdk, typescript } from '../../../../console/src/parts/verify-snippets.ts'
import { freePort } from '../../../../testing/src/free-port.ts'
import { tempFolder } from '../../../testing/temp-folder.ts'
import { until } from '../../../testing/until.ts'
import { signatureHeaders, signingKeysOf } from '../deliveries/engine/attempt/signature.ts'

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

const isInstalled = (command: string) => spawnSync(command, ['--version']).status === 0

/** Runs a snippet with all cases and returns for each whether the snippet accepted it. */
function runSnippet(program: string, file: string, code: string): boolean[] {
  const path = join(tempFolder(), file)
  writeFileSync(path, code)
  const input = JSON.stringify(cases.map(([, header, body, secret]) => [header, body.toString('base64'), secret]))
  const { stdout, stderr } = spawnSync(program, [path], { input, encoding: 'utf8' })
  expect(stderr).toBe('')
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

test.skipIf(!isInstalled('python3'))('the Python snippet accepts valid deliveries only', () => {
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

const php = readFileSync(join(import.meta.dirname, '../../../../sdk/php/verify.php'), 'utf8')
/** The example in the comment at the beginning of the file. */
const phpUse = `<?php\nrequire 'verify.php';\n${php.match(/(?<=^ \* {3}).*$/gm)?.join('\n')}`

/** Receivers as the page shows them, except for their port. */
const receivers = [
  { name: 'SDK', files: { 'receiver.ts': sdk }, accepts: 204 },
  { name: 'PHP', files: { 'verify.php': php, 'receiver.php': phpUse }, accepts: 204 },
]

test.for(receivers)('the $name receiver accepts valid deliveries only', async ({ name, files, accepts }, { skip }) => {
  skip(name === 'PHP' && !isInstalled('php'), 'php is not installed')
  const folder = tempFolder()
  symlinkSync(join(import.meta.dirname, '../../../../node_modules'), join(folder, 'node_modules'))
  const port = await freePort()
  for (const [file, code] of Object.entries(files)) {
    writeFileSync(join(folder, file), code.replace('listen(3000)', `listen(${port})`))
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const command =
    name === 'PHP' ? ['php', '-S', `127.0.0.1:${port}`, 'receiver.php'] : [process.execPath, 'receiver.ts']
  const [program = '', ...args] = command
  const child = spawn(program, args, { cwd: folder, env: { ...process.env, PARLEY_WEBHOOK_SECRET: secret } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const event = Buffer.from(JSON.stringify({ id: 'e1', type: 'message.received', created_at: '', data: {} }))
  const signatureOf = (key: string) =>
    signatureHeaders([signingKeysOf(key)], '2f1e0d9c-8b7a-4695-8473-625140fedcba', nowSeconds, event)[1] ?? ''
  const post = async (signature: string) => {
    const path = name === 'SDK' ? '/hooks/parley' : '/'
    const headers = { 'service-signature': signature, 'content-type': 'application/json' }
    return (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: event })).status
  }
  const listening = () =>
    post('').then(
      () => true,
      () => false,
    )
  await until('it listens', listening, 30_000)
  expect([await post(signatureOf(secret)), await post(signatureOf(another)), await post('')]).toEqual([
    accepts,
    400,
    400,
  ])
})
