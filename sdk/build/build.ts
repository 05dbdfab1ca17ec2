// Compiles the SDK to JavaScript and self-contained declarations: modules in sdk/dist, CommonJS in sdk/dist/cjs,
// the command line in sdk/dist/cli. `npm pack` and `npm publish` in sdk/ run it.
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withLock } from '../../scripts/lock.mjs'
import { bundleCommand } from './command.ts'
import { compile } from './compiler.ts'
import { declareContractTypes } from './contract-types.ts'

const sdk = join(import.meta.dirname, '..')

/** The types are checked in the first run. */
const commonJs = [
  '--module',
  'commonjs',
  '--moduleResolution',
  'bundler',
  '--verbatimModuleSyntax',
  'false',
  '--noCheck',
]

/** Compiles a copy of the sources in which the types of the contract are written out. */
async function build(folder: string): Promise<string> {
  const [src, dist] = [join(folder, 'src'), join(folder, 'dist')]
  cpSync(join(sdk, 'src'), src, { recursive: true, filter: (file) => !file.endsWith('.test.ts') })
  writeFileSync(join(src, 'contract.ts'), await declareContractTypes())
  const config = { extends: join(sdk, 'tsconfig.build.json'), compilerOptions: { rootDir: 'src' }, include: ['src'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  await emit(folder, dist, [])
  const cjs = join(dist, 'cjs')
  await emit(folder, cjs, commonJs)
  // The package itself has the type "module".
  writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n')
  await bundleCommand(join(dist, 'cli', 'parley.js'))
  return dist
}

async function emit(folder: string, outDir: string, options: readonly string[]): Promise<void> {
  const errors = await compile('-p', folder, '--outDir', outDir, ...options)
  if (errors !== '') throw new Error(errors)
  for (const name of readdirSync(outDir)) {
    const file = join(outDir, name)
    const text = readFileSync(file, 'utf8')
    // The compiler rewrites the file extensions of imports in JavaScript, but not in declarations.
    const fixed = name.endsWith('.d.ts') ? text.replace(/(from ')(\.\/[\w-]+)\.ts(')/g, '$1$2.js$3') : text
    if (/['"](@parley|node:|typebox)|\.\/[\w-]+\.ts['"]/.test(fixed)) {
      throw new Error(`${name} is not self-contained: it imports a module that is not in the package.`)
    }
    writeFileSync(file, fixed)
  }
}

/** Two builds can run at the same time, while npm reads the result of one: files that are the same are not touched. */
async function replace(fresh: string, dist: string): Promise<void> {
  await withLock(
    join(sdk, '..', 'node_modules', '.building-sdk'),
    () => {},
    async () => {
      if (!isSame(fresh, dist)) {
        rmSync(dist, { recursive: true, force: true })
        cpSync(fresh, dist, { recursive: true })
      }
      // npm adds the file only from the folder of the package.
      const [license, copy] = [join(sdk, '..', 'LICENSE'), join(sdk, 'LICENSE')]
      if (!existsSync(copy) || !readFileSync(copy).equals(readFileSync(license))) cpSync(license, copy)
    },
  )
}

function isSame(fresh: string, dist: string): boolean {
  const [built, existing] = [filesIn(fresh), existsSync(dist) ? filesIn(dist) : []]
  return (
    built.join() === existing.join() &&
    built.every((name) => readFileSync(join(fresh, name)).equals(readFileSync(join(dist, name))))
  )
}

const filesIn = (folder: string): string[] =>
  (readdirSync(folder, { recursive: true }) as string[]).filter((name) => statSync(join(folder, name)).isFile()).sort()

// The compiler would take sources in node_modules for modules.
const fresh = mkdtempSync(join(tmpdir(), 'parley-sdk-'))
try {
  await replace(await build(fresh), join(sdk, 'dist'))
} finally {
  rmSync(fresh, { recursive: true, force: true })
}
