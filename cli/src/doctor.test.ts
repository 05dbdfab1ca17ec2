import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '@parley/server/config'
import type { Finding } from '@parley/server/domain/health/finding'
import { startService } from '@parley/server/start'
import { startSimulator } from '@parley/simulator/start'
import { expect, onTestFinished, test } from 'vitest'
import { newDatabase } from '../../server/testing/database.ts'
import { startMailServer } from '../../server/testing/mail-server.ts'
import { urlOf } from '../../server/testing/service.ts'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { runParley } from '../testing/run-parley.ts'

const newKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`

async function newEnv(): Promise<Record<string, string>> {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  return { DATABASE_URL: urlOf(connection), PARLEY_SECRET_KEYS: newKey('k1'), PORT: '0', LOG_LEVEL: 'silent' }
}

interface Report {
  verdict: string
  checks: Finding[]
}

async function doctor(env: Record<string, string>, ...words: string[]) {
  const { code, out, err } = await runParley(['doctor', '--json', ...words], env)
  expect(err).toBe('')
  const { verdict, checks } = JSON.parse(out) as Report
  return { code, verdict, check: (name: string) => checks.find(({ check }) => check === name) }
}

test('doctor finds no problem in a running installation with a connected account and exits 0', async () => {
  const env = await newEnv()
  const simulator = await startSimulator({ port: 0, dataset: 'demo' })
  onTestFinished(() => simulator.stop())
  const service = await startService({ config: readConfig(env) })
  onTestFinished(() => service.stop())
  const running = { ...env, PORT: new URL(service.url).port }
  const create = async (...words: string[]) =>
    JSON.parse((await runParley([...words, '--json'], running)).out) as { id: string }
  const workspace = await create('workspace', 'create', '--name', 'Shop')
  const token = simulator.control.tokens.list()[0]?.token ?? ''
  const secret = simulator.control.apps.list()[0]?.secret ?? ''
  const secrets = ['--app-secret', secret, '--verify-token', 'v-1', '--graph-url', simulator.url]
  const app = await create('app', 'create', '--name', 'Demo', ...secrets)
  const options = ['--workspace', workspace.id, '--app', app.id, '--waba-id', '102290000000001']
  await create('connection', 'create', ...options, '--access-token', token)
  const url = `${readConfig(running).publicUrl}/network/whatsapp/${app.id}`
  await simulator.control.apps.setCallback(simulator.control.apps.list()[0]?.id ?? '', { url, verifyToken: 'v-1' })

  const { code, check } = await doctor(running)
  expect(code).toBe(0)
  const atMeta = ['access tokens', 'subscriptions', 'webhook fields', 'callbacks', 'numbers', 'Graph version']
  for (const name of ['service', 'database', 'migrations', 'clock', 'secrets', 'ingress', ...atMeta]) {
    expect(check(name), name).toMatchObject({ verdict: 'ok' })
  }
  const report = await runParley(['doctor'], running)
  expect(report.out).toMatch(/^ok {7}database {10}PostgreSQL \d+/m)
  expect(report.out).toMatch(/^ok {7}long transactions No transaction/m)
  expect(report.out).not.toContain('\u001b')

  const account = `${simulator.url}/v25.0/102290000000001/subscribed_apps`
  await fetch(account, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } })
  const why = (...words: string[]) => runParley(['why', '15550780001', ...words], running)
  const found = await why()
  expect(found).toMatchObject({ code: 1, err: '' })
  expect(found.out).toMatch(/^problem {2}subscriptions {3}The app is not subscribed to account 102290000000001\./m)
  expect(found.out).toMatch(/\n\nThe app is not subscribed .*\n→ Run: \.\/parley why 102290000000001 --fix\n$/)
  expect((await why('--fix')).out).toMatch(/^fixed {4}Subscribed the app to account 102290000000001\.\n/)
  const { out } = await why('--fix', '--json')
  expect(JSON.parse(out)).toMatchObject({ object: 'why', about: { kind: 'sender' }, fixed: [] })
  expect(out).not.toContain('not subscribed to account')
  expect((await runParley(['why', '19999999999'], running)).out).toContain('No workspace has a sender')

  simulator.control.tokens.change(token, { revoked: true })
  const revoked = await runParley(['doctor'], {
    ...running,
    PARLEY_SECRET_KEYS: `${env.PARLEY_SECRET_KEYS},${newKey('k2')}`,
  })
  expect(revoked.code).toBe(1)
  expect(revoked.out).toMatch(/^problem {2}access tokens {5}The access token needs attention for 1 of 1 account\.$/m)
  expect(revoked.out).not.toContain(token)
})

test('doctor checks the mail server: whether it responds, and whether it accepts the password', async () => {
  const env = await newEnv()
  await runParley(['migrate'], env)
  expect((await doctor(env)).check('email')).toMatchObject({
    verdict: 'ok',
    message: expect.stringContaining('not set'),
  })
  const mailServer = await startMailServer({ password: 'right' })
  onTestFinished(() => mailServer.close())
  const mailing = { ...env, PARLEY_SMTP_URL: mailServer.url, PARLEY_MAIL_FROM: 'parley@example.com' }
  expect((await doctor(mailing)).check('email')).toMatchObject({ verdict: 'ok' })
  const wrong = await runParley(['doctor'], {
    ...mailing,
    PARLEY_SMTP_URL: mailServer.url.replace('right', 'pass-word'),
  })
  expect(wrong.out).toMatch(/^problem {2}email {13}The mail server 127\.0\.0\.1:\d+ does not accept emails: /m)
  expect(wrong.out).not.toContain('pass-word')
  const connections = mailServer.connections()
  expect((await doctor(mailing, '--offline')).check('email')).toMatchObject({ verdict: 'ok' })
  expect(mailServer.connections()).toBe(connections)
})

test('doctor reports secrets that no key can decrypt', async () => {
  const env = await newEnv()
  await runParley(['app', 'create', '--name', 'A', '--app-secret', 's', '--verify-token', 'v'], env)
  expect((await doctor(env, '--offline')).check('secrets')).toMatchObject({ verdict: 'ok' })
  const { code, check } = await doctor({ ...env, PARLEY_SECRET_KEYS: newKey('k2') }, '--offline')
  expect(code).toBe(1)
  expect(check('secrets')).toMatchObject({ verdict: 'problem', message: expect.stringContaining('1 of 1 app') })
})

test('doctor reports a database that is unreachable, old or missing, and creates and changes nothing', async () => {
  const env = await newEnv()
  const unreachable = await runParley(['doctor'], { ...env, DATABASE_URL: 'postgresql://a:pass-word@127.0.0.1:1/b' })
  expect(unreachable).toMatchObject({ code: 1, err: '' })
  expect(unreachable.out).toMatch(/^problem {2}database {10}Cannot connect to the database in DATABASE_URL/m)
  expect(unreachable.out).not.toMatch(/pass-word|\n\s+at /)

  const url = new URL(env.DATABASE_URL ?? '')
  url.pathname = '/postgres'
  const { code, check } = await doctor({ ...env, DATABASE_URL: url.href }, '--offline')
  expect(code).toBe(1)
  expect(check('migrations')?.verdict).toBe('problem')

  const dataDir = join(tempFolder(), 'data')
  const fresh = await doctor({ PARLEY_DATA_DIR: dataDir, PORT: '0' })
  expect(fresh).toMatchObject({ code: 0, verdict: 'warning' })
  expect(existsSync(dataDir) ? readdirSync(dataDir) : []).toEqual([])
})
