// Compiles the SDK to JavaScript and self-contained declarations in sdk/dist. `npm pack` and `npm publish` in sdk/ run it.
import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { declareContractTypes } from './contract-types.ts'

const sdk = join(import.meta.dirname, '..')

async function build(outDir: string): Promise<void> {
  rmSync(outDir, { recursive: true, force: true })
  const tsc = join(sdk, '..', 'node_modules', 'typescript', 'bin', 'tsc')
  execFileSync(process.execPath, [tsc, '-p', join(sdk, 'tsconfig.build.json'), '--outDir', outDir], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  writeFileSync(join(outDir, 'contract.d.ts'), await declareContractTypes())
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

await build(join(sdk, 'dist'))
// npm adds the file only from the folder of the package.
cpSync(join(sdk, '..', 'LICENSE'), join(sdk, 'LICENSE'))
