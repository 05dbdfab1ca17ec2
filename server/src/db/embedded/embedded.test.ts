import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { copyDataDir, newFolder, postmasterPid, removeFolder } from '../../../testing/data-dir.ts'
import { isGone, spawnNode } from '../../../testing/parley.ts'
import { tempFolder } from '../../../testing/temp-folder.ts'
import { until } from '../../../testing/until.ts'
import { sha256 } from '../../lib/hash.ts'
import { chooseAccount } from './account.ts'
import { type Embedded, type EmbeddedOptions, openEmbedded } from './embedded.ts'
import { socketDirFor } from './postmaster.ts'

const isRoot = process.getuid?.() === 0

/** A cluster with one table of one row, stopped. Copying it takes a tenth of the time that making one takes. */
let made: string

beforeAll(async () => {
  made = newFolder()
  const embedded = await openEmbedded({ dataDir: made, purpose: 'visitor' })
  await ask(embedded, 'create table kept as select 42 as answer')
  await embedded.close()
})

afterAll(() => removeFolder(made))

function newDataDir(name = 'data'): string {
  return copyDataDir(made, join(tempFolder(), name))
}

async function open(dataDir: string, options: Partial<EmbeddedOptions> = {}): Promise<Embedded> {
  const embedded = await openEmbedded({ dataDir, purpose: 'visitor', ...options })
  onTestFinished(() => embedded.close())
  return embedded
}

async function ask<Row extends object>({ connection }: Embedded, statement: string): Promise<Row | undefined> {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row & pg.QueryResultRow>(statement)).rows[0]
  } finally {
    await client.end()
  }
}

const expectKept = async (embedded: Embedded) =>
  expect(await ask(embedded, 'select answer from kept')).toEqual({ answer: 42 })

test('the last user to leave stops PostgreSQL, and nobody before', async () => {
  const dataDir = newDataDir()
  const users = await Promise.all(Array.from({ length: 10 }, () => open(dataDir)))
  const pid = postmasterPid(dataDir)
  for (const user of users.slice(1)) await user.close()
  await expectKept(users[0] as Embedded)
  expect(postmasterPid(dataDir)).toBe(pid)
  await users[0]?.close()
  expect(isGone(pid)).toBe(true)
})

test('users who come while the last one leaves find a running PostgreSQL', async () => {
  const dataDir = newDataDir()
  for (let round = 0; round < 3; round++) {
    const leaving = await open(dataDir)
    const [, ...coming] = await Promise.all([leaving.close(), open(dataDir), open(dataDir)])
    await Promise.all(coming.map(expectKept))
    await Promise.all(coming.map((user) => user.close()))
  }
  expect(postmasterPid(dataDir)).toBeUndefined()
})

test('a second service on a data directory is refused in one line, and the first goes on', async () => {
  const dataDir = newDataDir()
  const first = await open(dataDir, { purpose: 'service' })
  const second = openEmbedded({ dataDir, purpose: 'service' })
  await expect(second).rejects.toThrow(
    `Parley is already running on ${dataDir}. Stop that one first, or set PARLEY_DATA_DIR and PORT for a second one.`,
  )
  await expectKept(first)
})

test('the PostgreSQL of a killed process is used on, and loses nothing', async () => {
  const dataDir = newDataDir()
  const code = `import { openEmbedded } from ${JSON.stringify(join(import.meta.dirname, 'embedded.ts'))}
    await openEmbedded({ dataDir: ${JSON.stringify(dataDir)}, purpose: 'service' })
    console.log('open')`
  const killed = spawnNode(['--input-type=module', '-e', code], {})
  await until('the other process has opened it', () => killed.out().includes('open'))
  const pid = postmasterPid(dataDir)
  killed.child.kill('SIGKILL')
  await killed.ended
  const next = await open(dataDir, { purpose: 'service' })
  expect(postmasterPid(dataDir)).toBe(pid)
  await expectKept(next)
  await next.close()
  expect(isGone(pid)).toBe(true)
})

