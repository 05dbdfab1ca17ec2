import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DocsBlock } from '../../scripts/docs-blocks.ts'
import { compile } from '../../sdk/build/compiler.ts'
import { declareContractTypes } from '../../sdk/build/contract-types.ts'
import { root } from '../reader.ts'

/** A folder that looks like a clone of the repository, with the files that the documents name, and a project of the reader next to it. */
export function newClone(folder: string): string {
  const clone = join(folder, 'parley')
  for (const path of ['parley', 'shop/src']) mkdirSync(join(folder, path), { recursive: true })
  for (const name of readdirSync(root)) symlinkSync(join(root, name), join(clone, name))
  writeFileSync(join(clone, 'offer.pdf'), '%PDF-1.7\n'.padEnd(183_204))
  writeFileSync(join(clone, 'receipt.jpg'), Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex'))
  const video = '000000186674797069736f6d0000020069736f6d6d703432'
  writeFileSync(join(clone, 'tour.mp4'), Buffer.from(video, 'hex'))
  writeFileSync(join(clone, 'body.json'), '{}')
  return clone
}

/**
 * What `tsc` finds in the blocks, with the SDK of this repository. As in its package, the types of the contract are written out:
 * deriving them from schemas takes most of the time.
 */
export async function typeErrorsIn(blocks: readonly DocsBlock[], clone: string): Promise<string> {
  const project = join(clone, 'typed')
  const sdk = join(project, 'sdk')
  cpSync(join(root, 'sdk/src'), sdk, { recursive: true })
  writeFileSync(join(sdk, 'contract.ts'), await declareContractTypes())
  const files = blocks.map(({ file, line, text }) => {
    const path = join(project, `${file.replaceAll('/', '-')}-${line}.ts`)
    writeFileSync(path, text)
    return path
  })
  const compilerOptions = {
    moduleDetection: 'force',
    noUnusedLocals: false,
    paths: { '@parley/sdk': [join(sdk, 'sdk.ts')], '@parley/sdk/*': [join(sdk, '*.ts')] },
    typeRoots: [join(root, 'node_modules/@types')],
  }
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions,
    files: [...files, join(root, 'e2e/docs/given.ts')],
    include: [],
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config))
  return compile('-p', project)
}
