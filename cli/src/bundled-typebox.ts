import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleOf } from '../../scripts/prepare.mjs'

/** Loads TypeBox from one file instead of 370, if scripts/prepare.mjs has written it. */
export function useBundledTypeBox(root: string = join(import.meta.dirname, '..', '..')): void {
  const file = bundleOf(root)
  if (!existsSync(file)) return
  const url = pathToFileURL(file).href
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'typebox' ? { url, format: 'module', shortCircuit: true } : next(specifier, context),
  })
}
