import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

/**
 * Keeps the house as ARCHITECTURE.md draws it: reads every import, type-only ones too, and fails on one that climbs or
 * closes a circle.
 */
const root = import.meta.dirname

/** A file is on the first floor whose pattern fits; it may import from the floors named. `$1` is what the pattern caught. */
const floors = [
  floor('contract', '^contract/src/', ['^contract/src/']),
  floor('sdk', '^sdk/src/', ['^sdk/src/', '^contract/src/']),
  floor('simulator', '^simulator/src/', ['^simulator/src/']),
  // Of the simulator it has the types of what the control API answers; they are taken out when it is served.
  floor('handset', '^simulator/handset/', ['^simulator/handset/', '^simulator/src/(world|network-log)\\.ts$']),
  floor('console main', '^console/src/main\\.tsx$', ['^console/src/(shell|ui|lib)/', '^contract/src/']),
  floor('console shell', '^console/src/shell/', ['^console/src/(shell|pages|parts|ui|lib)/', '^contract/src/']),
  // A page does not know another page: what two share is in parts/.
  floor('console page', '^console/src/pages/([\\w-]+)/', ['^console/src/(pages/$1|parts|ui|lib)/', '^contract/src/']),
  floor('console parts', '^console/src/parts/', ['^console/src/(parts|ui|lib)/', '^contract/src/']),
  floor('console ui', '^console/src/ui/', ['^console/src/(ui|lib)/', '^contract/src/']),
  floor('console lib', '^console/src/lib/', ['^console/src/lib/', '^contract/src/']),
  floor('server lib', '^server/src/lib/', ['^server/src/lib/', '^contract/src/']),
  floor('server db', '^server/src/db/', ['^server/src/(db|lib)/', '^contract/src/']),
  floor('server http', '^server/src/http/', ['^server/src/(http|db|lib)/', '^contract/src/']),
  floor('server whatsapp', '^server/src/whatsapp/', ['^server/src/(whatsapp|lib)/', '^contract/src/']),
  floor('noun sql', '^server/src/domain/(\\w+)/(?:\\w+/)?[\\w-]+\\.sql\\.ts$', [
    '^server/src/(db|lib|whatsapp)/',
    '^server/src/domain/$1/',
    '^contract/src/',
  ]),
  floor('noun routes', '^server/src/domain/(\\w+)/(?:\\w+/)?[\\w-]+\\.routes\\.ts$', [
    '^server/src/(http|lib)/',
    '^server/src/domain/$1/(?!(?:\\w+/)?[\\w-]+\\.sql\\.ts)',
    '^contract/src/',
  ]),
  floor('noun rules', '^server/src/domain/(\\w+)/', [
    '^server/src/(db|lib|whatsapp)/',
    '^server/src/domain/$1/(?!(?:\\w+/)?[\\w-]+\\.routes\\.ts)',
    // Of another noun only its rules; which nouns lie lower is checked below.
    '^server/src/domain/\\w+/(?!(?:\\w+/)?[\\w-]+\\.(sql|routes)\\.ts)',
    '^contract/src/',
  ]),
  floor('config', '^server/src/config\\.ts$', ['^server/src/lib/', '^contract/src/']),
  floor('server', '^server/src/(api|console|runtime|start|work)\\.ts$', ['^server/src/', '^contract/src/']),
  floor('cli', '^cli/src/', ['^cli/src/', '^server/src/', '^sdk/src/', '^simulator/src/', '^contract/src/']),
  floor('bench', '^bench/src/', ['^bench/src/', '^server/src/', '^simulator/src/', '^contract/src/']),
]

/** Nouns from the ground up; one may call the rules of those below it, not of those beside it. */
const nouns = [
  ['workspaces', 'requests', 'audit', 'deliveries'],
  ['keys', 'webhooks', 'senders', 'templates', 'credits', 'people'],
  ['connections'],
  ['files', 'orders'],
  ['flows'],
  ['messages'],
  ['health'],
  ['overview', 'instance'],
]

