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

/** A stopped cluster with one table of one row. Copying it takes a tenth of the time that creating one takes. */
let prepared: string

beforeAll(async () => {
  prepared = newFolder()
  const embedded = await openEmbedded({ dataDir: prepared, purpose: 'visitor' })
  await queryRow(embedded, 'create table saved as select 42 as number')
  await embedded.close()
})

afterAll(() => removeFolder(prepared))

function newDataDir(name = 'data'): string {
  return copyDataDir(prepared, join(tempFolder(), name))
}

async function open(dataDir: string, options: Partial<EmbeddedOptions> = {}): Promise<Embedded> {
  const embedded = await openEmbedded({ dataDir, purpose: 'visitor', ...options })
  onTestFinished(() => embedded.close())
  return embedded
}

async function queryRow<Row extends object>({ connection }: Embedded, statement: string): Promise<Row | undefined> {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row & pg.QueryResultRow>(statement)).rows[0]
  } finally {
    await client.end()
  }
}

const expectSavedRow = async (embedded: Embedded) =>
  expect(await queryRow(embedded, 'select number from saved')).toEqual({ number: 42 })

test('PostgreSQL runs until the last user has closed it', async () => {
  const dataDir = newDataDir()
  const users = await Promise.all(Array.from({ length: 4 }, () => open(dataDir)))
  const pid = postmasterPid(dataDir)
  for (const user of users.slice(1)) await user.close()
  await expectSavedRow(users[0] as Embedded)
  expect(postmasterPid(dataDir)).toBe(pid)
  await users[0]?.close()
  expect(isGone(pid)).toBe(true)
})

test('a process that opens it while the last user closes gets a running PostgreSQL', async () => {
  const dataDir = newDataDir()
  for (let round = 0; round < 3; round++) {
    const leaving = await open(dataDir)
    const [, ...coming] = await Promise.all([leaving.close(), open(dataDir), open(dataDir)])
    await Promise.all(coming.map(expectSavedRow))
    await Promise.all(coming.map((user) => user.close()))
  }
  expect(postmasterPid(dataDir)).toBeUndefined()
})

test('a second service on the same data directory fails to start, and the first keeps running', async () => {
  const dataDir = newDataDir()
  const first = await open(dataDir, { purpose: 'service' })
  const second = openEmbedded({ dataDir, purpose: 'service' })
  await expect(second).rejects.toThrow(
    `Parley is already running with the data directory ${dataDir}. Stop it first, or set PARLEY_DATA_DIR and PORT to run a second one.`,
  )
  await expectSavedRow(first)
})

test('the next start uses the PostgreSQL of a process that was killed, with all its data', async () => {
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
  await expectSavedRow(next)
  await next.close()
  expect(isGone(pid)).toBe(true)
})

test('a PostgreSQL that is killed while in use is restarted automatically', async () => {
  const dataDir = newDataDir()
  const printed: string[] = []
  const users = await Promise.all([
    open(dataDir, { purpose: 'service', say: (line) => printed.push(line) }),
    open(dataDir, { purpose: 'visitor' }),
  ])
  for (let round = 0; round < 2; round++) {
    const pid = postmasterPid(dataDir) as number
    process.kill(pid, 'SIGKILL')
    await until('another PostgreSQL runs', () => postmasterPid(dataDir) !== pid && postmasterPid(dataDir))
    await until('it responds', () =>
      expectSavedRow(users[0] as Embedded).then(
        () => true,
        () => false,
      ),
    )
  }
  const held = "select 1 as one from pg_locks where locktype = 'advisory' and objid = 7215302 and granted"
  await until('the service holds its lock again', () => queryRow(users[0] as Embedded, held))
  await expect(openEmbedded({ dataDir, purpose: 'service' })).rejects.toThrow('already running')
  // On a busy machine recovery may take long enough to be reported; nothing else is printed.
  expect(printed.filter((line) => !line.startsWith('PostgreSQL is recovering'))).toEqual([])
  const pid = postmasterPid(dataDir)
  for (const user of users) await user.close()
  expect(isGone(pid)).toBe(true)
})

test('closing while PostgreSQL is down leaves no PostgreSQL running', async () => {
  const dataDir = newDataDir()
  const user = await open(dataDir)
  process.kill(postmasterPid(dataDir) as number, 'SIGKILL')
  await user.close()
  const next = await open(dataDir)
  await expectSavedRow(next)
  const pid = postmasterPid(dataDir)
  await next.close()
  expect(isGone(pid)).toBe(true)
})

test('PostgreSQL starts despite lock files with the process ID of another program', async () => {
  const dataDir = newDataDir()
  const { uid, gid } = chooseAccount(join(dataDir, 'postgres'))
  // PostgreSQL only takes the lock file seriously if the process runs as its own account.
  const other = spawn('sleep', ['60'], { stdio: 'ignore', ...(isRoot ? { uid, gid } : {}) })
  onTestFinished(() => void other.kill('SIGKILL'))
  const lines = [other.pid, join(dataDir, 'postgres'), 1700000000, 5432, join(dataDir, 'postgres'), '', '1 1', 'ready']
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    writeFileSync(join(dataDir, 'postgres', name), `${lines.join('\n')}\n`)
  }
  await expectSavedRow(await open(dataDir))
  expect(other.exitCode).toBeNull()
})