test('a PostgreSQL that is killed under its users comes back by itself', async () => {
  const dataDir = newDataDir()
  const said: string[] = []
  const users = await Promise.all([
    open(dataDir, { purpose: 'service', say: (line) => said.push(line) }),
    open(dataDir, { purpose: 'visitor' }),
  ])
  for (let round = 0; round < 2; round++) {
    const pid = postmasterPid(dataDir) as number
    process.kill(pid, 'SIGKILL')
    await until('another PostgreSQL runs', () => postmasterPid(dataDir) !== pid && postmasterPid(dataDir))
    await until('it answers', () =>
      expectKept(users[0] as Embedded).then(
        () => true,
        () => false,
      ),
    )
  }
  const held = "select 1 as one from pg_locks where locktype = 'advisory' and objid = 7215302 and granted"
  await until('the service holds its lock again', () => ask(users[0] as Embedded, held))
  await expect(openEmbedded({ dataDir, purpose: 'service' })).rejects.toThrow('already running')
  // On a busy machine it may say that it takes a while; there is nothing else to say.
  expect(said.filter((line) => !line.startsWith('PostgreSQL is putting its files in order'))).toEqual([])
  const pid = postmasterPid(dataDir)
  for (const user of users) await user.close()
  expect(isGone(pid)).toBe(true)
})

test('closing while PostgreSQL is away leaves none behind', async () => {
  const dataDir = newDataDir()
  const user = await open(dataDir)
  process.kill(postmasterPid(dataDir) as number, 'SIGKILL')
  await user.close()
  const next = await open(dataDir)
  await expectKept(next)
  const pid = postmasterPid(dataDir)
  await next.close()
  expect(isGone(pid)).toBe(true)
})

test('lock files that name another program do not keep it from starting', async () => {
  const dataDir = newDataDir()
  const { uid, gid } = chooseAccount(join(dataDir, 'postgres'))
  // PostgreSQL believes in a program of its own account only.
  const other = spawn('sleep', ['60'], { stdio: 'ignore', ...(isRoot ? { uid, gid } : {}) })
  onTestFinished(() => void other.kill('SIGKILL'))
  const lines = [other.pid, join(dataDir, 'postgres'), 1700000000, 5432, join(dataDir, 'postgres'), '', '1 1', 'ready']
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    writeFileSync(join(dataDir, 'postgres', name), `${lines.join('\n')}\n`)
  }
  await expectKept(await open(dataDir))
  expect(other.exitCode).toBeNull()
})

test('an empty lock file, left by a full disk, does not keep it from starting', async () => {
  const dataDir = newDataDir()
  const longAgo = new Date(Date.now() - 60_000)
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    writeFileSync(join(dataDir, 'postgres', name), '')
    utimesSync(join(dataDir, 'postgres', name), longAgo, longAgo)
  }
  await expectKept(await open(dataDir))
})

test('a folder that is not a finished cluster is set aside, and said so', async () => {
  const dataDir = tempFolder()
  mkdirSync(join(dataDir, 'postgres', 'base'), { recursive: true })
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '18\n')
  const said: string[] = []
  const embedded = await open(dataDir, { say: (line) => said.push(line) })
  expect(await ask(embedded, 'select 1 as one')).toEqual({ one: 1 })
  const [aside] = readdirSync(dataDir).filter((name) => name.startsWith('postgres.unfinished-'))
  expect(readFileSync(join(dataDir, aside as string, 'PG_VERSION'), 'utf8')).toBe('18\n')
  expect(said).toEqual([
    `${dataDir}/postgres was not a finished database; it was moved to ${dataDir}/${aside} and a new one is made.`,
    'Preparing the embedded PostgreSQL (once)…',
  ])
})

test('what a process killed while preparing left behind is cleared away', async () => {
  const dataDir = tempFolder()
  const code = `import { openEmbedded } from ${JSON.stringify(join(import.meta.dirname, 'embedded.ts'))}
    await openEmbedded({ dataDir: ${JSON.stringify(dataDir)}, purpose: 'service' })`
  const killed = spawnNode(['--input-type=module', '-e', code], {})
  const drafts = () => readdirSync(dataDir).filter((name) => name.includes('.draft-'))
  await until('initdb is at work', () => drafts().some((name) => existsSync(join(dataDir, name, 'PG_VERSION'))))
  killed.child.kill('SIGKILL')
  await killed.ended
  const password = readFileSync(join(dataDir, 'database-password'), 'utf8')
  const embedded = await open(dataDir, { purpose: 'service' })
  expect(await ask(embedded, 'select 1 as one')).toEqual({ one: 1 })
  expect(readFileSync(join(dataDir, 'database-password'), 'utf8')).toBe(password)
  await embedded.close()
  // initdb, orphaned, may have written on for a moment.
  await until('the last draft is gone at some later start', async () => {
    await (await open(dataDir)).close()
    return drafts().length === 0
  })
})