/** Whose each table is. A `.sql.ts` names the tables of its own noun; the others it asks for through their nouns' functions. */
const owners: Readonly<Record<string, readonly string[]>> = {
  audit: ['audit_entries'],
  connections: ['apps', 'connections', 'parked_updates'],
  credits: ['credit_balances', 'credit_entries', 'credit_days', 'prices'],
  // What people set of an endpoint is written by `webhooks`; whether it is enabled, and how it fails, by `deliveries`, which
  // reads it with every event and every attempt.
  deliveries: ['deliveries', 'delivery_attempts', 'delivery_hours', 'events', 'webhooks'],
  files: ['flow_files', 'file_chunks'],
  flows: ['flow_responses', 'flow_tokens'],
  keys: ['api_keys', 'key_usage', 'access_revision', 'budget_windows'],
  messages: [
    'messages',
    'message_statuses',
    'early_statuses',
    'inbound_messages',
    'outbox',
    'sender_paces',
    'sending_holds',
    'idempotency_keys',
    'idempotency_days',
  ],
  orders: ['orders', 'order_changes'],
  people: ['people', 'passkeys', 'backup_codes', 'sessions', 'challenges', 'sign_in_tries', 'memberships', 'links'],
  requests: ['request_log', 'refusal_hours', 'traffic_hours', 'muted_refusals'],
  senders: ['senders'],
  templates: ['templates'],
  webhooks: ['webhooks'],
  workspaces: ['workspaces'],
}

/** Of no noun: counted up by triggers of several tables, and compared by the statements that rely on what was read before. */
const everybodys = ['routing_revision']
/** Read and written in `db/` alone. */
const ofDb = ['clock_marks']

/** Where one statement reads another noun's tables all the same, by file or folder below `domain/`, and why. */
const crossings: readonly { where: string; tables: readonly string[]; why: string }[] = [
  { where: 'keys/access.sql.ts', tables: ['workspaces'], why: 'a key and the suspension, at one revision' },
  {
    where: 'keys/console.sql.ts',
    tables: ['traffic_hours'],
    why: 'requests of each key by day, summed where they are',
  },
  {
    where: 'messages/sending/outbox.sql.ts',
    tables: ['senders', 'templates'],
    why: 'a claim: pace, holds, what to send',
  },
  { where: 'people/', tables: ['workspaces'], why: 'a membership with the rules of its workspace, for every request' },
  { where: 'senders/console.sql.ts', tables: ['connections', 'messages', 'inbound_messages'], why: 'nouns above it' },
  { where: 'templates/console.sql.ts', tables: ['connections'], why: 'the account of a template, a noun above it' },
  {
    where: 'health/health.sql.ts',
    tables: ['apps', 'connections', 'people', 'webhooks'],
    why: 'whether every secret opens: sealed columns are handed to nobody else',
  },
  {
    where: 'overview/search.sql.ts',
    tables: [
      'api_keys',
      'events',
      'flow_responses',
      'inbound_messages',
      'messages',
      'orders',
      'request_log',
      'senders',
      'templates',
      'webhooks',
    ],
    why: 'a search over ten kinds, one line of each: dozens of functions otherwise',
  },
]

const files = sourceFiles()
const imports = new Map(files.map((file) => [file, importsOf(file)]))

test('the files of every floor were seen', () => {
  expect(files.length).toBeGreaterThan(150)
  for (const { name, files: pattern } of floors) {
    expect(files.filter((file) => pattern.test(file)).length, name).toBeGreaterThan(0)
  }
  expect([...imports.values()].flat().length).toBeGreaterThan(400)
})

test('every file is on a floor', () => {
  expect(files.filter((file) => !floors.some((each) => each.files.test(file)))).toEqual([])
})

test('no import climbs', () => {
  const climbing = [...imports].flatMap(([file, targets]) => {
    const own = floors.find((each) => each.files.test(file))
    const noun = own?.files.exec(file)?.[1] ?? ''
    const allowed = own?.mayImport.map((pattern) => new RegExp(pattern.replaceAll('$1', noun))) ?? []
    return targets.filter((target) => !allowed.some((pattern) => pattern.test(target))).map((to) => `${file} → ${to}`)
  })
  expect(climbing).toEqual([])
})

test('a noun calls only nouns below it', () => {
  const nounOf = (file: string) => /^server\/src\/domain\/(\w+)\//.exec(file)?.[1]
  const level = (noun: string) => nouns.findIndex((row) => row.includes(noun))
  const wrong = [...imports].flatMap(([file, targets]) =>
    targets.flatMap((target) => {
      const [from, to] = [nounOf(file), nounOf(target)]
      if (!from || !to || from === to) return []
      return level(to) >= 0 && level(to) < level(from) ? [] : [`${file} → ${target}`]
    }),
  )
  expect(wrong).toEqual([])
})

