import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { readMigrations } from './server/src/db/migrate/migrate.ts'

/**
 * Checks the layers of ARCHITECTURE.md: reads every import, also type-only ones, and fails if one points to a higher
 * layer or completes a cycle.
 */
const root = import.meta.dirname

/** The types of what the request pipeline needs from `keys` and `requests`, which implement them. */
const requestTypes = '^server/src/http/access-check\\.ts$'

/**
 * A file belongs to the first layer whose pattern matches. It may import the listed paths. `$1` is the pattern's group.
 */
const layers = [
  layer('contract', '^contract/src/', ['^contract/src/']),
  layer('sdk', '^sdk/src/', ['^sdk/src/', '^contract/src/']),
  layer('testing', '^testing/src/', ['^testing/src/', '^sdk/src/']),
  layer('simulator', '^simulator/src/', ['^simulator/src/']),
  // It imports the response types of the control API from the simulator; type imports are removed in the build.
  layer('handset', '^simulator/handset/', ['^simulator/handset/', '^simulator/src/(world|network-log)\\.ts$']),
  layer('console main', '^console/src/main\\.tsx$', ['^console/src/(shell|ui|lib)/', '^contract/src/']),
  layer('console shell', '^console/src/shell/', ['^console/src/(shell|pages|parts|ui|lib)/', '^contract/src/']),
  // A page does not import another page. Shared code is in parts/. Scenarios have the same format as those of the simulator.
  layer('console page', '^console/src/pages/([\\w-]+)/', [
    '^console/src/(pages/$1|parts|ui|lib)/',
    '^simulator/src/phones/(scenario-file|redact)\\.ts$',
    '^contract/src/',
  ]),
  layer('console parts', '^console/src/parts/', ['^console/src/(parts|ui|lib)/', '^contract/src/']),
  layer('console ui', '^console/src/ui/', ['^console/src/(ui|lib)/', '^contract/src/']),
  layer('console lib', '^console/src/lib/', ['^console/src/lib/', '^contract/src/']),
  layer('server lib', '^server/src/lib/', ['^server/src/lib/', '^contract/src/']),
  layer('server sharing', '^server/src/sharing/', ['^server/src/(sharing|telemetry|lib)/', '^contract/src/']),
  layer('server telemetry', '^server/src/telemetry/', ['^server/src/(telemetry|lib)/', '^contract/src/']),
  layer('server net', '^server/src/net/', ['^server/src/(net|sharing|telemetry|lib)/', '^contract/src/']),
  layer('server db', '^server/src/db/', ['^server/src/(db|net|sharing|telemetry|lib)/', '^contract/src/']),
  layer('server http', '^server/src/http/', ['^server/src/(http|db|net|sharing|telemetry|lib)/', '^contract/src/']),
  layer('server whatsapp', '^server/src/whatsapp/', ['^server/src/(whatsapp|net|telemetry|lib)/', '^contract/src/']),
  layer('noun sql', '^server/src/domain/(\\w+)/(?:[\\w-]+/)*[\\w-]+\\.sql\\.ts$', [
    '^server/src/(db|net|sharing|telemetry|lib|whatsapp)/',
    requestTypes,
    '^server/src/domain/$1/',
    '^contract/src/',
  ]),
  layer('noun routes', '^server/src/domain/(\\w+)/(?:[\\w-]+/)*[\\w-]+\\.routes\\.ts$', [
    '^server/src/(http|net|sharing|telemetry|lib)/',
    '^server/src/domain/$1/(?!(?:[\\w-]+/)*[\\w-]+\\.sql\\.ts)',
    '^contract/src/',
  ]),
  layer('noun rules', '^server/src/domain/(\\w+)/', [
    '^server/src/(db|net|sharing|telemetry|lib|whatsapp)/',
    requestTypes,
    '^server/src/domain/$1/(?!(?:[\\w-]+/)*[\\w-]+\\.routes\\.ts)',
    // Only the rules of another noun. Another test checks that it is a noun below.
    '^server/src/domain/\\w+/(?!(?:[\\w-]+/)*[\\w-]+\\.(sql|routes)\\.ts)',
    '^contract/src/',
  ]),
  layer('config', '^server/src/config\\.ts$', ['^server/src/(net|telemetry|lib)/', '^contract/src/']),
  layer('server', '^server/src/(api|console|runtime|start|work)\\.ts$', ['^server/src/', '^contract/src/']),
  layer('cli', '^cli/src/', ['^cli/src/', '^server/src/', '^sdk/src/', '^simulator/src/', '^contract/src/']),
  layer('bench', '^bench/src/', [
    '^bench/src/',
    '^server/src/',
    '^server/testing/name-server',
    '^simulator/src/',
    '^contract/src/',
  ]),
  // It starts services with the helpers of the tests.
  layer('reliability', '^reliability/src/', [
    '^reliability/src/',
    '^bench/src/roles',
    '^server/(src|testing)/',
    '^sdk/src/',
    '^simulator/src/',
    '^contract/src/',
  ]),
]

