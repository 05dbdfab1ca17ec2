// Builds the files of a release: `npm run release -- --dry-run`. Without --dry-run it also says what a person does next.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Build, builds, nextSteps, run } from './release-builds.ts'
import { findProblems, notesOf, readVersion } from './release-checks.ts'

const root = join(import.meta.dirname, '..')

const { isDryRun, folder: chosen } = readOptions()
const version = readVersion(root)

const problems = await findProblems(root, version, isDryRun)
if (problems.length > 0) fail(...problems)

// Only the folder of an earlier run is emptied: another one could be anything.
const out = chosen === undefined ? join(root, 'dist', `release-${version}`) : resolve(chosen)
if (chosen === undefined) rmSync(out, { recursive: true, force: true })
else if (existsSync(out) && readdirSync(out).length > 0) fail(`${out} is not empty. Choose another folder with --out.`)
mkdirSync(out, { recursive: true })
for (const build of builds) await make(build)
writeFileSync(join(out, 'RELEASE_NOTES.md'), notesOf(root, version) ?? '')
const files = readdirSync(out).sort()
const sums = files.map((name) => `${sha256(join(out, name))}  ${name}\n`)
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))

const folder = relative(process.cwd(), out) || '.'
console.log(`Parley ${version}: ${files.length + 1} files in ${folder}`)
for (const name of [...files, 'SHA256SUMS']) console.log(`  ${name}`)
console.log(isDryRun ? 'Dry run: nothing else is needed.' : nextSteps(folder, version))

async function make({ name, command }: Build): Promise<void> {
  const { code, output } = await run(command({ root, out, version }), root)
  if (code === 0) return
  fail(output.trim(), `${name} could not be built.`)
}

function readOptions(): { isDryRun: boolean; folder: string | undefined } {
  try {
    const { values } = parseArgs({
      options: { 'dry-run': { type: 'boolean', default: false }, out: { type: 'string' } },
    })
    return { isDryRun: values['dry-run'], folder: values.out }
  } catch (error) {
    fail((error as Error).message, 'Usage: npm run release -- [--dry-run] [--out <folder>]')
  }
}

function fail(...lines: string[]): never {
  for (const line of lines) console.error(line)
  process.exit(1)
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