test('PostgreSQL starts despite empty lock files, as a full disk leaves them', async () => {
  const dataDir = newDataDir()
  const longAgo = new Date(Date.now() - 60_000)
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    writeFileSync(join(dataDir, 'postgres', name), '')
    utimesSync(join(dataDir, 'postgres', name), longAgo, longAgo)
  }
  await expectSavedRow(await open(dataDir))
})

test('after a process was killed during setup, an incomplete cluster is moved aside with a message, a new one is created, and drafts are removed', async () => {
  const dataDir = tempFolder()
  const code = `import { openEmbedded } from ${JSON.stringify(join(import.meta.dirname, 'embedded.ts'))}
    await openEmbedded({ dataDir: ${JSON.stringify(dataDir)}, purpose: 'service' })`
  const killed = spawnNode(['--input-type=module', '-e', code], {})
  const drafts = () => readdirSync(dataDir).filter((name) => name.includes('.draft-'))
  await until('initdb is running', () => drafts().some((name) => existsSync(join(dataDir, name, 'PG_VERSION'))))
  killed.child.kill('SIGKILL')
  await killed.ended
  const password = readFileSync(join(dataDir, 'database-password'), 'utf8')
  mkdirSync(join(dataDir, 'postgres', 'base'), { recursive: true })
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '18\n')
  const printed: string[] = []
  const embedded = await open(dataDir, { purpose: 'service', say: (line) => printed.push(line) })
  expect(await queryRow(embedded, 'select 1 as one')).toEqual({ one: 1 })
  expect(readFileSync(join(dataDir, 'database-password'), 'utf8')).toBe(password)
  const [aside] = readdirSync(dataDir).filter((name) => name.startsWith('postgres.unfinished-'))
  expect(readFileSync(join(dataDir, aside as string, 'PG_VERSION'), 'utf8')).toBe('18\n')
  expect(printed).toEqual([
    `${dataDir}/postgres is not a complete database. Moved it to ${dataDir}/${aside}; creating a new database.`,
    'Setting up the embedded PostgreSQL (first start only)…',
  ])
  await embedded.close()
  // The orphaned initdb may have kept writing for a moment.
  await until('the last draft is gone at some later start', async () => {
    await (await open(dataDir)).close()
    return drafts().length === 0
  })
})

test.each([
  ['spaces and special characters', 'my data, "größer" & \'日本\''],
  ['more than 100 characters', `${'deep-folder-'.repeat(10)}/${'deeper-'.repeat(15)}`],
])('a data directory path with %s works', async (_description, name) => {
  const folder = join(tempFolder(), name)
  mkdirSync(folder, { recursive: true })
  const dataDir = copyDataDir(prepared, join(folder, 'data'))
  const first = await open(dataDir)
  const { host } = first.connection
  if (!host.startsWith(dataDir)) onTestFinished(() => removeFolder(host))
  const second = await open(dataDir)
  await first.close()
  await expectSavedRow(second)
  await second.close()
  expect(postmasterPid(dataDir)).toBeUndefined()
})

test('a socket directory that another user has created is not used', () => {
  const clusterDir = `/var/lib/${'long-'.repeat(20)}${process.pid}`
  const folder = join('/tmp', `parley-${sha256(clusterDir).toString('hex').slice(0, 16)}`)
  const trap = mkdtempSync('/tmp/parley-trap-')
  symlinkSync(trap, folder)
  onTestFinished(() => {
    rmSync(folder)
    rmSync(trap, { recursive: true })
  })
  const owner = statSync(trap).uid
  expect(() => socketDirFor(clusterDir, chooseAccount(clusterDir))).toThrow(
    `Cannot use ${folder} for the PostgreSQL socket`,
  )
  expect(statSync(trap).uid).toBe(owner)
})

test('aborting while it opens leaves no PostgreSQL running', async () => {
  const dataDir = newDataDir()
  const stop = new AbortController()
  // Delays the first connection, so that the test can abort before opening has finished.
  const settings = { post_auth_delay: '1' }
  const opening = openEmbedded({ dataDir, purpose: 'service', signal: stop.signal, settings })
  const pid = await until('PostgreSQL is starting', () => postmasterPid(dataDir))
  stop.abort()
  await expect(opening).rejects.toThrow(/abort/i)
  await until('PostgreSQL has ended', () => isGone(pid))
})

test('aborting while it connects ends the connection', async () => {
  const dataDir = newDataDir()
  // Delays every connection.
  const visitor = await open(dataDir, { purpose: 'visitor', settings: { post_auth_delay: '1' } })
  const client = new pg.Client(visitor.admin)
  await client.connect()
  const connections = async (state: string) =>
    (await client.query('select from pg_stat_activity where state = $1', [state])).rowCount ?? 0
  const stop = new AbortController()
  const opening = openEmbedded({ dataDir, purpose: 'service', signal: stop.signal })
  await until('it connects', async () => (await connections('starting')) > 0)
  stop.abort()
  await expect(opening).rejects.toThrow(/abort/i)
  // Only the visitor's own is left.
  await until('the connection has ended', async () => (await connections('idle')) === 1)
  await client.end()
})