test('no imports close a circle', () => {
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, path: string[]) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    else if (!done.has(file)) {
      for (const target of imports.get(file) ?? []) visit(target, [...path, file])
      done.add(file)
    }
  }
  for (const file of files) visit(file, [])
  expect(circles).toEqual([])
})

test('delivering does not depend on what is shown of it', () => {
  const wrong = [...imports].flatMap(([file, targets]) =>
    file.startsWith('server/src/domain/deliveries/engine/')
      ? targets.filter((target) => target.startsWith('server/src/domain/deliveries/reading/'))
      : [],
  )
  expect(wrong).toEqual([])
})

test('routes hold no SQL', () => {
  const routes = files.filter((file) => /^server\/src\/.*\.routes\.ts$/.test(file))
  expect(routes.length).toBeGreaterThan(10)
  const isSql = /`\s*(select|insert|update|delete|with)\s|['"](select|insert into|update|delete from|with) /
  expect(routes.filter((file) => isSql.test(codeOf(file)) || /\.(rows|first|change)[<(]/.test(codeOf(file)))).toEqual(
    [],
  )
})

test('every table has an owner', () => {
  const folder = join(root, 'server/migrations')
  const migrations = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  const tables = migrations.flatMap((text) =>
    [...text.matchAll(/^create (?:unlogged )?table (\w+) \(/gm)].map((match) => match[1] as string),
  )
  expect(tables.length).toBeGreaterThan(40)
  const owned = new Set([...Object.values(owners).flat(), ...everybodys, ...ofDb])
  expect([...owned].sort()).toEqual([...new Set(tables)].sort())
})

test('a noun’s SQL names the tables of that noun', () => {
  const known = new Set([...Object.values(owners).flat(), ...ofDb])
  const found = files.flatMap((file) => {
    const [, path = '', noun = ''] = /^server\/src\/domain\/((\w+)\/.*\.sql\.ts)$/.exec(file) ?? []
    if (path === '') return []
    return tablesIn(codeOf(file))
      .filter((table) => known.has(table) && !owners[noun]?.includes(table))
      .map((table) => ({ path, table }))
  })
  const allows = ({ where, tables }: (typeof crossings)[number], { path, table }: (typeof found)[number]) =>
    path.startsWith(where) && tables.includes(table)
  const foreign = found.filter((each) => !crossings.some((crossing) => allows(crossing, each)))
  expect(foreign.map(({ path, table }) => `${path} → ${table}`)).toEqual([])
  // What is allowed and no longer done is taken off the list.
  const unused = crossings.flatMap((crossing) =>
    crossing.tables
      .filter((table) => !found.some((each) => each.table === table && allows(crossing, each)))
      .map((table) => `${crossing.where} → ${table}`),
  )
  expect(unused).toEqual([])
})

/** The names that follow a word after which SQL has a table, alone or after a comma; CTEs are among them. */
function tablesIn(code: string): string[] {
  // Looked ahead for, so that in `from a join b` the second is seen too.
  const list = /\b(?:from|join|into|update|using|table)(?=\s+((?:only\s+)?[a-z_]+(?:\s+[a-z]+)?(?:,\s*[a-z_]+)*))/g
  const names = [...code.matchAll(list)].flatMap(([, found = '']) => found.split(/[\s,]+/))
  const quoted = [...code.matchAll(/'([a-z_]+)'/g)].map((match) => match[1] as string)
  return [...new Set([...names, ...quoted])]
}

/** A file without its comments. */
const codeOf = (file: string): string =>
  readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

function floor(name: string, files: string, mayImport: string[]) {
  return { name, files: new RegExp(files), mayImport }
}

function sourceFiles(): string[] {
  return [
    'contract/src',
    'sdk/src',
    'simulator/src',
    'simulator/handset',
    'console/src',
    'server/src',
    'cli/src',
    'bench/src',
  ]
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes('/testing/'))
    .sort()
}

/** The files of this project that a file imports, by path from the root. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  const specifiers = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)].map(
    (match) => match[1] as string,
  )
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith('.'))
      return /\.tsx?$/.test(specifier) ? [relative(root, join(root, dirname(file), specifier))] : []
    const [, name, path] = /^@parley\/(\w+)\/(.+)$/.exec(specifier) ?? []
    return name && path ? [`${name}/src/${path}.ts`] : []
  })
}
