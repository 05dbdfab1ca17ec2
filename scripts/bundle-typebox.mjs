// Writes TypeBox as one file to the path that is given. Runs with the bundled Node, which Vite needs.
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const file = process.argv[2]
// Other processes may be starting: they must never see half of the file.
const folder = mkdtempSync(join(dirname(file), 'typebox-'))
try {
  await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      outDir: folder,
      emptyOutDir: false,
      minify: false,
      target: 'esnext',
      lib: { entry: fileURLToPath(import.meta.resolve('typebox')), formats: ['es'], fileName: () => basename(file) },
    },
  })
  renameSync(join(folder, basename(file)), file)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