test('aborting while it creates the cluster stops initdb and leaves no cluster', async () => {
  const dataDir = join(tempFolder(), 'data')
  const stop = new AbortController()
  const opening = openEmbedded({ dataDir, purpose: 'service', signal: stop.signal })
  const hasFiles = (name: string) => existsSync(join(dataDir, name, 'PG_VERSION'))
  await until('initdb writes its files', () => existsSync(dataDir) && readdirSync(dataDir).some(hasFiles))
  stop.abort()
  await expect(opening).rejects.toThrow(/abort/i)
  expect(readdirSync(dataDir)).toEqual(['database-password'])
})

test('a wrong password is explained in one line, and no PostgreSQL is left running', async () => {
  const dataDir = newDataDir()
  writeFileSync(join(dataDir, 'database-password'), 'not-it')
  await expect(openEmbedded({ dataDir, purpose: 'visitor' })).rejects.toThrow(
    `The password in ${dataDir}/database-password does not match the database in ${dataDir}/postgres.`,
  )
  expect(postmasterPid(dataDir)).toBeUndefined()
})

test('a file in place of the data directory is explained in one line', async () => {
  const dataDir = join(tempFolder(), 'data')
  writeFileSync(dataDir, '')
  await expect(openEmbedded({ dataDir, purpose: 'visitor' })).rejects.toThrow(
    `The data directory ${dataDir} is not a directory`,
  )
})

test.skipIf(process.platform !== 'linux')(
  'a data directory that cannot be created is explained in one line',
  async () => {
    const lines = {
      '/proc/parley':
        /^Cannot use the data directory \/proc\/parley \(ENOENT: .+\)\. Set PARLEY_DATA_DIR to another directory\.$/,
      '/proc/parley/data':
        /^Cannot use the data directory \/proc\/parley\/data \(ENOENT: .+\)\. Set PARLEY_DATA_DIR to another directory\.$/,
      '/proc': /^Cannot (use|write to) the data directory \/proc \(/,
      '/sys/parley':
        /^Cannot write to the data directory \/sys\/parley \(E\w+: .+\)\. Give this user write permission, or /,
      '/dev/null/data':
        /^The data directory \/dev\/null\/data is not a directory \(.+\)\. Set PARLEY_DATA_DIR to a directory\.$/,
      [`/tmp/${'long'.repeat(100)}`]: /^Cannot use the data directory .+ \(ENAMETOOLONG: /,
    }
    for (const [dataDir, line] of Object.entries(lines)) {
      await expect(openEmbedded({ dataDir, purpose: 'visitor' }), dataDir).rejects.toThrow(line)
    }
  },
)

test.skipIf(isRoot)('a read-only data directory is explained in one line', async () => {
  const folder = tempFolder()
  const dataDir = join(folder, 'closed')
  mkdirSync(dataDir, { mode: 0o500 })
  for (const path of [dataDir, join(dataDir, 'below')]) {
    await expect(openEmbedded({ dataDir: path, purpose: 'visitor' })).rejects.toThrow(
      `Cannot write to the data directory ${path}`,
    )
  }
})

test.skipIf(!isRoot)(
  'as root, the cluster is stored in the data directory even if that was private to root',
  async () => {
    const dataDir = mkdtempSync('/tmp/parley-private-')
    onTestFinished(() => removeFolder(dataDir))
    copyDataDir(`${prepared}/.`, dataDir)
    chmodSync(dataDir, 0o700)
    await expectSavedRow(await open(dataDir))
    expect(lstatSync(join(dataDir, 'postgres')).isDirectory()).toBe(true)
    expect(statSync(dataDir).mode & 0o777).toBe(0o711)
    for (const name of ['database-password', 'postgres.log']) {
      expect(statSync(join(dataDir, name)).mode & 0o777, name).toBe(0o600)
    }
  },
)

test.skipIf(!isRoot)(
  'as root, if only root can reach the data directory, the cluster is stored elsewhere and linked',
  async () => {
    const home = mkdtempSync('/tmp/parley-home-')
    onTestFinished(() => removeFolder(home))
    const users = [await open(join(home, 'data')), await open(join(home, 'data'))]
    const outside = readlinkSync(join(home, 'data', 'postgres'))
    onTestFinished(() => removeFolder(outside))
    expect(outside).toMatch(/^\/var\/lib\/parley\//)
    expect(await queryRow(users[1] as Embedded, 'select 1 as one')).toEqual({ one: 1 })
    for (const user of users) await user.close()
  },
)

test('a cluster of another PostgreSQL version is explained in one line', async () => {
  const dataDir = newDataDir()
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '13\n')
  await expect(openEmbedded({ dataDir, purpose: 'visitor' })).rejects.toThrow('was created by PostgreSQL 13')
})