/** Nouns from bottom to top. A noun may import the rules of nouns below it, but not of nouns on the same level. */
const nouns = [
  ['audit', 'mail', 'search'],
  ['workspaces', 'requests', 'deliveries'],
  ['keys', 'webhooks', 'senders', 'templates', 'credits', 'people'],
  ['connections'],
  ['files', 'orders', 'notify', 'updates'],
  ['flows'],
  ['messages'],
  ['health', 'privacy'],
  ['contacts', 'overview', 'instance'],
  ['why'],
]

/** The tables of each noun. A `.sql.ts` only uses the tables of its own noun, and calls functions of other nouns. */
const owners: Readonly<Record<string, readonly string[]>> = {
  audit: ['audit_entries'],
  connections: ['apps', 'connections', 'parked_updates', 'unknown_numbers'],
  credits: ['credit_balances', 'credit_entries', 'credit_checks', 'credit_days', 'prices'],
  // `webhooks` writes the settings of an endpoint. `deliveries` writes its failures and disables it, and reads it with
  // every event and every attempt.
  deliveries: [
    'conversation_looks',
    'deliveries',
    'delivery_attempts',
    'delivery_hours',
    'endpoint_steps',
    'endpoint_visits',
    'event_epoch',
    'events',
    'left_out_events',
    'replays',
    'webhooks',
  ],
  files: ['flow_files', 'file_chunks', 'network_media', 'unused_objects'],
  flows: ['flow_responses', 'flow_tokens'],
  health: ['health_samples'],
  keys: ['api_keys', 'key_usage', 'access_revision', 'budget_windows'],
  mail: ['announced_expiries', 'mail_counts', 'mails', 'notification_times', 'notifications'],
  messages: [
    'contact_reads',
    'handovers',
    'history_chunks',
    'saved_contacts',
    'messages',
    'message_statuses',
    'message_hours',
    'message_hour_changes',
    'early_statuses',
    'inbound_messages',
    'outbox',
    'read_receipts',
    'sender_paces',
    'sending_holds',
    'idempotency_keys',
    'idempotency_days',
    'user_id_changes',
  ],
  orders: ['orders', 'order_changes'],
  privacy: ['content_removals', 'erasures'],
  people: [
    'people',
    'passkeys',
    'backup_codes',
    'sessions',
    'challenges',
    'sign_in_tries',
    'account_tries',
    'failed_sign_ins',
    'memberships',
    'links',
    'mail_choices',
  ],
  updates: ['network_updates'],
  requests: [
    'request_log',
    'request_errors',
    'request_bodies',
    'request_body_removals',
    'refusal_hours',
    'traffic_hours',
    'unauthenticated_minutes',
    'muted_refusals',
  ],
  // No file names them: the function search_ids reads them.
  search: ['search_forms', 'search_inbound', 'search_messages', 'search_orders'],
  senders: ['senders', 'marketing_preferences'],
  templates: ['templates'],
  webhooks: ['webhooks'],
  workspaces: ['workspaces'],
}

/** Tables of no noun: triggers of several tables increment it, and statements compare it to detect changes. */
const sharedTables = ['routing_revision']
/** Tables that only `db/` uses. */
const dbTables = ['batch_writers', 'clock_marks', 'maintenance_owner', 'maintenance_steps']

