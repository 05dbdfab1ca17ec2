// Packs the compiled SDK for publishing, with its own manifest. Inside the repository, the SDK is imported as source.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from './build.ts'

const sdk = join(import.meta.dirname, '..')

/** Creates the tarball in a folder and returns its path. */
export async function pack(destination: string): Promise<string> {
  const stage = mkdtempSync(join(tmpdir(), 'parley-sdk-'))
  try {
    await build(join(stage, 'dist'))
    cpSync(join(sdk, 'README.md'), join(stage, 'README.md'))
    cpSync(join(sdk, '..', 'LICENSE'), join(stage, 'LICENSE'))
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(publishedManifest(), null, 2)}\n`)
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination]
    const [packed] = Object.values(JSON.parse(execFileSync('npm', args, { cwd: stage, encoding: 'utf8' })))
    return join(destination, (packed as { filename: string }).filename)
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

/** The manifest of the repository, overridden by its `publishConfig`. */
function publishedManifest() {
  const manifest = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8'))
  const { private: _, scripts: __, devDependencies: ___, publishConfig, ...kept } = manifest
  return { ...kept, ...publishConfig }
}

if (import.meta.main) console.log(await pack(sdk))
