// Compiles @parley/testing to JavaScript and declarations in testing/dist. `npm pack` in testing/ runs it.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from '../../sdk/build/compiler.ts'
// Its declarations are those that an installed package sees.
import '../../sdk/build/build.ts'

const folder = join(import.meta.dirname, '..')
const dist = join(folder, 'dist')
rmSync(dist, { recursive: true, force: true })
const errors = await compile('-p', join(folder, 'tsconfig.build.json'))
if (errors !== '') throw new Error(errors)
for (const name of readdirSync(dist).filter((each) => each.endsWith('.d.ts'))) {
  const file = join(dist, name)
  // The compiler rewrites the file extensions of imports in JavaScript, but not in declarations.
  writeFileSync(file, readFileSync(file, 'utf8').replace(/(from ')(\.\/[\w-]+)\.ts(')/g, '$1$2.js$3'))
}
// npm adds the file only from the folder of the package.
cpSync(join(folder, '..', 'LICENSE'), join(folder, 'LICENSE'))
