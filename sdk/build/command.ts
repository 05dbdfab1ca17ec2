import { existsSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

const root = join(import.meta.dirname, '..', '..')
const source = join(root, 'cli', 'src')
const packaged = join(source, 'packaged')

/** The parts of commands that are loaded on demand, because only the database needs them. */
const databaseParts = /^@parley\/(server|contract)\/|^\.\/commands\/|\/(database-source|trigger-events)\.ts$/

/** Everything else would bring the server or one of its dependencies with it. */
const allowed =
  /^\0|\/(cli|sdk|contract)\/src\/|\/server\/src\/(lib\/|whatsapp\/graph\/(explain-error|errors)|domain\/deliveries\/engine\/attempt\/(attempt|signature|retry-policy)|db\/connect\/is-unavailable)/

/** Takes the files in cli/src/packaged instead of those with the same name above them, and leaves out the database. */
const withoutDatabase: Plugin = {
  name: 'without-database',
  resolveId(id, importer = '', { kind }) {
    if (kind === 'dynamic-import' && databaseParts.test(id)) return '\0no-database'
    if (id === '@parley/server/lib/version') return join(root, 'sdk', 'src', 'version.ts')
    const replacement = join(packaged, basename(id))
    const isOfCommandLine = importer.startsWith(source) && dirname(importer) !== packaged && id.startsWith('.')
    return isOfCommandLine && existsSync(replacement) ? replacement : null
  },
  load: (id) => (id === '\0no-database' ? "throw new Error('This program has no database.')" : null),
}

/** Bundles the commands that work with an API key into one file without dependencies. */
export async function bundleCommand(file: string): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    input: join(source, 'main.ts'),
    platform: 'node',
    plugins: [withoutDatabase],
  })
  const [{ modules }] = (await bundle.write({ file, banner: '#!/usr/bin/env node', codeSplitting: false })).output
  const foreign = Object.entries(modules)
    .filter(([id, { renderedLength }]) => renderedLength > 0 && (!allowed.test(id) || id.includes('/node_modules/')))
    .map(([id]) => relative(root, id))
  if (foreign.length > 0) throw new Error(`The command line of the package contains ${foreign.join(', ')}.`)
}