test.each([
  ['spaces and signs', 'my data, "größer" & \'日本\''],
  ['more than 100 characters', `${'deep-folder-'.repeat(10)}/${'deeper-'.repeat(15)}`],
])('a path with %s works', async (_what, name) => {
  const folder = join(tempFolder(), name)
  mkdirSync(folder, { recursive: true })
  const dataDir = copyDataDir(made, join(folder, 'data'))
  const first = await open(dataDir)
  const { host } = first.connection
  if (!host.startsWith(dataDir)) onTestFinished(() => removeFolder(host))
  const second = await open(dataDir)
  await first.close()
  await expectKept(second)
  await second.close()
  expect(postmasterPid(dataDir)).toBeUndefined()
})

test('a socket’s folder that somebody else has prepared is not used', () => {
  const clusterDir = `/var/lib/${'long-'.repeat(20)}${process.pid}`
  const folder = join('/tmp', `parley-${sha256(clusterDir).toString('hex').slice(0, 16)}`)
  const trap = mkdtempSync('/tmp/parley-trap-')
  symlinkSync(trap, folder)
  onTestFinished(() => {
    rmSync(folder)
    rmSync(trap, { recursive: true })
  })
  const owner = statSync(trap).uid
  expect(() => socketDirFor(clusterDir, chooseAccount(clusterDir))).toThrow(`${folder} belongs to somebody else`)
  expect(statSync(trap).uid).toBe(owner)
})

test('told to stop while opening, it leaves nothing running', async () => {
  const dataDir = newDataDir()
  const stop = new AbortController()
  // It takes its time with the first connection, or it might be open before we have seen that it starts.
  const settings = { post_auth_delay: '1' }
  const opening = openEmbedded({ dataDir, purpose: 'service', signal: stop.signal, settings })
  const pid = await until('PostgreSQL is starting', () => postmasterPid(dataDir))
  stop.abort()
  await expect(opening).rejects.toThrow(/abort/i)
  expect(isGone(pid)).toBe(true)
})

test('the wrong password is told in one line, and nothing is left running', async () => {
  const dataDir = newDataDir()
  writeFileSync(join(dataDir, 'database-password'), 'not-it')
  await expect(openEmbedded({ dataDir, purpose: 'visitor' })).rejects.toThrow(
    `${dataDir}/database-password is not the password of the database beside it.`,
  )
  expect(postmasterPid(dataDir)).toBeUndefined()
})

test('a file in place of the data directory is told in one line', async () => {
  const dataDir = join(tempFolder(), 'data')
  writeFileSync(dataDir, '')
  await expect(openEmbedded({ dataDir, purpose: 'visitor' })).rejects.toThrow(
    `PARLEY_DATA_DIR is ${dataDir}, but that is not a folder`,
  )
})

test.skipIf(isRoot)('a data directory that may not be written is told in one line', async () => {
  const folder = tempFolder()
  const dataDir = join(folder, 'closed')
  mkdirSync(dataDir, { mode: 0o500 })
  for (const path of [dataDir, join(dataDir, 'below')]) {
    await expect(openEmbedded({ dataDir: path, purpose: 'visitor' })).rejects.toThrow(
      `The data directory ${path} cannot be written`,
    )
  }
})

test.skipIf(!isRoot)('as root, the cluster lies within a data directory that was private to root', async () => {
  const dataDir = mkdtempSync('/tmp/parley-private-')
  onTestFinished(() => removeFolder(dataDir))
  copyDataDir(`${made}/.`, dataDir)
  chmodSync(dataDir, 0o700)
  await expectKept(await open(dataDir))
  expect(lstatSync(join(dataDir, 'postgres')).isDirectory()).toBe(true)
  expect(statSync(dataDir).mode & 0o777).toBe(0o711)
  for (const name of ['database-password', 'postgres.log']) {
    expect(statSync(join(dataDir, name)).mode & 0o777, name).toBe(0o600)
  }
})

test.skipIf(!isRoot)(
  'as root, below a folder that only root may enter, the cluster lies outside and is linked',
  async () => {
    const home = mkdtempSync('/tmp/parley-home-')
    onTestFinished(() => removeFolder(home))
    const users = [await open(join(home, 'data')), await open(join(home, 'data'))]
    const outside = readlinkSync(join(home, 'data', 'postgres'))
    onTestFinished(() => removeFolder(outside))
    expect(outside).toMatch(/^\/var\/lib\/parley\//)
    expect(await ask(users[1] as Embedded, 'select 1 as one')).toEqual({ one: 1 })
    for (const user of users) await user.close()
  },
)

test('a cluster of another PostgreSQL is refused in one line', async () => {
  const dataDir = newDataDir()
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '13\n')
  await expect(openEmbedded({ dataDir, purpose: 'visitor' })).rejects.toThrow('was made by PostgreSQL 13')
})
