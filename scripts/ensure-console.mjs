// `node scripts/ensure-console.mjs` builds the console, for an installation that cannot do it at its start.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { withLock } from './lock.mjs'

/** Builds the console unless the existing build is up to date. */
export async function ensureConsole(root, node) {
  const folder = join(root, 'console')
  const stamp = join(folder, 'dist', '.built-from')
  const sources = digestOf([
    join(root, 'package-lock.json'),
    fileURLToPath(import.meta.url),
    ...['index.html', 'vite.config.ts'].map((name) => join(folder, name)),
    // Without tests, which an image does not have.
    ...[join(folder, 'src'), join(root, 'contract', 'src')]
      .flatMap(filesIn)
      .filter((file) => !/\.test\.tsx?$/.test(file)),
    // The Docs page shows them.
    ...['go/verify.go', 'php/verify.php', 'ruby/verify.rb'].map((name) => join(root, 'sdk', name)),
  ])
  const isBuilt = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === sources
  if (isBuilt()) return
  const waiting = () => process.stderr.write('Another process is building the console; waiting for it…\n')
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  await withLock(join(folder, 'node_modules', '.building'), waiting, async (registerChild) => {
    if (isBuilt()) return
    process.stderr.write('Building the console…\n')
    rmSync(stamp, { force: true })
    await build(folder, node, join(root, 'node_modules', 'vite', 'bin', 'vite.js'), registerChild)
    compressAll(join(folder, 'dist', 'assets'))
    writeFileSync(stamp, sources)
  })
}

function build(folder, node, vite, registerChild) {
  const child = spawn(node, [vite, 'build', '--logLevel', 'warn'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid) registerChild(child.pid)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`The console could not be built:\n${output.trim()}`))
    })
  })
}

/** Compresses the files once, so that the service does not have to do it for every request. */
function compressAll(folder) {
  for (const file of filesIn(folder).filter((name) => /\.(js|css|svg)$/.test(name))) {
    const bytes = readFileSync(file)
    writeFileSync(`${file}.br`, brotliCompressSync(bytes))
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  }
}

function digestOf(files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(file.replace(/^.*[\\/]/, '')).update(readFileSync(file))
  return hash.digest('hex')
}

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort()
}

const here = fileURLToPath(import.meta.url)
if (here === realpathSync(process.argv[1] ?? '.')) await ensureConsole(dirname(dirname(here)), process.execPath)
