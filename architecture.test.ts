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
  floor('console', '^console/', ['^console/', '^contract/src/']),
  floor('server lib', '^server/src/lib/', ['^server/src/lib/', '^contract/src/']),
  floor('server db', '^server/src/db/', ['^server/src/(db|lib)/', '^contract/src/']),
  floor('server http', '^server/src/http/', ['^server/src/(http|db|lib)/', '^contract/src/']),
  floor('server whatsapp', '^server/src/whatsapp/', ['^server/src/(whatsapp|lib)/', '^contract/src/']),
  floor('noun sql', '^server/src/domain/(\\w+)/(?:\\w+/)?[\\w-]+\\.sql\\.ts$', [
    '^server/src/(db|lib|whatsapp)/',
    '^server/src/domain/$1/',
    '^contract/src/',
  ]),
  floor('noun routes', '^server/src/domain/(\\w+)/[\\w-]+\\.routes\\.ts$', [
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

function floor(name: string, files: string, mayImport: string[]) {
  return { name, files: new RegExp(files), mayImport }
}

function sourceFiles(): string[] {
  return ['contract', 'sdk', 'simulator', 'console', 'server', 'cli', 'bench']
    .flatMap((name) => readdirSync(join(root, name, 'src'), { recursive: true, withFileTypes: true }))
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
