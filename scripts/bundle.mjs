// `node scripts/bundle.mjs` bundles the command and the service, for an installation that cannot do it at its start.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { bundleOf } from './prepare.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = dirname(bundleOf(root))
const keptDays = 30

/** The second is for tests; a release does not have it. */
const entries = { main: 'cli/src/main.ts', 'service-process': 'server/testing/service-process.ts' }

/** Sources find files relative to their own place, so the bundle has the way from it to that place. */
const places = {
  name: 'places',
  transform: {
    filter: { id: /^(?!.*node_modules).*\.ts$/, code: /import\.meta\.(dirname|url)/ },
    handler: (code, id) => ({
      code: code
        .replaceAll('import.meta.dirname', `(import.meta.dirname + '/${relative(folder, dirname(id))}')`)
        .replaceAll('import.meta.url', `new URL('${relative(folder, id)}', import.meta.url).href`),
      map: null,
    }),
  },
}

/**
 * A module of Node that is imported reads all its exports, and some of them load much more: those of node:http all of undici. One
 * that is required reads what is used. The bundle itself needs node:module to require anything.
 */
const requiredModules = {
  name: 'required-modules',
  resolveId: { filter: { id: /^node:(?!module$)/ }, handler: (id) => `\0${id}` },
  load: {
    filter: { id: /^\0node:/ },
    handler: (id) => `module.exports = process.getBuiltinModule('${id.slice(1)}')`,
  },
}

const began = new Date()
mkdirSync(folder, { recursive: true })
const output = mkdtempSync(join(folder, 'new-'))
try {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(join(root, file)))),
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    plugins: [places, requiredModules],
  })
  // With source maps: NODE_OPTIONS=--enable-source-maps shows the sources in stack traces.
  const { output: written } = await bundle.write({
    dir: output,
    sourcemap: true,
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    // What many commands share is one file instead of seventy: finding a file takes longer than loading a small one.
    codeSplitting: { groups: [{ name: 'shared', minShareCount: 8, includeDependenciesRecursively: false }] },
  })
  // Other processes may be starting: the entries come last, so that their parts are complete.
  const isEntry = new Set(written.filter((each) => each.isEntry).map(({ fileName }) => fileName))
  const names = readdirSync(output).sort((a, b) => Number(isEntry.has(a)) - Number(isEntry.has(b)))
  for (const name of names) {
    // A source that changes from now on is newer than the bundle.
    utimesSync(join(output, name), began, began)
    renameSync(join(output, name), join(folder, name))
  }
  // A service that has been running since an earlier build loads some of its parts when they are needed.
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    if (statSync(file).mtimeMs < began.getTime() - keptDays * 86_400_000) rmSync(file, { recursive: true })
  }
} finally {
  rmSync(output, { recursive: true, force: true })
}
