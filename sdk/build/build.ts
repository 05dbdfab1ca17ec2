// Compiles the SDK to JavaScript and self-contained declarations: modules in sdk/dist, CommonJS in sdk/dist/cjs. `npm pack` and
// `npm publish` in sdk/ run it.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from '../../scripts/lock.mjs'
import { declareContractTypes } from './contract-types.ts'

const sdk = join(import.meta.dirname, '..')

const commonJs = ['--module', 'commonjs', '--moduleResolution', 'bundler', '--verbatimModuleSyntax', 'false']

async function build(outDir: string): Promise<void> {
  rmSync(outDir, { recursive: true, force: true })
  const contractTypes = await declareContractTypes()
  compile(outDir, [], contractTypes)
  const cjs = join(outDir, 'cjs')
  compile(cjs, commonJs, contractTypes)
  // The package itself has the type "module".
  writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n')
}

function compile(outDir: string, options: readonly string[], contractTypes: string): void {
  mkdirSync(outDir, { recursive: true })
  const tsc = join(sdk, '..', 'node_modules', 'typescript', 'bin', 'tsc')
  execFileSync(process.execPath, [tsc, '-p', join(sdk, 'tsconfig.build.json'), '--outDir', outDir, ...options], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  writeFileSync(join(outDir, 'contract.d.ts'), contractTypes)
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

const fresh = join(sdk, '..', 'node_modules', `.sdk-${process.pid}`)
try {
  await build(fresh)
  await replace(fresh, join(sdk, 'dist'))
} finally {
  rmSync(fresh, { recursive: true, force: true })
}