/** Exceptions: statements that read tables of another noun, by file or folder in `domain/`, and the reason. */
const exceptions: readonly { where: string; tables: readonly string[]; why: string }[] = [
  { where: 'keys/access.sql.ts', tables: ['workspaces'], why: 'reads a key and its workspace at one revision' },
  {
    where: 'deliveries/replays/',
    tables: ['workspaces', 'messages', 'inbound_messages'],
    why: 'a suspended workspace holds its replays; the sender of an event is that of its message',
  },
  {
    where: 'keys/keys.sql.ts',
    tables: ['traffic_hours'],
    why: 'sums the requests of each key by day',
  },
  {
    where: 'messages/sending/outbox.sql.ts',
    tables: ['senders', 'templates'],
    why: 'a claim checks rates and holds, and reads what to send',
  },
  {
    where: 'messages/sending/pace.sql.ts',
    tables: ['senders'],
    why: 'a claim checks rates and holds',
  },
  {
    where: 'messages/sending/read-receipts.sql.ts',
    tables: ['senders'],
    why: 'a claim reads the number that it calls',
  },
  {
    where: 'people/',
    tables: ['workspaces'],
    why: 'every request reads a membership with the security settings of its workspace',
  },
  {
    where: 'senders/console.sql.ts',
    tables: ['connections', 'messages', 'inbound_messages'],
    why: 'shows data of nouns above it',
  },
  {
    where: 'templates/console.sql.ts',
    tables: ['connections'],
    why: 'shows the account of a template, a noun above it',
  },
  {
    where: 'webhooks/webhooks.sql.ts',
    tables: ['senders'],
    why: 'checks that the senders of a filter exist, a noun of the same layer',
  },
  {
    where: 'health/sealed.sql.ts',
    tables: ['apps', 'connections', 'mails', 'people', 'webhooks'],
    why: 'checks and re-encrypts every secret; no function returns encrypted columns',
  },
  {
    where: 'search/sources.sql.ts',
    tables: ['flow_responses', 'inbound_messages', 'messages', 'orders', 'saved_contacts'],
    why: 'reads the contents of four nouns and the names of contacts, to show and compare them',
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
    why: 'searches ten kinds of rows; separate functions would be dozens',
  },
]

const files = sourceFiles()
const imports = new Map(files.map((file) => [file, importsOf(file)]))

test('every layer has files', () => {
  expect(files.length).toBeGreaterThan(150)
  for (const { name, files: pattern } of layers) {
    expect(files.filter((file) => pattern.test(file)).length, name).toBeGreaterThan(0)
  }
  expect([...imports.values()].flat().length).toBeGreaterThan(400)
})

test('every file belongs to a layer', () => {
  expect(files.filter((file) => !layers.some((each) => each.files.test(file)))).toEqual([])
})

test('no import points to a higher layer', () => {
  const wrong = [...imports].flatMap(([file, targets]) => {
    const layerOfFile = layers.find((each) => each.files.test(file))
    const noun = layerOfFile?.files.exec(file)?.[1] ?? ''
    const allowed = layerOfFile?.mayImport.map((pattern) => new RegExp(pattern.replaceAll('$1', noun))) ?? []
    return targets.filter((target) => !allowed.some((pattern) => pattern.test(target))).map((to) => `${file} → ${to}`)
  })
  expect(wrong).toEqual([])
})

