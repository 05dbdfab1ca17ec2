import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { pythonTypes, pythonTypesFile } from '../build/python-types.ts'

const sdk = join(import.meta.dirname, '..')
const python = join(sdk, 'python')

const run = (program: string, args: readonly string[], env: Record<string, string> = {}) =>
  promisify(execFile)(program, args, { cwd: join(python, 'tests'), env: { ...process.env, ...env } }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, output: String(stdout) + stderr }),
  )

test('the tests of the Python SDK pass', { timeout: 300_000 }, async ({ skip }) => {
  const recent = 'import sys; sys.exit(sys.version_info < (3, 9))'
  skip((await run('python3', ['-c', recent])).code !== 0, 'python3 (3.9 or later) is not installed')
  const env = { PYTHONPATH: join(python, 'src'), PYTHONDONTWRITEBYTECODE: '1' }
  const { code, output } = await run('python3', ['-m', 'unittest', '-v'], env)
  expect(code, output).toBe(0)
  expect(output).toMatch(/test_every_vector_has_its_result .*ok\n[\s\S]*Ran [3-9]\d tests[\s\S]*OK/)
})

test('the wheel and the source archive have the package and its types, and the wheel can be installed', async ({
  skip,
}) => {
  const recent = 'import sys; sys.exit(sys.version_info < (3, 11))'
  skip((await run('python3', ['-c', recent])).code !== 0, 'python3 (3.11 or later) is not installed')
  const [out, site] = [tempFolder(), tempFolder()]
  const { version } = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8'))
  const name = `parley_sdk-${version}`
  const built = await run('python3', [join(sdk, 'build', 'python_package.py'), out])
  expect(built).toEqual({ code: 0, output: '' })
  const [wheel = '', source = ''] = readdirSync(out).sort()
  expect([wheel, source]).toEqual([`${name}-py3-none-any.whl`, `${name}.tar.gz`])
  // A wheel is a zip that Python imports from. Its RECORD has the hash of each file, as pip checks them.
  const { code, output } = await run('python3', ['-I', '-c', readWheel, join(out, wheel)])
  expect({ code, output }).toEqual({ code: 0, output: `Parley ${version} parley-sdk ${version} >=3.9 True\n` })
  const listed = await run('tar', ['tzf', join(out, source)])
  for (const file of [
    'pyproject.toml',
    'PKG-INFO',
    'LICENSE',
    'README.md',
    'src/parley/client.py',
    'src/parley/py.typed',
  ])
    expect(listed.output.split('\n')).toContain(`${name}/${file}`)
  expect(listed.output + output).not.toMatch(/pycache|tests/)
  if ((await run('python3', ['-c', 'import pip'])).code !== 0) return
  const install = ['install', '--no-index', '--no-deps', '--disable-pip-version-check', '--target', site]
  const installed = await run('python3', ['-m', 'pip', ...install, join(out, wheel)])
  expect(installed.code, installed.output).toBe(0)
  const vectors = await run('python3', ['-m', 'unittest', 'test_vectors'], { PYTHONPATH: site })
  expect(vectors.code, vectors.output).toBe(0)
}, 120_000)

const readWheel = `
import base64, csv, hashlib, io, sys, zipfile
from importlib.metadata import PathDistribution
sys.path.insert(0, sys.argv[1])
import parley
archive = zipfile.ZipFile(sys.argv[1])
info = next(name.split('/')[0] for name in archive.namelist() if name.endswith('/METADATA'))
rows = list(csv.reader(io.StringIO(archive.read(f'{info}/RECORD').decode())))
assert {row[0] for row in rows} == set(archive.namelist()), rows
for name, digest, size in rows[:-1]:
    data = archive.read(name)
    want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
    assert (digest, size) == (f'sha256={want}', str(len(data))), name
metadata = PathDistribution(zipfile.Path(archive, f'{info}/')).metadata
typed = 'parley/py.typed' in archive.namelist()
print(parley.Parley.__name__, parley.__version__, metadata['Name'], metadata['Version'], metadata['Requires-Python'], typed)
`

test('the types of the Python SDK are those of the contract', () => {
  const isCurrent = readFileSync(pythonTypesFile, 'utf8') === pythonTypes()
  expect(isCurrent, 'sdk/python/src/parley/types.py is out of date: run npm run openapi').toBe(true)
})

test('the SDKs have the same version', () => {
  const { version } = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8'))
  expect(readFileSync(join(python, 'pyproject.toml'), 'utf8')).toContain(`\nversion = "${version}"\n`)
  expect(readFileSync(join(python, 'src', 'parley', 'version.py'), 'utf8')).toBe(`__version__ = "${version}"\n`)
})
