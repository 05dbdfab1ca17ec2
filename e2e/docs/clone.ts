import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