test('a noun imports only nouns below it', () => {
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

test('there are no import cycles', () => {
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (file: string, path: string[]) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    else if (!done.has(file)) {
      for (const target of imports.get(file) ?? []) visit(target, [...path, file])
      done.add(file)
    }
  }
  for (const file of files) visit(file, [])
  expect(cycles).toEqual([])
})

test('the delivery engine does not import the code that reads deliveries for display', () => {
  const wrong = [...imports].flatMap(([file, targets]) =>
    file.startsWith('server/src/domain/deliveries/engine/')
      ? targets.filter((target) => target.startsWith('server/src/domain/deliveries/reading/'))
      : [],
  )
  expect(wrong).toEqual([])
})

test('routes contain no SQL', () => {
  const routes = files.filter((file) => /^server\/src\/.*\.routes\.ts$/.test(file))
  expect(routes.length).toBeGreaterThan(10)
  const isSql = /`\s*(select|insert|update|delete|with)\s|['"](select|insert into|update|delete from|with) /
  expect(routes.filter((file) => isSql.test(codeOf(file)) || /\.(rows|first|change)[<(]/.test(codeOf(file)))).toEqual(
    [],
  )
})

test('ARCHITECTURE.md has a line for every part of the server', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const parts = readdirSync(join(root, 'server/src')).filter((name) => !name.endsWith('.test.ts'))
  expect(parts.length).toBeGreaterThan(10)
  expect(parts.filter((name) => !text.includes(`\n${name}${name.endsWith('.ts') ? '' : '/'} `))).toEqual([])
})

test('no code reads the tables without row-level security', () => {
  const named = new RegExp(`\\b(${owners.search?.join('|')})\\b`)
  expect(files.filter((file) => named.test(codeOf(file)))).toEqual([])
})

test('every table has an owner', () => {
  const tables = readMigrations().flatMap(({ text }) =>
    [...text.matchAll(/^create (?:unlogged )?table (\w+) \(/gm)].map((match) => match[1] as string),
  )
  expect(tables.length).toBeGreaterThan(40)
  const owned = new Set([...Object.values(owners).flat(), ...sharedTables, ...dbTables])
  expect([...owned].sort()).toEqual([...new Set(tables)].sort())
})

test('the SQL of a noun only uses its own tables', () => {
  const known = new Set([...Object.values(owners).flat(), ...dbTables])
  const found = files.flatMap((file) => {
    const [, path = '', noun = ''] = /^server\/src\/domain\/((\w+)\/.*\.sql\.ts)$/.exec(file) ?? []
    if (path === '') return []
    return tablesIn(codeOf(file))
      .filter((table) => known.has(table) && !owners[noun]?.includes(table))
      .map((table) => ({ path, table }))
  })
  const allows = ({ where, tables }: (typeof exceptions)[number], { path, table }: (typeof found)[number]) =>
    path.startsWith(where) && tables.includes(table)
  const foreign = found.filter((each) => !exceptions.some((exception) => allows(exception, each)))
  expect(foreign.map(({ path, table }) => `${path} → ${table}`)).toEqual([])
  // Exceptions that are no longer needed must be removed from the list.
  const unused = exceptions.flatMap((exception) =>
    exception.tables
      .filter((table) => !found.some((each) => each.table === table && allows(exception, each)))
      .map((table) => `${exception.where} → ${table}`),
  )
  expect(unused).toEqual([])
})

test('no condition compares a column with coalesce, for which PostgreSQL uses no index', () => {
  const compared = /\b(?:on|where|and|or)\s+[\w.]+\s*(?:=|<|>|<=|>=)\s*coalesce\((?![$])[^\n]*/g
  const found = files.flatMap((file) =>
    file.endsWith('.sql.ts') ? [...codeOf(file).matchAll(compared)].map(([text]) => `${file}: ${text}`) : [],
  )
  expect(found, 'Use orElse of db/or-else.ts.').toEqual([])
})

/** The names after an SQL keyword that is followed by a table, also in a comma-separated list. Includes CTEs. */
function tablesIn(code: string): string[] {
  // A lookahead, so that in `from a join b` the second name is found too.
  const list = /\b(?:from|join|into|update|using|table)(?=\s+((?:only\s+)?[a-z_]+(?:\s+[a-z]+)?(?:,\s*[a-z_]+)*))/g
  const names = [...code.matchAll(list)].flatMap(([, found = '']) => found.split(/[\s,]+/))
  const quoted = [...code.matchAll(/'([a-z_]+)'/g)].map((match) => match[1] as string)
  return [...new Set([...names, ...quoted])]
}

/** A file without its comments. */
const codeOf = (file: string): string =>
  readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

function layer(name: string, files: string, mayImport: string[]) {
  return { name, files: new RegExp(files), mayImport }
}

function sourceFiles(): string[] {
  return [
    'contract/src',
    'sdk/src',
    'testing/src',
    'simulator/src',
    'simulator/handset',
    'console/src',
    'server/src',
    'cli/src',
    'bench/src',
    'reliability/src',
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
